"""Ours: the levels are the tolerances that the certificate has to meet."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from minorant import ElasticNet, LinearSVC, LogisticRegression, __version__
from minorant.certificate import Status
from minorant.estimators import NotCertified

from . import Offer, Solution

PACKAGE = "minorant"
VERSION = __version__  # also where the sources are not installed
LEVELS = (1e-3, 1e-6)


def offers(problem, shape, threads):
    return [Offer("minorant", LEVELS, problem.bias)]


def fit(name, X, y, problem, level, threads, cap):
    """`cap` bounds the time: the gap that was reached by then is proved too."""
    if problem.bias == "penalized":  # the objective of others: a column of ones
        X = sp.hstack((X, np.ones((y.size, 1))), format="csr") if sp.issparse(X) else np.c_[X, np.ones(y.size)]
    free = problem.bias == "free"
    run = {"fit_intercept": free, "tol": level, "max_iter": 10**7, "max_time": cap, "n_jobs": threads}
    if problem.loss == "squared":
        model = ElasticNet(problem.lam, l1_ratio=problem.ratio, **run)
    else:
        penalty = "l2" if problem.ratio == 0 else "l1"
        if problem.loss == "logistic":
            model = LogisticRegression(problem.C, penalty=penalty, **run)
        else:
            model = LinearSVC(problem.C, loss=problem.loss, penalty=penalty, **run)
    warnings.simplefilter("ignore", NotCertified)
    model.fit(X, y)
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]) if free else 0.0
    proof = model.certificate_
    half = 0.5 if problem.loss == "squared" else 1.0  # its certificates are of the mean square, not of half of it
    slopes = half * problem.n * proof.alpha
    claim = {
        "primal": half * proof.primal,
        "dual": half * proof.dual,
        "certified": proof.status is Status.CERTIFIED,
        "slopes": slopes,
    }
    if problem.bias == "penalized":
        w, b = w[:-1], float(w[-1])
    return Solution(w, b, slopes, claim)

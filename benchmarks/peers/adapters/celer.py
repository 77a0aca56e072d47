"""celer: lasso, elastic net, L1 logistic regression."""

from __future__ import annotations

import warnings

import celer
import numpy as np
import scipy.sparse as sp

from . import Offer, Solution, powers

PACKAGE = "celer"


def offers(problem, shape, threads):
    return [Offer("celer", powers(-1, -9), "none")] if problem.ratio > 0 and problem.bias == "none" else []


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    X = X.tocsc() if sp.issparse(X) else np.asfortranarray(X)
    run = {"tol": level, "max_iter": 1000, "max_epochs": 500_000}
    if problem.loss == "logistic":
        model = celer.LogisticRegression(C=problem.C, **run)
    elif problem.ratio == 1:
        model = celer.Lasso(problem.lam, fit_intercept=False, **run)
    else:
        model = celer.ElasticNet(problem.lam, l1_ratio=problem.ratio, fit_intercept=False, **run)
    return Solution(np.ravel(model.fit(X, y).coef_))

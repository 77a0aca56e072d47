"""Cyanure: it leaves the bias free; its squared hinge has a factor 1/2."""

from __future__ import annotations

import warnings

import numpy as np
from cyanure.estimators import Classifier, Regression

from . import Offer, Solution, powers

PACKAGE = "cyanure"
LEVELS = (0.3, *powers(-1, -8))


def offers(problem, shape, threads):
    return [] if problem.loss == "hinge" else [Offer("cyanure", LEVELS, problem.bias)]


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    lam = problem.lam / 2 if problem.loss == "squared_hinge" else problem.lam
    penalty = {0.0: "l2", 1.0: "l1"}.get(problem.ratio, "elasticnet")
    strengths = {"lambda_1": lam}
    if penalty == "elasticnet":
        strengths = {"lambda_1": lam * problem.ratio, "lambda_2": lam * (1 - problem.ratio)}
    common = {
        "penalty": penalty,
        "fit_intercept": problem.bias == "free",
        "tol": level,
        "max_iter": 100_000,
        "verbose": False,
        "n_threads": threads,
        **strengths,
    }
    if problem.loss == "squared":
        model = Regression(**common)
    else:
        model = Classifier(loss={"squared_hinge": "sqhinge"}.get(problem.loss, problem.loss), **common)
    model.fit(X, y)
    b = float(np.ravel(model.intercept_)[0]) if problem.bias == "free" else 0.0
    return Solution(np.ravel(model.coef_).astype(float), b)

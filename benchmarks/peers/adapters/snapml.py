"""snapml: it penalizes the bias."""

from __future__ import annotations

import numpy as np
import snapml

from . import Offer, Solution, powers

PACKAGE = "snapml"


def offers(problem, shape, threads):
    if problem.loss == "squared_hinge" or problem.cell.family == "enet":
        return []
    return [Offer("snapml", powers(0, -8), "penalized" if problem.bias == "free" else problem.bias)]


def fit(name, X, y, problem, level, threads, cap):
    common = {
        "tol": level,
        "max_iter": 1_000_000,
        "fit_intercept": problem.bias != "none",
        "n_jobs": threads,
        "random_state": 0,
    }
    if problem.loss == "hinge":
        model = snapml.SupportVectorMachine(regularizer=1 / problem.C, **common)
    else:
        kind = snapml.LogisticRegression if problem.loss == "logistic" else snapml.LinearRegression
        lasso = problem.ratio == 1  # only its primal method knows the L1 norm
        model = kind(regularizer=1 / problem.C, penalty="l1" if lasso else "l2", dual=not lasso, **common)
    model.fit(X, y)
    b = float(np.ravel(model.intercept_)[0]) if problem.bias != "none" else 0.0
    return Solution(np.ravel(model.coef_).astype(float), b)

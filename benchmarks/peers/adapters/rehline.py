"""ReHLine: hinge and squared hinge; a bias is a column of ones, so it is penalized."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from rehline import plqERM_Ridge

from . import Offer, Solution, powers

PACKAGE = "rehline"


def offers(problem, shape, threads):
    if problem.loss not in ("hinge", "squared_hinge"):
        return []
    return [Offer("rehline", powers(0, -8), "penalized" if problem.bias == "free" else problem.bias)]


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    if problem.bias != "none":
        X = sp.hstack((X, np.ones((y.size, 1))), format="csr") if sp.issparse(X) else np.c_[X, np.ones(y.size)]
    loss = {"hinge": "svm", "squared_hinge": "squared svm"}[problem.loss]
    model = plqERM_Ridge(loss={"name": loss}, C=problem.C, tol=level, max_iter=10**8).fit(X, y)
    w = np.ravel(model.coef_)
    slopes = np.ravel(model._Lambda) if problem.loss == "hinge" else None
    return Solution(w, 0.0, slopes) if problem.bias == "none" else Solution(w[:-1], float(w[-1]), slopes)

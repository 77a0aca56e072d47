"""skglm: L1 penalties, the dual of the hinge without a bias, and L2 logistic by L-BFGS. Compiled before it is timed."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import skglm
from skglm.datafits import Logistic
from skglm.penalties import L2
from skglm.solvers import LBFGS

from . import Offer, Solution, powers

PACKAGE = "skglm"


def offers(problem, shape, threads):
    family = problem.cell.family
    if problem.bias != "none" or family in ("squared_hinge", "ridge"):
        return []
    name = {"hinge": "skglm_svc", "logistic": "skglm_lbfgs"}.get(family, "skglm")
    return [Offer(name, powers(-1, -10), "none")]


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    if name == "skglm_svc":
        model = skglm.LinearSVC(C=problem.C, tol=level, max_iter=1000, max_epochs=100_000)
        return Solution(np.ravel(model.fit(X, y).coef_))
    X = X.tocsc() if sp.issparse(X) else np.asfortranarray(X)
    if name == "skglm_lbfgs":
        w = LBFGS(max_iter=100_000, tol=level).solve(X, y, Logistic(), L2(problem.lam))[0]
        return Solution(np.ravel(w))
    run = {"tol": level, "max_iter": 1000, "max_epochs": 100_000, "fit_intercept": False}
    if problem.loss == "logistic":
        model = skglm.SparseLogisticRegression(problem.lam, **run)
    elif problem.ratio == 1:
        model = skglm.Lasso(problem.lam, **run)
    else:
        model = skglm.ElasticNet(problem.lam, l1_ratio=problem.ratio, **run)
    return Solution(np.ravel(model.fit(X, y).coef_))

"""scikit-learn: LinearSVC, SVC, LogisticRegression, SGDClassifier, ElasticNet, Ridge."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn import linear_model, svm

from . import Offer, Solution, powers

PACKAGE = "scikit-learn"
MANY = 10**8
GRAM = 5000  # columns beyond which a p × p matrix is out of the question
PASSES = (3, 10, 30, 100, 300, 1000, 3000)


def offers(problem, shape, threads):
    bias, family = problem.bias, problem.cell.family
    other = "penalized" if bias == "free" else bias
    small = shape[1] <= GRAM
    found = {
        "hinge": [Offer("sk_svc_dual", powers(0, -7), other), Offer("sk_sgd", PASSES, bias, True)],
        "squared_hinge": [Offer("sk_svc_primal", powers(0, -7), other)],
        "logistic": [
            Offer("sk_lbfgs", powers(-2, -9), bias),
            *([Offer("sk_newton_cholesky", powers(-1, -9), bias)] if small else []),
            Offer("sk_liblinear", powers(-1, -7), other),
            Offer("sk_saga", PASSES, bias, True),
        ],
        "l1_logistic": [Offer("sk_liblinear", powers(-1, -8), other), Offer("sk_saga", PASSES, bias, True)],
        "lasso": [Offer("sk_cd", powers(-1, -9), bias)],
        "enet": [Offer("sk_cd", powers(-1, -9), bias)],
        "ridge": [
            *([Offer("sk_ridge_cholesky", (0.0,), bias)] if small else []),
            Offer("sk_ridge_cg", powers(-2, -9), bias),
        ],
    }[family]
    if family == "hinge" and bias == "free":  # LIBSVM: the one dual method that leaves the bias free
        found.append(Offer("sk_libsvm", powers(-1, -7), bias))
    return found


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    return {"ridge": _ridge, "lasso": _net, "enet": _net}.get(problem.cell.family, _classifier)(
        name, X, y, problem, level
    )


def _classifier(name, X, y, problem, level):
    C, intercept, ratio = problem.C, problem.bias != "none", problem.ratio
    if name == "sk_svc_dual":
        model = svm.LinearSVC(loss="hinge", C=C, fit_intercept=intercept, tol=level, max_iter=MANY, random_state=0)
    elif name == "sk_svc_primal":
        model = svm.LinearSVC(dual=False, C=C, fit_intercept=intercept, tol=level, max_iter=MANY)
    elif name == "sk_libsvm":
        model = svm.SVC(kernel="linear", C=C, tol=level, cache_size=1000)
    elif name == "sk_sgd":
        model = linear_model.SGDClassifier(
            alpha=problem.lam, fit_intercept=intercept, tol=None, max_iter=int(level), average=True, random_state=0
        )
    else:
        solver = name.removeprefix("sk_").replace("_", "-")
        tol, passes = (1e-14, int(level)) if solver == "saga" else (level, 10**6)
        model = linear_model.LogisticRegression(
            C=C, l1_ratio=ratio, solver=solver, fit_intercept=intercept, tol=tol, max_iter=passes, random_state=0
        )
    model.fit(X, y)
    w = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    slopes = None
    if name == "sk_libsvm":
        slopes = np.zeros(y.size)
        dual = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
        slopes[model.support_] = np.abs(dual.ravel()) / C
    return Solution(np.ravel(w), float(np.ravel(model.intercept_)[0]) if intercept else 0.0, slopes)


def _net(name, X, y, problem, level):
    if sp.issparse(X):
        X = X.tocsc()
    model = linear_model.ElasticNet(
        alpha=problem.lam, l1_ratio=problem.ratio, fit_intercept=False, tol=level, max_iter=MANY
    )
    return Solution(model.fit(X, y).coef_)


def _ridge(name, X, y, problem, level):
    solver = "cholesky" if name == "sk_ridge_cholesky" else "sparse_cg"
    if solver == "cholesky" and sp.issparse(X):
        X = X.toarray()  # with an intercept it takes no sparse matrix
    model = linear_model.Ridge(
        alpha=problem.lam * problem.n, fit_intercept=problem.bias == "free", solver=solver, tol=level or 1e-4
    ).fit(X, y)
    return Solution(np.ravel(model.coef_), float(model.intercept_))

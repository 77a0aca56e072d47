"""glmnet (the Fortran of python-glmnet): a path of two strengths, the second being the one that is asked for.

For targets it works with y / s, s² = mean y²: its L2 part is then weaker by the factor s, which is made up for here.
"""

from __future__ import annotations

import warnings

import glmnet
import numpy as np
import scipy.sparse as sp

from . import Offer, Solution, powers

PACKAGE = "python-glmnet"


def offers(problem, shape, threads):
    return [Offer("glmnet", powers(-3, -12), "none")] if problem.ratio > 0 and problem.bias == "none" else []


def fit(name, X, y, problem, level, threads, cap):
    warnings.simplefilter("ignore")
    X = X.tocsc() if sp.issparse(X) else np.asfortranarray(X)
    first = problem.lam * problem.ratio
    second = problem.lam * (1 - problem.ratio)
    if problem.loss == "squared":
        second *= float(np.sqrt(np.mean(y * y)))
    lam = first + second
    kind = glmnet.LogitNet if problem.loss == "logistic" else glmnet.ElasticNet
    model = kind(
        alpha=first / lam,
        lambda_path=np.array([10 * lam, lam]),
        standardize=False,
        fit_intercept=False,
        n_splits=0,
        tol=level,
        max_iter=10**7,
    ).fit(X, y)
    return Solution(np.ravel(model.coef_path_[..., -1]).astype(float))

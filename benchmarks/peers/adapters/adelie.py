"""adelie: lasso, elastic net, L1 logistic regression on dense or sparse columns, at one strength."""

from __future__ import annotations

import adelie as ad
import numpy as np
import scipy.sparse as sp

from . import Offer, Solution, powers

PACKAGE = "adelie"


def offers(problem, shape, threads):
    return [Offer("adelie", powers(-4, -13), "none")] if problem.ratio > 0 and problem.bias == "none" else []


def fit(name, X, y, problem, level, threads, cap):
    X = ad.matrix.sparse(X.tocsc(), method="naive", n_threads=threads) if sp.issparse(X) else np.asfortranarray(X)
    logistic = problem.loss == "logistic"
    state = ad.grpnet(
        X,
        ad.glm.binomial(np.where(y > 0, 1.0, 0.0)) if logistic else ad.glm.gaussian(y),
        alpha=problem.ratio,
        lmda_path=np.array([problem.lam]),
        tol=level,
        irls_tol=level,
        max_iters=10**7,
        intercept=False,
        early_exit=False,
        n_threads=threads,
        progress_bar=False,
    )
    return Solution(np.ravel(state.betas[-1].toarray()))

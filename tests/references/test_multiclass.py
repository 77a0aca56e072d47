"""Losses of several scores per example, and of the worst example, against Clarabel, L-BFGS and
scikit-learn.

For the optimum J* of the reference:  dual ≤ J* ≤ primal,  primal - J* ≤ gap,  gap ≤ tol·primal.
"""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from minorant import Problem, Status, certify, solve
from minorant.geometry import Entropy as EntropyGeometry
from minorant.losses import CrammerSinger, Maximum, MultinomialLogistic
from minorant.regularizers import L2, Entropy

TOL = 1e-5
BATCHES, SIZE = 10, 10
SETTINGS = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
SOLVERS = ["auto", "agm-1", "agm-inf"]


def draw(seed):
    """A problem of its own for each seed: size, density, scale, noise, balance, weights and λ are all drawn."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    n, p = int(rng.integers(k, 41)), int(rng.integers(1, 7))
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    X = rng.standard_normal((n, p)) + rng.choice([0.0, 0.5, 2.0]) * rng.standard_normal((k, p))[y]
    X = X + rng.choice([0.0, 1.0])
    if seed % 2:
        X = sp.csr_matrix(X * (rng.random((n, p)) < 0.6))
    weight = None if seed % 3 else rng.uniform(0.0, 3.0, n) * (rng.random(n) < 0.9) + 1e-3
    return SimpleNamespace(
        X=X, y=y, k=k, weight=weight, bias=bool((seed // 2) % 2), lam=float(10 ** rng.uniform(-2, 0)), seed=seed
    )


def interior_point(d, c, loss, **settings):
    """min (λ/2)‖W‖² + Σ c_i loss_i(X W + b), as CVXPY states it; `loss` maps scores to the vector of losses."""
    W, b = cp.Variable((d.X.shape[1], d.k)), cp.Variable((1, d.k))
    scores = d.X @ W + (np.ones((d.y.size, 1)) @ b if d.bias else 0.0)
    own = cp.sum(cp.multiply(np.eye(d.k)[d.y], scores), axis=1)
    J = 0.5 * d.lam * cp.sum_squares(W) + c @ (loss(scores) - own)
    pinned = [cp.sum(b) == 0]  # the losses do not see a constant
    return cp.Problem(cp.Minimize(J), pinned).solve(solver=cp.CLARABEL, **settings)


def quasi_newton(d, c):
    """The same minimum for the multinomial loss by L-BFGS, to 1e-12: no cone is as exact."""
    X, E, p = (d.X.toarray() if sp.issparse(d.X) else d.X), np.eye(d.k)[d.y], d.X.shape[1]

    def function(v):
        V = v.reshape(-1, d.k)
        scores = np.einsum("ij,jy->iy", X, V[:p]) + V[p:].sum(axis=0)
        top = scores.max(axis=1)
        P = np.exp(scores - top[:, None])
        total = P.sum(axis=1)
        residual = c[:, None] * (P / total[:, None] - E)
        bias = [residual.sum(axis=0)] if d.bias else []
        value = 0.5 * d.lam * (V[:p] ** 2).sum() + c @ (top + np.log(total) - (scores * E).sum(axis=1))
        slope = np.einsum("ij,iy->jy", X, residual) + d.lam * V[:p]
        return value, np.concatenate([slope.ravel(), *bias])

    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-7}
    return minimize(function, np.zeros((p + d.bias) * d.k), jac=True, method="L-BFGS-B", options=options).fun


def check(problem, result, optimum, case):
    """What the certificate claims is true, whether or not the run came within tol; and it can be had again."""
    c = result.certificate
    assert c.dual - 1e-8 <= optimum <= c.primal + 1e-8, case
    assert c.primal - optimum <= c.gap + 1e-8, case
    again = certify(problem, result.w, c.alpha)
    assert again.primal == pytest.approx(c.primal, rel=1e-10, abs=1e-12), case
    assert again.dual == pytest.approx(c.dual, rel=1e-8, abs=1e-10), case


def certified(problem, seed, optimum):
    """The default scheme comes within tol; the dual ones tell the truth as far as they get."""
    result = solve(problem, tol=TOL, solver=SOLVERS[seed % 3])
    check(problem, result, optimum, f"seed {seed}")
    assert result.certificate.status is Status.CERTIFIED, f"seed {seed}"
    assert result.certificate.primal - optimum <= TOL * abs(result.certificate.primal) + 1e-8, f"seed {seed}"
    other = solve(problem, tol=TOL, smoothing=("dual", "none")[seed % 2], solver=SOLVERS[seed % 3], max_iter=40)
    check(problem, other, optimum, f"seed {seed}, dual")
    return result


@pytest.mark.parametrize("batch", range(BATCHES))
def test_multinomial(batch):
    for seed in range(batch * SIZE, (batch + 1) * SIZE):
        d = draw(seed)
        loss = MultinomialLogistic(d.y, d.k, sample_weight=d.weight, bias=d.bias)
        optimum = quasi_newton(d, loss.c)
        problem = Problem(loss, d.X, L2(d.lam))
        result = certified(problem, seed, optimum)
        scores = d.X @ result.w.reshape(-1, d.k) + result.intercept
        by_hand = loss.c @ (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(d.y.size), d.y])
        by_hand += 0.5 * d.lam * (result.w**2).sum()
        assert by_hand == pytest.approx(result.certificate.primal, rel=1e-10), f"seed {seed}"


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 6, 9])
def test_the_multinomial_reference_is_the_model(seed):
    d = draw(seed)
    c = MultinomialLogistic(d.y, d.k, sample_weight=d.weight, bias=d.bias).c
    value = interior_point(d, c, lambda scores: cp.log_sum_exp(scores, axis=1))
    assert quasi_newton(d, c) == pytest.approx(value, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_multinomial_is_that_of_scikit_learn(bias, weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60)
    X = rng.standard_normal((60, 5)) + rng.standard_normal((4, 5))[y]
    weight, C = (rng.uniform(0.1, 3.0, 60) if weighted else np.ones(60)), 0.5
    loss = MultinomialLogistic(y, sample_weight=weight, bias=bias)
    result = solve(Problem(loss, X, L2(1.0 / (C * weight.sum()))), tol=1e-13)
    assert result.certificate.relative_gap <= 1e-12
    peer = LogisticRegression(C=C, fit_intercept=bias, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(result.w.reshape(5, 4).T, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(
        np.broadcast_to(result.intercept, 4), peer.intercept_ - peer.intercept_.mean(), atol=1e-6
    )


@pytest.mark.parametrize("batch", range(BATCHES))
def test_crammer_singer(batch):
    for seed in range(batch * SIZE, (batch + 1) * SIZE):
        d = draw(seed)
        smoothing = "euclidean" if d.bias else ("entropy", "euclidean")[(seed // 4) % 2]
        loss = CrammerSinger(d.y, d.k, sample_weight=d.weight, smoothing=smoothing, bias=d.bias)
        delta = 1.0 - np.eye(d.k)[d.y]
        optimum = interior_point(d, loss.c, lambda scores, delta=delta: cp.max(scores + delta, axis=1), **SETTINGS)
        result = certified(Problem(loss, d.X, L2(d.lam)), seed, optimum)
        scores = d.X @ result.w.reshape(-1, d.k) + result.intercept
        by_hand = loss.c @ ((scores + delta).max(axis=1) - scores[np.arange(d.y.size), d.y])
        by_hand += 0.5 * d.lam * (result.w**2).sum()
        assert by_hand == pytest.approx(result.certificate.primal, rel=1e-10), f"seed {seed}"
        assert d.bias or result.intercept == 0.0


def boosting(seed):
    """Negative margins of weak learners, most of them right; λ KL(w ‖ prior) on the simplex."""
    rng = np.random.default_rng(1000 + seed)
    n, p = int(rng.integers(2, 41)), int(rng.integers(2, 7))
    A = rng.uniform(-1.0, 0.7, (n, p)) if seed % 2 else rng.choice([-1.0, 1.0], (n, p), p=[0.8, 0.2])
    prior = rng.dirichlet(np.full(p, 3.0)) if seed % 3 else None
    return A, float(10 ** rng.uniform(-1, 0)), prior


def boosted(A, lam, prior):
    """min over the simplex of max(A w) + λ KL(w ‖ prior), by the maximum of its dual: no w is near the edge there."""
    log_prior = np.full(A.shape[1], -np.log(A.shape[1])) if prior is None else np.log(prior)
    alpha = cp.Variable(A.shape[0], nonneg=True)
    D = -lam * cp.log_sum_exp(log_prior - A.T @ alpha / lam)
    return cp.Problem(cp.Maximize(D), [cp.sum(alpha) == 1]).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_lpboost(batch):
    for seed in range(batch * SIZE, (batch + 1) * SIZE):
        A, lam, prior = boosting(seed)
        problem = Problem(Maximum(A.shape[0]), A, Entropy(lam, prior), geometry=EntropyGeometry())
        assert problem.norm == pytest.approx(np.abs(A).max(), rel=1e-15)
        certified(problem, seed, boosted(A, lam, prior))


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_the_lpboost_reference_is_the_model(seed):
    A, lam, prior = boosting(seed)
    w = cp.Variable(A.shape[1])
    q = np.full(A.shape[1], 1.0 / A.shape[1]) if prior is None else prior
    J = cp.max(A @ w) + lam * cp.sum(cp.rel_entr(w, q))
    value = cp.Problem(cp.Minimize(J), [cp.sum(w) == 1]).solve(solver=cp.CLARABEL)
    assert boosted(A, lam, prior) == pytest.approx(value, rel=1e-6, abs=1e-8)

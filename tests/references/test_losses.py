"""Each loss with L2 on 100 drawn problems against Clarabel, which gets the definition of the loss and nothing else.

For its optimum J*:  dual ≤ J* ≤ primal,  primal - J* ≤ gap,  gap ≤ tol·primal.
"""

from __future__ import annotations

import warnings
from functools import partial
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from minorant import Problem, Status, solve
from minorant.losses import (
    EpsilonInsensitive,
    Huber,
    Logistic,
    Quantile,
    SmoothHinge,
    Squared,
    SquaredHinge,
)
from minorant.regularizers import L2

TOL = 1e-6
COUNT = 100
SOLVERS = ["agm-inf", "agm-1"]
GAMMA, EPS, Q, DELTA = 0.4, 0.3, 0.3, 0.8


def margin(y, scores):
    return 1 - cp.multiply(y, scores)


# The loss, whether y are labels, and the definition for CVXPY.
LOSSES = {
    "Logistic": (Logistic, True, lambda y, f: cp.logistic(-cp.multiply(y, f))),
    "Squared": (Squared, False, lambda y, f: cp.square(f - y)),
    "SquaredHinge": (SquaredHinge, True, lambda y, f: cp.square(cp.pos(margin(y, f)))),
    # huber(x, M) is x² up to M and 2M|x| - M² from there on
    "SmoothHinge": (
        partial(SmoothHinge, gamma=GAMMA),
        True,
        lambda y, f: cp.huber(cp.pos(margin(y, f)), GAMMA) / (2 * GAMMA),
    ),
    "EpsilonInsensitive": (partial(EpsilonInsensitive, eps=EPS), False, lambda y, f: cp.pos(cp.abs(f - y) - EPS)),
    "Quantile": (partial(Quantile, q=Q), False, lambda y, f: Q * cp.pos(y - f) + (1 - Q) * cp.pos(f - y)),
    "Huber": (partial(Huber, delta=DELTA), False, lambda y, f: cp.huber(f - y, DELTA) / 2),
}


def draw(seed, labels):
    """Size, scale, noise, weights, bias and λ are drawn; a weight may be 0."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, p)) + rng.choice([0.0, 1.0])
    scores = X @ rng.standard_normal(p) + rng.standard_normal() + rng.choice([0.1, 1.0]) * rng.standard_normal(n)
    y = np.where(scores > np.median(scores), 1.0, -1.0) if labels else scores
    weight = None
    if seed % 3 == 0:
        weight = rng.uniform(0.1, 3.0, n)
        weight[int(rng.integers(n))] *= 0.0 if n > 5 else 1.0
    return SimpleNamespace(X=X, y=y, weight=weight, bias=bool((seed // 2) % 2), lam=float(10 ** rng.uniform(-2, 0)))


def reference(d, c, phi):
    w, b = cp.Variable(d.X.shape[1]), cp.Variable()
    J = 0.5 * d.lam * cp.sum_squares(w) + c @ phi(d.y, d.X @ w + (b if d.bias else 0.0))
    with warnings.catch_warnings():
        # Where 1e-10 is out of reach Clarabel says so; what it did reach is well within the 1e-8 allowed below.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return cp.Problem(cp.Minimize(J)).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )


def check(d, loss, result, optimum, phi, case):
    c = result.certificate
    assert c.primal - optimum <= c.gap + 1e-8, case
    assert c.dual <= optimum + 1e-8, case
    assert c.primal >= optimum - 1e-8, case
    by_hand = 0.5 * d.lam * float(result.w @ result.w) + loss.c @ phi(d.y, d.X @ result.w + result.intercept).value
    assert by_hand == pytest.approx(c.primal, rel=1e-9, abs=1e-11), case


@pytest.mark.parametrize("start", range(0, COUNT, 20))
@pytest.mark.parametrize("name", LOSSES)
def test_certificate(name, start):
    """Solved to tol by the default scheme; the others tell the truth as far as they get."""
    make, labels, phi = LOSSES[name]
    for seed in range(start, start + 20):
        d = draw(seed, labels)
        loss = make(d.y, sample_weight=d.weight, bias=d.bias)
        problem = Problem(loss, d.X, L2(d.lam))
        optimum = reference(d, loss.c, phi)
        case = f"{name}, seed {seed}"
        result = solve(problem, tol=TOL, solver=SOLVERS[seed % 2])
        check(d, loss, result, optimum, phi, case)
        assert result.certificate.status is Status.CERTIFIED, case
        assert result.certificate.primal - optimum <= TOL * result.certificate.primal + 1e-8, case
        other = ("dual", "none")[(seed // 2) % 2]
        result = solve(problem, tol=TOL, smoothing=other, solver=SOLVERS[seed % 2], max_iter=50)
        check(d, loss, result, optimum, phi, f"{case}, {other}")


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_weights_are_repetitions(name, bias):
    make, labels, _ = LOSSES[name]
    d = draw(1, labels)
    times = np.random.default_rng(0).integers(0, 4, d.y.size)
    times[:4] = 2
    u = np.random.default_rng(1).standard_normal(d.y.size)
    weighted = make(d.y, sample_weight=times, bias=bias)
    repeated = make(np.repeat(d.y, times), bias=bias)
    assert weighted.value(u) == pytest.approx(repeated.value(np.repeat(u, times)), rel=1e-12)
    assert weighted.intercept(u) == pytest.approx(repeated.intercept(np.repeat(u, times)), rel=1e-9, abs=1e-12)
    few, many = weighted.smoothed(u, 0.3), repeated.smoothed(np.repeat(u, times), 0.3)
    assert few.value == pytest.approx(many.value, rel=1e-12)
    each = np.divide(few.alpha, times, out=np.zeros_like(few.alpha), where=times > 0)
    assert np.allclose(np.repeat(each, times), many.alpha, rtol=0, atol=1e-13)
    assert weighted.conjugate(few.alpha) == pytest.approx(repeated.conjugate(many.alpha), rel=1e-11)

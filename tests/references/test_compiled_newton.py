"""The compiled loop of Newton's method takes the steps of the one in Python, which is the method as it reads."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import Problem
from minorant.driver import _start
from minorant.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Quantile, SquaredHinge
from minorant.regularizers import L2
from minorant.solvers import newton as module
from minorant.solvers.examples import Examples

STEPS = 6
LOSSES = {
    "hinge": Hinge,
    "squared hinge": SquaredHinge,
    "huber": lambda y, **more: Huber(y, delta=0.8, **more),
    "logistic": Logistic,
    "tube": lambda y, **more: EpsilonInsensitive(y, eps=0.2, **more),
    "quantile": lambda y, **more: Quantile(y, q=0.3, **more),
}


def draw(name, shape, *, sparse, bias, seed=0, lam=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.6)
    y = X @ rng.standard_normal(shape[1]) + rng.standard_normal(shape[0])
    if name not in ("tube", "quantile", "huber"):
        y = np.where(y > 0, 1.0, -1.0)
    weight = rng.exponential(size=shape[0]) * (rng.random(shape[0]) < 0.9)
    return Problem(LOSSES[name](y, sample_weight=weight, bias=bias), csr_array(X) if sparse else X, L2(lam))


def points(steps, count):
    """w, α and mu of the first steps."""
    return [(c.primal[0][0].copy(), c.dual[0][0].copy(), mu) for c, mu in islice(steps, count)]


@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("iterations", [0.0, 1e9], ids=["conjugate gradients", "direct"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_same_steps(monkeypatch, name, shape, sparse, bias, iterations):
    monkeypatch.setattr(module, "_BUDGET", 0.0)  # one step at a time
    monkeypatch.setattr(module, "ITERATIONS", iterations)  # what conjugate gradients are believed to take
    problem = draw(name, shape, sparse=sparse, bias=bias)
    best, e = _start(problem, None), Examples.of(problem)
    slow = points(module.step_by_step(e, best), STEPS)
    fast = points(module.newton(e, best, 0.0), STEPS)  # within a tol the slopes ahead may be returned
    for (w, alpha, mu), (w_fast, alpha_fast, mu_fast) in zip(slow, fast, strict=True):
        assert mu_fast == pytest.approx(mu, rel=1e-12)
        np.testing.assert_allclose(w_fast, w, rtol=1e-6, atol=1e-8)  # conjugate gradients magnify rounding
        np.testing.assert_allclose(alpha_fast, alpha, rtol=1e-5, atol=1e-8)


def test_many_steps_at_a_time_end_within_the_target():
    problem = draw("hinge", (200, 10), sparse=False, bias=True)
    best, e = _start(problem, None), Examples.of(problem)
    rounds = 0
    for candidates, _ in module.newton(e, best, 1e-8):
        best.offer(candidates)
        rounds += 1
        if best.relative_gap <= 1e-8 or rounds == 4:
            break
    assert best.relative_gap <= 1e-8
    assert problem.A.products > 10 * rounds  # the products of all steps are counted


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_slopes_ahead_prove_a_step_earlier(monkeypatch, sparse, bias):
    """The slopes that a step leads to, and not those of the point where it ends: see `cpp/slopes_ahead.hpp`."""
    monkeypatch.setattr(module, "_BUDGET", 1e12)
    spared = 0
    for tol in 10.0 ** np.arange(-8, -1):
        problem = draw("logistic", (900, 12), sparse=sparse, bias=bias, lam=1e-4)
        e, plain = Examples.of(problem), _start(problem, None)
        steps, looks = 0, module.step_by_step(e, plain)
        while plain.relative_gap > tol:
            plain.offer(next(looks)[0])
            steps += 1
        best, before = _start(problem, None), problem.A.products
        best.offer(next(module.newton(e, best, tol))[0])
        assert best.relative_gap <= tol
        spared += problem.A.products - before < 2 * steps + 2  # one to begin with, two for each step, A w at the end
    assert spared > 2


# with corners and a bias, `step_by_step` brings the bias to its best at each look, which the core has but one of
@pytest.mark.parametrize(
    ("name", "bias"), [("hinge", False), ("squared hinge", False), ("squared hinge", True), ("tube", False)]
)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_steps_in_one_call(monkeypatch, name, sparse, bias):
    """There, sums over the examples with curvature go from one step to the next (`cpp/kept_gram.hpp`)."""
    rules = module.rules
    monkeypatch.setattr(module, "_BUDGET", 1e12)
    monkeypatch.setattr(module, "rules", lambda unit: (*rules(unit)[:-1], STEPS))
    problem = draw(name, (900, 12), sparse=sparse, bias=bias)
    best, e = _start(problem, None), Examples.of(problem)
    w, alpha, mu = points(module.step_by_step(e, best), STEPS)[-1]
    ((w_fast, alpha_fast, mu_fast),) = points(module.newton(e, best, 0.0), 1)
    assert mu_fast == pytest.approx(mu, rel=1e-12)
    np.testing.assert_allclose(w_fast, w, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(alpha_fast, alpha, rtol=1e-6, atol=1e-10)

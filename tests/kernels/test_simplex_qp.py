"""The quadratic program of a bundle: optimality conditions, the twins, cuts that repeat each other."""

import numpy as np
import pytest

from minorant import _core
from minorant.kernels import _numpy
from minorant.solvers import simplex_qp
from minorant.solvers.simplex_qp import maximize

TWINS = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])


def draw(rng, free):
    m, p = int(rng.integers(2, 40)), int(rng.integers(1, 30))
    V = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-3, 3)
    if rng.random() < 0.3:  # the same cut again
        V[m // 2 :] = V[: m - m // 2]
    d, t = rng.random(m), rng.normal(size=m)
    t[:2] = -1.0, 1.0
    A = np.stack([np.ones(m), t]) if free else np.ones((1, m))
    start = np.zeros(m)
    start[:2] = 0.5
    return V @ V.T, d, A, np.array([1.0, 0.0])[: len(A)], start


@TWINS
def test_cuts_without_a_slope(kernels, monkeypatch):
    """Q = 0: the equations alone decide, and rounding must not end the search for them."""
    monkeypatch.setattr(simplex_qp, "_core", kernels)
    beta, nu = maximize(np.zeros((1, 1)), np.ones(1), np.ones((1, 1)), np.ones(1), np.ones(1))
    np.testing.assert_allclose([*beta, *nu], [1.0, 1.0])
    for slope in (0.4, 0.3, 0.7):
        A, start = np.array([[1.0, 1.0], [-1.2, slope]]), np.array([slope, 1.2]) / (slope + 1.2)
        beta, nu = maximize(np.zeros((2, 2)), np.ones(2), A, np.array([1.0, 0.0]), start)
        np.testing.assert_allclose([*beta, *nu], [*start, 1.0, 0.0], atol=1e-12)


@TWINS
@pytest.mark.parametrize("free", [False, True])
def test_optimality(kernels, free, monkeypatch):
    monkeypatch.setattr(simplex_qp, "_core", kernels)
    rng = np.random.default_rng(0)
    for _ in range(200):
        Q, d, A, r, start = draw(rng, free)
        beta, nu = maximize(Q, d, A, r, start)
        scale = max(np.abs(Q).max(), 1.0)
        assert beta.min() >= 0
        np.testing.assert_allclose(A @ beta, r, atol=1e-11)
        excess = d - Q @ beta - A.T @ nu
        assert excess.max() <= 1e-8 * scale
        assert abs(beta @ excess) <= 1e-8 * scale


def test_the_twins_agree(monkeypatch):
    rng = np.random.default_rng(1)
    for _ in range(200):
        Q, d, A, r, start = draw(rng, True)
        values = []
        for kernels in (_core, _numpy):
            monkeypatch.setattr(simplex_qp, "_core", kernels)
            beta, _ = maximize(Q, d, A, r, start)
            values.append(d @ beta - 0.5 * beta @ Q @ beta)
        assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-9)


def test_a_start_that_is_optimal_stays():
    beta, nu = maximize(np.eye(2), np.array([0.5, 0.5]), np.ones((1, 2)), np.ones(1), np.array([0.5, 0.5]))
    np.testing.assert_allclose(beta, [0.5, 0.5], atol=1e-15)
    assert nu == pytest.approx(0.0, abs=1e-12)

"""Arithmetic of minorants and points: values of sums and multiples, the minimizer, images kept by combinations."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import Problem
from minorant.geometry import Entropy, Euclidean
from minorant.losses import Hinge
from minorant.minorants import divergence_from
from minorant.regularizers import L2
from minorant.regularizers import Entropy as KL
from minorant.solvers import AgmInf
from minorant.views import DualView, PrimalView


@pytest.fixture(params=["euclidean", "entropy", "dual"])
def view(request):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 4)), np.array([1.0, -1, 1] * 4)
    if request.param == "entropy":
        return PrimalView(Problem(Hinge(y), X, KL(0.3), geometry=Entropy()), 0.2)
    problem = Problem(Hinge(y, bias=False), X, L2(0.3), geometry=Euclidean())
    return DualView(problem, 0.1) if request.param == "dual" else PrimalView(problem, 0.2)


def points(view, count, seed=1):
    rng = np.random.default_rng(seed)
    if isinstance(view, DualView):
        return [view.problem.loss.c * rng.random(12) for _ in range(count)]
    if isinstance(view.geometry, Entropy):
        return list(rng.dirichlet(np.ones(4), count))
    return list(rng.standard_normal((count, 4)))


def test_values_are_linear(view):
    a, b, c = (view.point(x) for x in points(view, 3))
    first, second = view.lower(a)[0], divergence_from(view, b)
    for x in points(view, 10, seed=2):
        combined = 0.3 * first + 2.5 * second
        assert combined(x) == pytest.approx(0.3 * first(x) + 2.5 * second(x), rel=1e-13)
        assert (first + second)(x) == pytest.approx(first(x) + second(x), rel=1e-13)
    third = view.lower(c)[0]
    assert np.array_equal((0.25 * first + 0.75 * third).witness, 0.25 * first.witness + 0.75 * third.witness)


def test_linearization_lies_below_and_touches(view):
    for u in points(view, 5):
        m, at_u = view.lower(view.point(u))
        for x in points(view, 20, seed=3):
            J = view.oracle(view.point(x).image).value + view.psi.value(x)
            assert m(x) <= J + 1e-13 * (1 + abs(J))
        J = at_u.value + view.psi.value(u)
        assert m(u) == pytest.approx(J, rel=1e-13)


def test_linearization_has_the_slope_of_f(view):
    rng, h = np.random.default_rng(4), 1e-6
    for u in points(view, 5):
        m, _ = view.lower(view.point(u))
        e = rng.standard_normal(u.size)
        f = [view.oracle(view.point(u + s * h * e).image).value for s in (-1, 1)]
        assert (f[1] - f[0]) / (2 * h) == pytest.approx(float(m.s @ e), abs=1e-5)


def test_divergence_of_f(view):
    """f(x) - f(u) - ⟨∇f(u), x - u⟩ from the values."""
    for u, x in zip(points(view, 8), points(view, 8, seed=5), strict=True):
        P, Q = view.point(x), view.point(u)
        m, at_u = view.lower(Q)
        direct = view.oracle(P.image).value - at_u.value - float(m.s @ (x - u))
        assert view.divergence(P, Q, at_u) == pytest.approx(direct, abs=1e-13)


def test_minimize(view):
    """By the strong convexity c + ω λ₂ better than every other point; the image of the minimizer is its image."""
    u, y = (view.point(x) for x in points(view, 2, seed=6))
    for t in (0.1, 3.0):
        m = t * divergence_from(view, y) + view.lower(u)[0]
        best = m.minimize()
        assert np.allclose(best.image, view.point(best.x).image, rtol=0, atol=1e-14)
        for x in points(view, 20, seed=7):
            margin = (t + view.lam2) * view.geometry.divergence(x, best.x, best.mirror)
            assert m(x) >= m(best.x) + margin - 1e-12 * (1 + abs(m(x)))


def test_points_keep_their_images(view):
    a, b = (view.point(x) for x in points(view, 2, seed=8))
    for point in (a + b, a - b, 0.3 * a, a + 0.7 * (b - a)):
        assert np.allclose(point.image, view.point(point.x).image, rtol=1e-13, atol=1e-14)
        assert point.mirror is None  # ∇d is not linear


def test_weight_of_psi_stays_exactly_one(view):
    """(1 - θ) + θ rounds to 1 for every θ: the average of linearizations keeps Ψ, to the bit."""
    rng = np.random.default_rng(9)
    theta = np.concatenate([rng.random(100_000), 10.0 ** rng.uniform(-20, 0, 100_000)])
    assert ((1 - theta) * 1.0 + theta * 1.0 == 1.0).all()
    state = AgmInf().init(view, view.point(view.start()))
    for _ in range(200):
        state = AgmInf().step(view, state)
        assert state.minorant.omega == 1.0


def test_images_do_not_drift(view):
    state = AgmInf().init(view, view.point(view.start()))
    for _ in range(2000):
        state = AgmInf().step(view, state)
    for point in (state.x, state.u):
        exact = view.point(point.x).image
        assert np.abs(point.image - exact).max() <= 1e-13 * (1 + np.abs(exact).max())

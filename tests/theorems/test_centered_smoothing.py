"""Smoothing centered at any dual point: g*_{mu, a}(u) = max over Q of ⟨u, α⟩ - g(α) - mu Δ(α, a).

The sandwich g* - mu max Δ(·, a) ≤ g*_{mu, a} ≤ g* holds for every center a, and at a dual solution the minimum of the
smoothed objective is the minimum of J itself: that is why moving the center closes the gap at a fixed mu.
"""

import numpy as np
import pytest

from minorant import Problem, Status, solve
from minorant.kernels import project_box_plane
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.solvers import AgmInf
from minorant.views import PrimalView


@pytest.fixture(params=range(6))
def problem(request):
    rng = np.random.default_rng(request.param)
    n, p = 40, 5
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    weight = rng.integers(0, 4, size=n) if request.param % 2 else None
    return Problem(Hinge(y, sample_weight=weight, bias=request.param % 3 > 0), X, L2(0.1))


def random_dual_point(problem, rng):
    loss = problem.loss
    return loss.project(rng.random(loss.size) * loss.c)


def test_value_and_maximizer_are_those_of_the_definition(problem):
    rng = np.random.default_rng(0)
    loss, mu = problem.loss, 0.3
    for _ in range(20):
        center, u = random_dual_point(problem, rng), rng.normal(size=loss.size)
        at = PrimalView(problem, mu, center).oracle(u)

        def objective(alpha, center=center, u=u):
            return alpha @ u - loss.conjugate(alpha) - mu * loss.geometry.divergence(alpha, center)

        assert at.value == pytest.approx(objective(at.alpha), abs=1e-12)
        used = loss.c > 0
        if loss.bias:
            target = (center + loss.c * (1 + u) / mu)[used]
            best = project_box_plane(target, 0.0, loss.c[used], loss.y[used], weights=1 / loss.c[used]).x
        else:
            best = np.clip(center + loss.c * (1 + u) / mu, 0, loss.c)[used]
        np.testing.assert_allclose(at.alpha[used], best, atol=1e-12)
        for _ in range(20):
            assert objective(random_dual_point(problem, rng)) <= at.value + 1e-12


def test_sandwich_at_any_center(problem):
    rng = np.random.default_rng(1)
    loss, mu = problem.loss, 0.3
    for _ in range(50):
        center, u = random_dual_point(problem, rng), 2 * rng.normal(size=loss.size)
        exact, smoothed = loss.value(u), PrimalView(problem, mu, center).oracle(u).value
        farthest = 0.5 * np.sum(np.maximum(center, loss.c - center)[loss.c > 0] ** 2 / loss.c[loss.c > 0])
        assert exact - mu * farthest - 1e-12 <= smoothed <= exact + 1e-12


def test_gradient_by_differences(problem):
    rng = np.random.default_rng(2)
    view = PrimalView(problem, 0.3, random_dual_point(problem, rng))
    u, v, h = rng.normal(size=problem.loss.size), rng.normal(size=problem.loss.size), 1e-6
    slope = (view.oracle(u + h * v).value - view.oracle(u - h * v).value) / (2 * h)
    assert slope == pytest.approx(view.oracle(u).alpha @ v, abs=1e-7)


def test_divergence_is_that_of_the_values(problem):
    rng = np.random.default_rng(3)
    view = PrimalView(problem, 0.3, random_dual_point(problem, rng))
    x, u = (view.point(rng.normal(size=5)) for _ in range(2))
    at_u = view.oracle(u.image)
    expected = view.oracle(x.image).value - at_u.value - at_u.alpha @ (x.image - u.image)
    assert view.divergence(x, u, at_u) == pytest.approx(expected, abs=1e-12)


def test_at_the_dual_solution_smoothing_costs_nothing(problem):
    exact = solve(problem, tol=1e-12, max_iter=200_000)
    assert exact.certificate.status is Status.CERTIFIED
    view = PrimalView(problem, 1.0, exact.certificate.alpha)
    method = AgmInf()
    state = method.init(view, view.point(view.start()))
    for _ in range(400):
        state = method.step(view, state)
    smoothed = view.oracle(state.x.image).value + view.psi.value(state.x.x)
    assert smoothed == pytest.approx(exact.certificate.primal, rel=1e-9)


def test_the_gap_closes_to_rounding_without_a_vanishing_mu(problem):
    result = solve(problem, tol=1e-13, max_iter=200_000)
    assert result.certificate.relative_gap <= 1e-13
    assert result.trace[-1].mu >= 1e-6 * result.trace[0].mu

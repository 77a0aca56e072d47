"""Smoothing: g* - mu D ≤ g*_mu ≤ g* everywhere, D = max over Q of d, and ∇ of g*_mu(A w) is ‖A‖²/(mu σ₂)-Lipschitz."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import Problem, solve
from minorant.geometry import Entropy, Euclidean, WeightedEuclidean
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.regularizers import Entropy as KL
from minorant.solvers import AgmInf
from minorant.views import PrimalView

CASES = [(bias, weights) for bias in (False, True) for weights in (False, True)]


def loss_of(kit, bias, weights, seed=0, n=40):
    X, y, weight = kit.draw(n=n, seed=seed, weights=weights)
    return Hinge(y, sample_weight=weight, bias=bias), X, y


@pytest.mark.parametrize(("bias", "weights"), CASES)
@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.1, 1.0, 30.0])
def test_sandwich(kit, bias, weights, mu):
    loss, _, _ = loss_of(kit, bias, weights)
    rng = np.random.default_rng(1)
    for scale in (1e-3, 0.3, 1.0, 10.0, 1e3):
        for _ in range(20):
            u = scale * rng.standard_normal(loss.size)
            exact, smooth = loss.value(u), loss.smoothed(u, mu).value
            rounding = 1e-13 * (1 + abs(exact))
            assert smooth <= exact + rounding
            assert exact - mu * loss.radius <= smooth + rounding


@pytest.mark.parametrize(("bias", "weights"), CASES)
def test_radius_bounds_the_prox_function(kit, bias, weights):
    """d is convex, so its maximum over Q is at a vertex; vertices are what linear functions find."""
    loss, _, _ = loss_of(kit, bias, weights)
    rng = np.random.default_rng(2)
    seen = 0.0
    for scale in np.geomspace(1e-2, 1e2, 400):
        alpha = loss.smoothed(scale * rng.standard_normal(loss.size) + rng.normal(0, scale), 1e-9 * scale).alpha
        assert np.isfinite(loss.conjugate(alpha))
        seen = max(seen, loss.prox(alpha))
        assert loss.prox(alpha) <= loss.radius * (1 + 1e-12)
    assert seen >= (0.99 if not bias else 0.8) * loss.radius
    assert loss.prox(loss.start()) == 0.0


def test_radius_without_bias_is_attained():
    """E22: d(c) = ½ Σ c = ½: in the scale of the paper D = 1/(2n), half of what is printed."""
    c = np.array([0.1, 0.2, 0.3, 0.4])
    loss = Hinge([1, -1, 1, -1], sample_weight=c, bias=False)
    assert loss.radius == 0.5
    assert loss.prox(loss.c) == pytest.approx(0.5, abs=1e-15)
    n, paper = 4, Hinge([1, -1, 1, -1], bias=False)
    assert 0.5 * float(paper.c @ paper.c) == pytest.approx(1 / (2 * n), abs=1e-15)


@pytest.mark.parametrize(("positive", "negative"), [(3, 9), (7, 2), (5, 5)])
def test_radius_with_bias_is_attained(positive, negative):
    """E22: fill the smaller class, and as many of the other: d = min(n₊, n₋)/n; in the paper's scale, over n again."""
    y = np.array([1.0] * positive + [-1.0] * negative)
    loss = Hinge(y)
    k, n = min(positive, negative), y.size
    alpha = np.zeros(n)
    alpha[:k] = alpha[positive : positive + k] = 1 / n
    assert np.isfinite(loss.conjugate(alpha))
    assert loss.prox(alpha) == pytest.approx(loss.radius, rel=1e-14)
    assert 0.5 * float(alpha @ alpha) == pytest.approx(k / n**2, rel=1e-14)


def dual_norm(geometry, v):
    if isinstance(geometry, Entropy):
        return float(np.abs(v).max())
    if isinstance(geometry, WeightedEuclidean):
        return float(np.sqrt((v * v / geometry.b).sum()))
    return float(np.linalg.norm(v))


def regularized(kit, geometry, bias, weights, seed=0):
    loss, X, _ = loss_of(kit, bias, weights, seed=seed)
    return Problem(loss, X, KL(0.1) if isinstance(geometry, Entropy) else L2(0.1), geometry=geometry)


@pytest.mark.parametrize("geometry", [Euclidean(), WeightedEuclidean(np.geomspace(0.2, 5, 6)), Entropy()], ids=str)
@pytest.mark.parametrize(("bias", "weights"), CASES)
def test_gradient_is_lipschitz(kit, geometry, bias, weights):
    problem = regularized(kit, geometry, bias, weights)
    rng = np.random.default_rng(3)
    worst = 0.0
    for mu in (1e-2, 0.5, 20.0):
        view = PrimalView(problem, mu)
        for _ in range(60):
            if isinstance(geometry, Entropy):
                v, w = rng.dirichlet(np.full(6, 0.3), 2)
            else:
                v, w = rng.standard_normal((2, 6)) * rng.choice([0.05, 0.5, 2.0])
            change = view.slope(view.oracle(problem.A @ v).alpha) - view.slope(view.oracle(problem.A @ w).alpha)
            ratio = dual_norm(geometry, change) / geometry.norm(v - w)
            assert ratio <= view.lipschitz * (1 + 1e-12)
            worst = max(worst, ratio / view.lipschitz)
    assert worst > 0.02  # within a factor that the Frobenius bound explains


def test_lipschitz_constant_is_tight_without_bias():
    """One example: f(w) = hinge_mu(⟨a, w⟩) has curvature ‖a‖²/mu on its quadratic piece, exactly the constant."""
    a = np.array([[3.0, 4.0]])
    view = PrimalView(Problem(Hinge([-1], bias=False), a, L2(1.0)), 0.5)
    assert view.lipschitz == pytest.approx(25 / 0.5, rel=1e-15)
    v, w = np.array([-0.1, -0.1]), np.array([-0.1, -0.1]) + 1e-3 * a[0]
    change = view.slope(view.oracle(a @ v).alpha) - view.slope(view.oracle(a @ w).alpha)
    assert np.linalg.norm(change) / np.linalg.norm(v - w) == pytest.approx(view.lipschitz, rel=1e-10)


@pytest.mark.parametrize(("bias", "weights"), CASES)
@pytest.mark.parametrize("eps", [0.05, 0.01])
def test_smoothing_by_eps_over_radius_gives_two_eps(kit, bias, weights, eps):
    """An eps-solution of J_mu with mu = eps/D is a 2 eps-solution of J."""
    problem = regularized(kit, Euclidean(), bias, weights, seed=5)
    optimum = solve(problem, tol=1e-6).certificate
    view = PrimalView(problem, eps / problem.loss.radius)
    method = AgmInf()
    state = method.init(view, view.point(view.start()))
    used = False
    for _ in range(400):
        state = method.step(view, state)
        alpha, w = state.minorant.witness, state.x.x
        smooth = view.oracle(state.x.image).value + view.psi.value(w)
        if smooth - (problem.dual(alpha) - view.mu * problem.loss.prox(alpha)) <= eps:
            assert problem.primal(w) - optimum.dual <= 2 * eps + optimum.gap
            used = True
    assert used

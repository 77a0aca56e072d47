"""Strong convexity with respect to d, the six properties that the paper's proofs rest on, and its appendix.

f is λ-sc wrt d:  f(x) ≥ f(y) + ⟨g, x - y⟩ + λ Δ(x, y). Then, with σ the modulus of d in its norm,
  1. f(a x + (1-a) y) ≤ a f(x) + (1-a) f(y) - (λσ/2) a (1-a) ‖x - y‖²        2. Σ a_i f_i is Σ a_i λ_i-sc
  3. Δ(·, y) is 1-sc          4. f(x) - f(x*) ≥ λ Δ(x, x*) at a minimizer x*
  5. f(x) + Δ(x, y) ≥ f(z) + Δ(z, y) + Δ(x, z) at the minimizer z of the left side (printed: the maximizer, E3)
  6. ⟨s, x⟩ + Σ a_i Δ(x, x_i) = (Σ a_i) Δ(x, x*) + its minimum, at the unconstrained minimizer x*
Appendix: f is κ-strongly convex if and only if f* has a 1/κ-Lipschitz gradient.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from minorant.geometry import Entropy, Euclidean, WeightedEuclidean
from minorant.minorants import divergence_from
from minorant.regularizers import L2, ElasticNet, LogDet
from minorant.regularizers import Entropy as KL
from minorant.solvers import AgmInf, AgmOne

B = np.geomspace(0.2, 5.0, 6)
C = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.4], [0.0, -0.4, 0.5]])


def vectors(rng):
    return rng.standard_normal(6) * rng.choice([0.1, 1.0, 5.0])


def matrices(rng):
    basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    X = (basis * rng.uniform(0.1, 3.0, 3)) @ basis.T
    return (0.5 * (X + X.T)).ravel()


STRONG = {
    "L2": (L2(0.7), Euclidean(), vectors),
    "L2-weighted": (L2(0.7), WeightedEuclidean(B), vectors),
    "ElasticNet": (ElasticNet(0.3, 2.0), Euclidean(), vectors),
    "KL": (KL(0.4), Entropy(), lambda rng: rng.dirichlet(np.ones(6))),
    "KL-cap": (KL(0.4, cap=0.5), Entropy(), lambda rng: 0.4 * rng.dirichlet(np.ones(6)) + 0.1),
    "LogDet": (LogDet(0.5, 3, 3.0, covariance=C), Euclidean(), matrices),
}


@pytest.fixture(params=STRONG)
def strong(request):
    """A strongly convex Ω, its geometry, λ, and points of its domain."""
    omega, d, draw = STRONG[request.param]
    rng = np.random.default_rng(3)
    return omega, d, omega.strong_convexity(d), [draw(rng) for _ in range(12)]


def test_property_1_the_chord_lies_above_by_the_norm(strong):
    omega, d, lam, points = strong
    assert lam > 0
    for x, y in itertools.pairwise(points):
        for a in (0.1, 0.5, 0.8):
            chord = a * omega.value(x) + (1 - a) * omega.value(y)
            margin = 0.5 * lam * d.sigma * a * (1 - a) * d.norm(x - y) ** 2
            assert omega.value(a * x + (1 - a) * y) <= chord - margin + 1e-12 * (1 + abs(chord))


def test_properties_2_and_4_a_sum_grows_from_its_minimizer_by_the_sum_of_the_moduli(strong):
    """⟨s, ·⟩ + t d + weight Ω is (t + weight λ)-sc, and grows by that from where `argmin` puts its minimum."""
    omega, d, lam, points = strong
    rng = np.random.default_rng(4)
    for x in points:
        s, t, weight = rng.standard_normal(x.size), rng.uniform(0.1, 2.0), rng.uniform(0.5, 2.0)
        z, mirror = omega.argmin(s, t, d, weight)

        def f(v, s=s, t=t, weight=weight):
            return float(s @ v) + t * d.value(v) + weight * omega.value(v)

        growth = (t + weight * lam) * d.divergence(x, z, mirror)
        assert f(x) - f(z) >= growth - 1e-9 * (1 + abs(f(x)))


def test_property_3_a_divergence_has_modulus_one(strong):
    """Δ(x, y) - Δ(z, y) - ⟨∇d(z) - ∇d(y), x - z⟩ = Δ(x, z), which is more than ≥."""
    _, d, _, points = strong
    for x, y, z in zip(points, points[1:], points[2:], strict=False):
        slope = d.gradient(z) - d.gradient(y)
        left = d.divergence(x, y) - d.divergence(z, y) - float(slope @ (x - z))
        assert left == pytest.approx(d.divergence(x, z), rel=1e-9, abs=1e-10)


def test_property_5_the_three_point_inequality(strong):
    omega, d, _, points = strong
    for x, y in itertools.pairwise(points):
        z, mirror = omega.argmin(-d.gradient(y), 1.0, d)  # Ω + Δ(·, y)
        left = omega.value(x) + d.divergence(x, y)
        right = omega.value(z) + d.divergence(z, y) + d.divergence(x, z, mirror)
        assert left >= right - 1e-9 * (1 + abs(left))


@pytest.mark.parametrize("d", [Euclidean(), WeightedEuclidean(B)], ids=["euclidean", "weighted"])
def test_property_6_divergences_add_up_to_one(d):
    rng = np.random.default_rng(5)
    b = B if isinstance(d, WeightedEuclidean) else np.ones(6)
    s, centers, a = rng.standard_normal(6), rng.standard_normal((4, 6)), rng.uniform(0.1, 2.0, 4)

    def q(x):
        return float(s @ x) + sum(w * d.divergence(x, c) for w, c in zip(a, centers, strict=True))

    best = (a @ centers - s / b) / a.sum()
    for x in rng.standard_normal((10, 6)):
        assert q(x) == pytest.approx(a.sum() * d.divergence(x, best) + q(best), rel=1e-12)


@pytest.mark.parametrize("name", ["ridge", "simplex", "kl-bias"])
def test_property_6_as_minorants(kit, name):
    """The same sum, kept as one vector and two numbers."""
    view = kit.view(name)
    centers = [view.point(x) for x in kit.feasible(view, 3, seed=1)]
    total = 0.5 * divergence_from(view, centers[0]) + 2.0 * divergence_from(view, centers[1])
    total = total + 0.25 * divergence_from(view, centers[2])
    for x in kit.feasible(view, 5, seed=2):
        weights = (0.5, 2.0, 0.25)
        by_hand = sum(w * view.geometry.divergence(x, c.x) for w, c in zip(weights, centers, strict=True))
        assert total(x) == pytest.approx(by_hand, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
def test_one_step_solves_the_problem_where_l_is_sigma_lambda_1(kit, method):
    """f = (λ₁/2)‖x - b‖² is its own model: L = σλ₁, and the first z minimizes J (here L exceeds it by rounding)."""
    b, radius = np.array([2.0, -0.1, 0.3, -5.0]), 0.6
    view = kit.Quadratic(np.eye(4), b, kit.Box(radius))
    state = kit.trajectory(view, method(adaptive=False), 1)[1]
    assert view.lipschitz == pytest.approx(view.lam1)
    np.testing.assert_allclose(state.x.x, np.clip(b, -radius, radius), atol=1e-11)


def test_appendix_strong_convexity_makes_the_conjugate_smooth(strong):
    """‖∇Ω*(p) - ∇Ω*(q)‖ ≤ ‖p - q‖_*/(λσ)."""
    omega, d, lam, points = strong
    rng = np.random.default_rng(6)
    for _ in range(30):
        p, q = (rng.standard_normal(points[0].size) * rng.choice([0.1, 1.0, 10.0]) for _ in range(2))
        step = d.norm(omega.maximizer(p) - omega.maximizer(q))
        assert step <= d.dual_norm(p - q) / (lam * d.sigma) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", ["ridge", "ridge-bias-weights", "kl-bias"])
def test_appendix_a_smooth_loss_has_a_strongly_convex_conjugate(kit, name):
    """g*_mu has a 1/mu-Lipschitz gradient in the norm of d; its conjugate g + mu d grows by mu Δ from the maximizer."""
    view = kit.view(name)
    loss, mu, rng = view.problem.loss, view.mu, np.random.default_rng(7)
    for _ in range(10):
        u = rng.standard_normal(loss.size) * 3.0
        at = loss.smoothed(u, mu)
        alpha = loss.project(loss.c * rng.uniform(-0.5, 1.5, loss.size))
        below = float(u @ alpha) - loss.conjugate(alpha) - mu * loss.prox(alpha)
        assert at.value - below >= mu * loss.geometry.divergence(alpha, at.alpha) - 1e-12


def test_appendix_a_minimizer_is_where_zero_is_a_subgradient(strong):
    """`maximizer(v)` minimizes Ω - ⟨v, ·⟩, and by strong convexity nothing else does."""
    omega, d, lam, points = strong
    rng = np.random.default_rng(8)
    v = rng.standard_normal(points[0].size)
    w = omega.maximizer(v)
    for x in points:
        excess = (omega.value(x) - float(v @ x)) - (omega.value(w) - float(v @ w))
        assert excess >= 0.5 * lam * d.sigma * d.norm(x - w) ** 2 - 1e-10 * (1 + abs(excess))

"""Theorems inf_mem_duality_gap and one_mem_duality_gap, strengthened: the θ-average of the dual points proves

    J_mu(x_k) - D_mu(α_avg) ≤ ρ_k Δ(w(α_avg), x₀),     w(α) = argmin over w of φ(w, α) + Ψ(w)

with either memory. w(α) stays bounded where Ψ is strongly convex, so the bound is finite on unbounded domains too.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest

from minorant import Problem
from minorant.geometry import Euclidean
from minorant.losses import Hinge, Smoothed
from minorant.minorants import Point
from minorant.regularizers import L2
from minorant.solvers import AgmInf, AgmOne
from minorant.views import DualView, PrimalView, View


def dual_value(view, witness):
    """(D(witness), the x that attains it): the best lower bound of J that the witness proves."""
    problem = view.problem
    if isinstance(view, PrimalView):
        v = -(problem.A.T @ witness)
        smoothing = view.mu * problem.loss.prox(witness)
        return problem.dual(witness) - smoothing, problem.regularizer.maximizer(v)
    u = problem.A @ witness
    if view.mu:
        at = problem.loss.smoothed(u, view.mu)
        return -problem.regularizer.value(witness) - at.value, at.alpha
    return -problem.primal(witness), None


def test_average_witness(gap_run):
    run = gap_run
    view = run.view
    worst = 0.0
    for k, state in run.steps:
        D, x = dual_value(view, state.minorant.witness)
        # Without smoothing α(w) is not unique; the radius of Q bounds Δ(α, 0) = d(α) for all of them.
        distance = view.problem.loss.radius if x is None else run.divergence(x, state.start)
        bound = state.rho * distance
        assert isfinite(bound)
        assert run.values[k - 1] - D <= bound + 1e-13 * run.scale, f"iteration {k}"
        assert run.values[k - 1] - D >= -1e-13 * run.scale, f"iteration {k}: not a lower bound"
        worst = max(worst, (run.values[k - 1] - D) / bound)
    assert worst > 1e-3  # the bound says something


def test_last_witness_is_a_lower_bound(gap_run):
    run = gap_run
    floor = run.objective(run.minimizer)
    for k, state in run.steps:
        assert dual_value(run.view, state.lower.witness)[0] <= floor + 1e-12 * run.scale, f"iteration {k}"


def test_witness_generates_the_minorant(gap_run):
    """The minorant's slope is Kᵀ times its witness: the certificate needs no product of its own."""
    run = gap_run
    for _, state in run.steps[::8]:
        for m in state.minorants:
            slope = run.view.slope(m.witness)
            assert np.abs(slope - m.s).max() <= 1e-12 * (1 + np.abs(slope).max())
            assert m.omega == 1.0


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
def test_unbounded_domain_converges_linearly(kit, method):
    """E15: dom Ψ = R^p, max Δ = ∞, and still the gap is within a finite bound that shrinks geometrically."""
    view = kit.view("ridge-bias-weights")
    states = kit.trajectory(view, method(adaptive=False), 2000)
    gaps = []
    for state in states[1:]:
        D, x = dual_value(view, state.minorant.witness)
        J = view.oracle(state.x.image).value + view.psi.value(state.x.x)
        assert state.rho * view.geometry.divergence(x, state.start.x) + 1e-14 >= J - D
        gaps.append(J - D)
    assert gaps[10] > 1e-2
    assert gaps[1999] < 1e-9


@pytest.mark.parametrize("bias", [False, True])
def test_no_smoothing(kit, bias):
    """Scheme "none": J(w_k) - D(α_k) ≤ 4 M L_f/(σ₂(k+1)²) with M = max over Q of Δ(·, 0) = the radius of the loss."""
    X, y, _ = kit.draw(seed=11)
    problem = Problem(Hinge(y, bias=bias), X, L2(0.02))
    view = DualView(problem)
    for k, state in enumerate(kit.trajectory(view, AgmInf(adaptive=False), 200)[1:], 1):
        gap = problem.primal(state.minorant.witness) - problem.dual(state.x.x)
        assert gap <= 4 * problem.loss.radius * view.lipschitz / (k + 1) ** 2 + 1e-13


class Saddle(View):
    """f(w) = max over α of φ(w, α) = (λ₁/2)‖w‖² + ⟨A w, α⟩ - g(α) - mu d(α): λ₁-strongly convex for every fixed α."""

    def __init__(self, problem, mu, lam1):
        self.problem, self.mu, self.geometry, self.psi = problem, mu, Euclidean(), problem.regularizer
        self.lam1, self.lam2 = lam1, 0.0
        self.lipschitz = problem.norm**2 / mu + lam1

    def start(self):
        return self.psi.start(self.problem.A.shape[1])

    def point(self, x, mirror=None):
        return Point(x, np.concatenate([self.problem.A @ x, x]), mirror)

    def oracle(self, image):
        n = self.problem.A.shape[0]
        at, w = self.problem.loss.smoothed(image[:n], self.mu), image[n:]
        return Smoothed(at.value + 0.5 * self.lam1 * float(w @ w), np.concatenate([at.alpha, self.lam1 * w]))

    def slope(self, witness):
        n = self.problem.A.shape[0]
        return self.problem.A.T @ witness[:n] + witness[n:]

    def divergence(self, x, u, at_u):
        at_x = self.oracle(x.image)
        return at_x.value - at_u.value - float(at_u.alpha @ (x.image - u.image)) - 1e-14

    def candidates(self, x, minorants):
        raise NotImplementedError


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
def test_strongly_convex_saddle(kit, method):
    """E14: with λ₁ > 0 in φ the bound is (L/σ - λ₁) b_k(0) Δ = ρ_k Δ; the printed L/σ b_k(0) Δ is larger."""
    X, y, _ = kit.draw(seed=12)
    problem = Problem(Hinge(y), X, kit.Box(0.4))
    lam1 = 0.8
    view = Saddle(problem, 0.2, lam1)
    states = kit.trajectory(view, method(adaptive=False), 150)
    loss, n = problem.loss, y.size
    product = 1.0
    for k, state in enumerate(states[1:], 1):
        product *= 1 - state.theta if k > 1 else 1.0
        alpha = state.minorant.witness[:n]
        v = problem.A.T @ alpha
        w = np.clip(-v / lam1, -0.4, 0.4)
        D = 0.5 * lam1 * float(w @ w) + float(v @ w) - loss.conjugate(alpha) - view.mu * loss.prox(alpha)
        J = view.oracle(state.x.image).value + view.psi.value(state.x.x)
        distance = 0.5 * float(w @ w)
        assert state.rho * distance + 1e-13 >= J - D
        assert abs(state.rho - (view.lipschitz - lam1) * product) <= 1e-12 * state.rho


def test_a_maximum_of_strongly_convex_functions_is_strongly_convex(kit):
    """f(x) ≥ f(y) + ⟨∇f(y), x - y⟩ + λ₁ Δ(x, y); the converse fails, and must not be used (E16)."""
    X, y, _ = kit.draw(seed=13)
    view = Saddle(Problem(Hinge(y), X, kit.Box(0.4)), 0.1, 0.8)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, u = (view.point(rng.uniform(-0.4, 0.4, 6)) for _ in range(2))
        distance = view.lam1 * view.geometry.divergence(x.x, u.x)
        assert view.divergence(x, u, view.oracle(u.image)) + 2e-14 >= distance

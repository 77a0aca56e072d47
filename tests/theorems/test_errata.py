"""Counterexamples to what is printed, one for each entry of ERRATA.md that no other test shows, and their cure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import softmax, wrightomega

from minorant import Problem, solve
from minorant.geometry import Entropy, Euclidean
from minorant.kernels import project_box_plane
from minorant.losses import Hinge
from minorant.minorants import divergence_from
from minorant.regularizers import L2, Regularizer
from minorant.solvers import AgmInf, AgmOne
from minorant.solvers.agm import coefficients
from minorant.views import PrimalView


def test_e1_the_bias_minimizes(kit):
    X, y, _ = kit.draw(seed=31)
    problem = Problem(Hinge(y), X, L2(0.5))
    result = solve(problem, tol=1e-7)
    u = problem.A @ result.w
    values = [problem.loss.value_at(u, b) for b in np.linspace(-1e3, 1e3, 2001)]
    assert problem.loss.value(u) <= min(values)  # with min over b the gap closes,
    assert result.certificate.relative_gap <= 1e-7
    assert max(values) > 100  # while the printed max over b is infinite


def test_e3_not_every_subgradient_at_a_minimizer():
    """f(x) = |x| has x* = 0 and the subgradient ½, for which ⟨g, x - x*⟩ < 0 at x = -1; g = 0 is the one meant."""
    x_star, g, x = 0.0, 0.5, -1.0
    assert abs(x) >= abs(x_star) + g * (x - x_star)  # a subgradient,
    assert g * (x - x_star) < 0  # and yet


def test_e3_three_divergences_sum_to_all_their_weights(kit):
    view = kit.view("ridge")
    points = [view.point(x) for x in kit.feasible(view, 3)]
    first, second, third = (divergence_from(view, p) for p in points)
    assert (2.0 * first + 3.0 * second + 5.0 * third).c == 10.0


@pytest.mark.parametrize("factor", [10.0, 100.0])
def test_e6_a_smaller_constant_pays_by_its_root(kit, factor):
    """With λ = 0, A_k is proportional to 1/L: L/10 makes the bound 10 times better but saves only √10 in iterations."""
    view = kit.view("box")

    def growth(L, steps):
        rho, A = inf, []
        for _ in range(steps):
            _, rho, _ = coefficients(view, rho, L)
            A.append(1 / rho)
        return np.array(A)

    slow, fast = growth(view.lipschitz, 3000), growth(view.lipschitz / factor, 3000)
    assert np.allclose(fast, factor * slow, rtol=1e-10)
    iterations = int(np.argmax(fast >= slow[-1])) + 1
    assert 3000 / iterations == pytest.approx(sqrt(factor), rel=0.02)


def test_e7_naive_test_lets_l_explode(kit):
    """Algorithm 2 as printed: at rounding A J(x) ≤ min ψ is false for every L, and the search for L runs away."""
    view = kit.settings["ridge"]()
    d, sigma, lam = view.geometry, view.geometry.sigma, view.lam2
    x = z = x0 = view.point(view.start())
    A, G, C, L, largest = 0.0, 0.0 * x0.x, 0.0, view.lipschitz / 4, 0.0
    for _ in range(20_000):  # when rounding decides depends on the machine
        if largest > 1e6 * view.lipschitz:
            return
        L /= 2  # γ_d
        for _ in range(60):
            b = 1 + 2 * lam * A
            a = (b + sqrt(b * b + 4 * (L / sigma) * A * (1 + lam * A))) / (2 * L / sigma)
            A1 = A + a
            tau1, tau3 = 1 + lam * A, lam * a * A / A1
            u = (1 / ((tau1 + tau3) * A1)) * ((a * tau1) * z + ((tau1 + tau3) * A + tau3 * a) * x)
            at_u = view.oracle(u.image)
            g = view.slope(at_u.alpha)
            G1, C1 = G + a * g, C + a * (at_u.value - float(g @ u.x))
            z1 = view.point(*view.psi.argmin(G1 - d.gradient(x0.x), 1.0, d, A1))
            x1 = (A / A1) * x + (a / A1) * z1
            J = view.oracle(x1.image).value + view.psi.value(x1.x)
            if d.divergence(z1.x, x0.x) + A1 * view.psi.value(z1.x) + float(G1 @ z1.x) + C1 >= A1 * J:
                break
            L *= 2  # γ_u
        A, G, C, x, z = A1, G1, C1, x1, z1
        largest = max(largest, L)
    pytest.fail(f"L never exceeded {largest}")


def test_e7_no_root_below_the_strong_convexity(kit):
    """With L < σλ₁ the printed equation has no positive root; our search never goes there."""
    view = kit.view("quadratic-box")
    q, b, A = 0.5 * view.lam1 - view.lam1, 1.0, 0.0
    assert (b + sqrt(b * b + 4 * q * A)) / (2 * q) < 0
    tried = []

    class Spy(AgmInf):
        def model(self, view, s, theta, rho, lower, average):
            tried.append((rho, theta))
            return super().model(view, s, theta, rho, lower, average)

    kit.trajectory(view, Spy(), 30, L=1e-3 * view.lam1)
    assert all(rho > 0 and 0 < theta <= 1 for rho, theta in tried)


def test_e8_models_do_not_lie_above_the_objective(kit):
    """q_k(x) ≥ J(x_k), the printed proof's last step needs x to be the minimizer: elsewhere q_k(x) < J(x)."""
    view = kit.view("ridge")
    run = kit.Run(view, kit.trajectory(view, AgmOne(adaptive=False), 300), "1")
    far = np.full(6, -30.0)
    state, least = run.states[300], run.model_minima[-1]
    model = (state.rho + run.lam) * run.divergence(far, state.z) + least
    assert model >= run.values[-1]
    assert model < run.objective(far) - 1.0
    first = run.states[1].rho + run.lam
    assert first * run.divergence(far, run.states[1].z) + run.model_minima[0] >= run.objective(far)  # k = 0: true


@dataclass(frozen=True)
class RidgeOnSimplex(Regularizer):
    """(κ/2)‖w‖² on the simplex: κ/p-strongly convex in the L1 norm, but with respect to the entropy not at all."""

    kappa: float
    geometries = (Entropy,)

    def value(self, x):
        return 0.5 * self.kappa * float(x @ x) if abs(x.sum() - 1) < 1e-9 and x.min() >= 0 else np.inf

    def conjugate(self, v):
        raise NotImplementedError

    def maximizer(self, v):
        raise NotImplementedError

    def argmin(self, s, t, geometry, weight=1.0):
        v, k = -s / t, weight * self.kappa / t

        def point(nu):
            return wrightomega(v - nu - 1 + log(k)).real / k

        nu = brentq(lambda nu: point(nu).sum() - 1, v.min() - 50 - k, v.max() + 50 + k, xtol=1e-14)
        x = point(nu) / point(nu).sum()
        return x, geometry.gradient(x)

    def strong_convexity(self, geometry):
        return self.kappa / 6

    def start(self, size):
        return np.full(size, 1 / size)


def model_excess(kit, method, memory):
    """The most that q_{k+1}(x) - J(x) exceeds (1 - θ)(q_k(x) - J(x)), and J(x_k) exceeds q_k*, for x near z_{k+1}."""
    X, y, _ = kit.draw(seed=0)
    view = PrimalView(Problem(Hinge(y, bias=False), X, RidgeOnSimplex(1.0), geometry=Entropy()), 0.5)
    run = kit.Run(view, kit.trajectory(view, method(adaptive=False), 100), memory)
    broken = max(J - least for J, least in zip(run.values, run.model_minima, strict=True))

    def model(k, x):
        s = run.states[k]
        if memory == "inf":
            return s.rho * run.divergence(x, s.start) + s.minorant(x)
        return (s.rho + run.lam) * run.divergence(x, s.z) + run.model_minima[k - 1]

    worst = -inf
    for k in range(1, 100, 3):
        for corner in np.eye(6):
            x = 0.9 * run.states[k + 1].z.x + 0.1 * corner
            J = run.objective(x)
            worst = max(worst, model(k + 1, x) - J - (1 - run.states[k + 1].theta) * (model(k, x) - J))
    return worst, broken


def test_e9_strong_convexity_in_the_norm_is_not_enough_for_one_memory(kit):
    worst, _ = model_excess(kit, AgmOne, "1")
    assert worst > 1e-4


def test_e9_strong_convexity_in_the_norm_is_enough_for_infinite_memory(kit):
    worst, broken = model_excess(kit, AgmInf, "inf")
    assert worst <= 1e-13
    assert broken <= 1e-13


def saddle_violation(kit, seed, lam1):
    """The most that J(x_k) - D(α_avg) exceeds ρ_k Δ(w(α_avg), x₀) for f(w) = ½‖K w - b‖² treated as λ₁-convex."""
    rng = np.random.default_rng(seed)
    K, b = rng.standard_normal((9, 3)), 2 * rng.standard_normal(9)
    box = kit.Box(1.0)
    view = kit.Quadratic(K, b, box, lam1=lam1)
    worst = -inf
    for s in kit.trajectory(view, AgmInf(adaptive=False), 60)[1:]:
        alpha = s.minorant.witness
        v = -(K.T @ alpha)
        D = -0.5 * float(alpha @ alpha) - float(b @ alpha) - box.conjugate(v)
        distance = 0.5 * float(np.square(box.maximizer(v) - s.start.x).sum())
        J = view.oracle(s.x.image).value
        worst = max(worst, J - D - s.rho * distance)
    return worst


def test_e16_strong_convexity_of_f_must_not_be_used_for_the_gap(kit):
    """φ(w, α) = ⟨K w, α⟩ - g(α) is affine in w, though f is strongly convex: with λ₁ > 0 the bound fails."""
    assert max(saddle_violation(kit, seed, None) for seed in range(20)) > 1e-3
    assert max(saddle_violation(kit, seed, 0.0) for seed in range(20)) <= 1e-11


def test_e16_views_use_none(gap_run):
    assert gap_run.view.lam1 == 0.0


@pytest.mark.parametrize("mass", [2.0, 5.0])
def test_e23_sigma_enters_the_constant_of_the_dual(mass):
    """Ω = λ Σ w log w on the simplex of mass m: ∇Ω* is 1/(λσ₁) = m/λ Lipschitz from L∞ to L1, not 1/λ."""
    lam, rng, worst = 0.3, np.random.default_rng(0), 0.0
    assert Entropy(mass).sigma == 1 / mass
    for _ in range(300):
        v = 0.05 * rng.standard_normal(2)
        w = v + 1e-3 * rng.standard_normal(2)
        change = mass * (softmax(v / lam) - softmax(w / lam))
        worst = max(worst, np.abs(change).sum() / np.abs(v - w).max())
    assert 1 / lam < worst <= mass / lam


def test_e30_no_factor_two_in_the_kink_function():
    """β = λ/d̄² between the kinks: with the printed λ/(2 d̄²) the point is not on the hyperplane."""
    rng = np.random.default_rng(4)
    m, d, s = rng.standard_normal(8), rng.uniform(0.5, 2, 8), rng.choice([-1.0, 1.0], 8)
    x, lam = project_box_plane(m, -100.0, 100.0, s, 1.0, d**2)
    assert np.allclose(x, m + lam * s / d**2, atol=1e-13)
    assert abs(float(s @ x) - 1.0) <= 1e-13
    printed = m + lam * s / (2 * d**2)
    assert abs(float(s @ printed) - 1.0) > 0.1


class EmptySetError(Exception):
    """The set that the printed comment says must be nonempty."""


def printed_algorithm_8(kinks_low, kinks_high, f):
    """The root of f among the kinks; comments are the printed step numbers."""
    S = sorted([*kinks_low, *kinks_high])  # 1
    while len(S) > 2:  # 2
        m = S[(len(S) - 1) // 2]  # 3
        if f(m) == 0:
            return m  # 5
        side = [x for x in S if x < m] if f(m) > 0 else [x for x in S if x > m]
        if not side:  # 7, 15: "must be nonempty"
            raise EmptySetError
        y = max(side) if f(m) > 0 else min(side)
        S = side if f(y) * f(m) > 0 else sorted((y, m))  # 8 to 12, 16 to 20
    low, high = S
    return (low * f(high) - high * f(low)) / (f(high) - f(low)) if f(low) != f(high) else low


def test_e31_printed_algorithm_8_meets_an_empty_set():
    """Equal centers, and a hyperplane that touches the box: rounding puts the root outside all kinks. Ours returns."""
    rng = np.random.default_rng(5)
    empty = 0
    for _ in range(200):
        n = int(rng.integers(3, 20))
        m, upper = np.full(n, rng.standard_normal()), np.full(n, rng.uniform(0.1, 1.0))
        z = 0.0 if rng.random() < 0.5 else float(upper.sum())
        low, high, target = -m, upper - m, z - float(m.sum())

        def f(lam, low=low, high=high, target=target):
            return float(np.cumsum(np.clip(lam, low, high))[-1]) - target

        try:
            printed_algorithm_8(low, high, f)
        except EmptySetError:
            empty += 1
        x = project_box_plane(m, 0.0, upper, 1.0, z).x
        assert abs(float(x.sum()) - z) <= 1e-12 * n
        assert ((x >= 0) & (x <= upper)).all()
    assert empty > 5


def test_every_erratum_names_a_test_that_exists():
    """ERRATA.md is as true as its tests: each entry names one, as path::name, and the file has it."""
    root = Path(__file__).parents[2]
    entries = list((root / "ERRATA.md").read_text(encoding="utf-8").split("\n### ")[1:])
    assert len(entries) >= 20
    for entry in entries:
        title = entry.splitlines()[0]
        shown = [word.strip("`,.;()") for word in entry.split() if ".py::" in word]
        assert shown, f"{title}: no test shows it"
        for path, name in (word.split("::") for word in shown):
            source = (root / path).read_text(encoding="utf-8")
            assert f"def {name}(" in source, f"{title}: {path} has no {name}"


def test_euclidean_is_its_own_mirror():
    """What makes E9 harmless in the Euclidean geometry: there, strong convexity in the norm is that in d."""
    d, rng = Euclidean(), np.random.default_rng(6)
    x, y = rng.standard_normal((2, 5))
    assert d.divergence(x, y) == pytest.approx(0.5 * d.norm(x - y) ** 2)

"""The excessive gap technique: J_mu2(w) ≤ D_mu1(α) at every step, while mu1 and mu2 go to 0 at a known rate.

    0 ≤ J(w) - D(α) ≤ mu1 D₁ + mu2 D₂
    EGT-1 (Ω strongly convex):  mu1 = 0, mu2 ≤ 4 L_D/(σ₂ (k+2)²) with L_D = ‖A‖²/(λσ₁);  geometric where g is curved too
    EGT-2 (neither):            mu1·mu2 ≤ 4‖A‖²/(σ₁σ₂ (k+2)²)

    J(w_k) - J* ≤ mu1 Δ(w*, w_c) + mu2 D₂, where D₁ is infinite too

Centered at α_c, EGT-1 has D* - D(α_k) ≤ mu2 Δ(α*, α_c): a warm start is a center (E26).
"""

from __future__ import annotations

import itertools
from math import sqrt

import numpy as np
import pytest
from scipy.special import expit

from minorant import Problem, solve
from minorant.geometry import Entropy
from minorant.solvers import ExcessiveGap
from minorant.solvers.saddle import Saddle


def test_the_step_is_the_one_written_down(setting):
    """EGT-1 for the SVM without bias, in plain NumPy: d₂ = (n/2)‖α‖², α_mu(w) = α_c + (1 + A w)/(n mu), clipped."""
    problem, lam, n = setting("ridge").problem, 0.05, 40
    A = np.stack([problem.A @ e for e in np.eye(6)], axis=1)
    center = np.random.default_rng(1).random(n) / n
    LD = np.sum(A**2) / (lam * n)

    def prox(u, mu, c):
        return np.clip(c + (1 + u) / (n * mu), 0.0, 1.0 / n)

    saddle, method = Saddle(problem, np.zeros(6), center), ExcessiveGap(adaptive=False)
    state, mu = method.init(saddle), LD
    w = -A.T @ center / lam
    a = prox(A @ w, mu, center)
    for k in range(60):
        np.testing.assert_allclose(state.w.x, w, atol=1e-11, err_msg=f"step {k}")
        np.testing.assert_allclose(state.alpha.x, a, atol=1e-11, err_msg=f"step {k}")
        assert state.mu2 == pytest.approx(mu, rel=1e-11)
        tau = float(np.roots([LD, mu, -mu]).max())  # τ²/(1-τ) = mu/L_D
        m = prox(A @ w, mu, center)
        v = -A.T @ ((1 - tau) * a + tau * m) / lam
        t = prox(A @ v, (1 - tau) / tau * mu, m)
        w, a, mu = (1 - tau) * w + tau * v, (1 - tau) * a + tau * t, (1 - tau) * mu
        state = method.step(saddle, state)


def test_the_mirrored_step_is_the_one_written_down(kit, setting):
    """Shrinking mu1 in a box, for the logistic loss: the same with the sides exchanged, κ₂ = 4 and N = ‖A‖_F²/n."""
    X, y, _ = kit.draw(seed=31)
    logistic = type(setting("logistic-ridge").problem.loss)
    problem = Problem(logistic(y), X, kit.Box(0.3))
    A, n = -y[:, None] * X, 40
    N, kappa = np.sum(A**2) / n, 4.0
    saddle, method = Saddle(problem, np.zeros(6), problem.loss.start()), ExcessiveGap(adaptive=False)
    state, mu = method.init(saddle), N / kappa

    def prox(a, t, c):
        return np.clip(c - A.T @ a / t, -0.3, 0.3)

    a = expit(np.zeros(n)) / n
    w = prox(a, mu, np.zeros(6))
    for k in range(60):
        np.testing.assert_allclose(state.w.x, w, atol=1e-10, err_msg=f"step {k}")
        np.testing.assert_allclose(state.alpha.x, a, atol=1e-10, err_msg=f"step {k}")
        assert state.mu1 == pytest.approx(mu, rel=1e-11)
        tau = float(np.roots([N, mu * kappa, -mu * kappa]).max())
        m = prox(a, mu, np.zeros(6))
        v = expit(A @ ((1 - tau) * w + tau * m)) / n
        t = prox(v, (1 - tau) / tau * mu, m)
        w, a, mu = (1 - tau) * w + tau * t, (1 - tau) * a + tau * v, (1 - tau) * mu
        state = method.step(saddle, state)


def test_the_images_are_those_of_the_points(run):
    A = run.problem.A
    for s in run.states[:: len(run.states) // 4]:
        np.testing.assert_allclose(s.w.image, A @ s.w.x, atol=1e-12)
        np.testing.assert_allclose(s.alpha.image, -(A.T @ s.alpha.x), atol=1e-12)


def test_the_smoothed_values_are_those_of_the_definition(run):
    """J_mu2(w) ≥ every ⟨A w, α⟩ - g(α) - mu2 Δ(α, α_c) + Ω(w), and close to the best of many; D_mu1 likewise."""
    problem, rng = run.problem, np.random.default_rng(0)
    loss, omega, center = problem.loss, problem.regularizer, problem.loss.start()
    for s in run.states[:: len(run.states) // 3]:
        u = s.w.image
        J = run.saddle.smoothed_primal(s.w, s.mu2) - omega.value(s.w.x)
        D = run.saddle.smoothed_dual(s.alpha, s.mu1) + loss.conjugate(s.alpha.x)
        assert loss.value(u) >= J - 1e-12
        assert omega.conjugate(s.alpha.image) >= -D - 1e-12
        for _ in range(20):
            alpha = loss.project(rng.uniform(-0.5, 1.5, loss.size) / loss.size)
            got = float(u @ alpha) - loss.conjugate(alpha) - s.mu2 * loss.geometry.divergence(alpha, center)
            assert got <= J + 1e-12
            w = rng.dirichlet(np.ones(6)) if isinstance(problem.geometry, Entropy) else rng.uniform(-0.3, 0.3, 6)
            start = omega.start(6)
            got = omega.value(w) + s.mu1 * problem.geometry.divergence(w, start) - float(s.alpha.image @ w)
            assert got >= D - 1e-12


def test_invariant(run):
    for k, s in enumerate(run.states):
        primal, dual = run.saddle.smoothed_primal(s.w, s.mu2), run.saddle.smoothed_dual(s.alpha, s.mu1)
        assert primal <= dual + 1e-12 * (1 + abs(dual)), f"step {k}"


def test_the_gap_is_at_most_the_error_of_the_smoothing(run):
    D2 = run.problem.loss.radius
    for k, s in enumerate(run.states):
        gap = run.problem.primal(s.w.x) - run.problem.dual(s.alpha.x)
        bound = (s.mu1 * run.D1 if s.mu1 else 0.0) + s.mu2 * D2
        assert -1e-12 <= gap <= bound + 1e-12, f"step {k}"
        if s.mu1 and s.mu2:
            assert s.spread1 <= run.D1 + 1e-9
            assert s.spread2 <= D2 + 1e-9


def test_the_error_is_bounded_by_the_distance_of_the_center(run):
    """J(w) - J* ≤ mu1 Δ(w*, w_c) + mu2 D₂: D_mu1 exceeds J* by no more than the first, J exceeds J_mu2 by the second.

    This is what EGT-2 proves for a norm, where D₁ is infinite.
    """
    problem = run.problem
    exact = solve(problem, tol=1e-9, max_iter=200_000)
    w, start = exact.w, problem.regularizer.start(6)
    distance = problem.geometry.divergence(w, start)
    for k, s in enumerate(run.states):
        bound = s.mu1 * distance + s.mu2 * problem.loss.radius
        assert problem.primal(s.w.x) - exact.certificate.primal <= bound + 1e-12, f"step {k}"


def test_rate(run):
    """Of the smoothing, for the proven ‖A‖; a smaller N can only help."""
    problem = run.problem
    N = problem.norm**2 / (problem.geometry.sigma * problem.loss.geometry.sigma)
    assert run.saddle.coupling == pytest.approx(N)
    kappa1, kappa2 = problem.regularizer.strong_convexity(problem.geometry), problem.loss.curvature
    for k, s in enumerate(run.states):
        bound = 4 * N / (k + 2) ** 2 * (1 + 1e-12)
        assert s.N <= N
        if kappa1:
            assert s.mu1 == 0
            assert s.mu2 * kappa1 <= bound
        elif kappa2:
            assert s.mu2 == 0
            assert s.mu1 * kappa2 <= bound
        else:
            assert s.mu1 * s.mu2 <= bound


@pytest.mark.parametrize("name", ["simplex", "box"])
def test_both_parameters_decrease_like_1_over_k(course, name):
    """EGT-2 as a whole: the gap is at most 4‖A‖√(D₁D₂/(σ₁σ₂))/(k+2) times a little for the balance of the two."""
    run = course(name, adaptive=False)
    D2 = run.problem.loss.radius
    for k, s in enumerate(run.states):
        if k >= 20:
            gap = run.problem.primal(s.w.x) - run.problem.dual(s.alpha.x)
            assert gap <= 1.2 * 4 * sqrt(run.saddle.coupling * run.D1 * D2) / (k + 2)
    assert run.states[-1].mu1 < 0.1 * run.states[0].mu1
    assert run.states[-1].mu2 < 0.1 * run.states[0].mu2


@pytest.mark.parametrize("adaptive", [False, True])
def test_geometric_where_the_loss_is_curved(course, adaptive):
    """mu shrinks by 1 - τ with τ²/(1-τ) ≥ κ₁κ₂/N at every step: the gap reaches rounding."""
    run = course("logistic-ridge", adaptive)
    r = 4.0 * 0.3 / run.saddle.coupling
    factor = 1 - 2 * r / (r + sqrt(r * r + 4 * r))
    for old, new in itertools.pairwise(run.states):
        assert new.mu2 <= factor * old.mu2 * (1 + 1e-12)
    last, steps = run.states[-1], len(run.states) - 1
    assert last.mu2 <= factor**steps * run.states[0].mu2 * (1 + 1e-9)
    assert run.problem.primal(last.w.x) - run.problem.dual(last.alpha.x) <= max(0.5 * last.mu2, 1e-14)
    assert factor**steps < 1e-6


@pytest.mark.parametrize("adaptive", [False, True])
def test_products(setting, name, adaptive):
    """One A and two Aᵀ to shrink mu2 (two and one for mu1); a rejected N costs one of each more."""
    problem = setting(name).problem
    A = problem.A
    saddle = Saddle(problem, problem.regularizer.start(A.shape[1]), problem.loss.start())
    method = ExcessiveGap(adaptive=adaptive)
    state = method.init(saddle)
    assert A.products == 1 + 2 * state.trials
    for _ in range(30):
        dots, tdots = A.dots, A.tdots
        new = method.step(saddle, state)
        more = new.trials - 1
        assert more == 0 or adaptive
        shrunk1 = new.mu1 < state.mu1
        assert (A.dots - dots, A.tdots - tdots) == ((2 + more, 1 + more) if shrunk1 else (1 + more, 2 + more))
        state = new
    if name == "ridge" and not adaptive:
        assert (A.dots, A.tdots) == (31, 62)

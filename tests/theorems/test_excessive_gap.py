"""The excessive gap technique: J_mu2(w) ≤ D_mu1(α) at every step, while mu1 and mu2 go to 0 at a known rate.

    0 ≤ J(w) - D(α) ≤ mu1 D₁ + mu2 D₂
    EGT-1 (Ω strongly convex):  mu1 = 0, mu2 ≤ 4 L_D/(σ₂ (k+2)²) with L_D = ‖A‖²/(λσ₁);  geometric where g is curved too
    EGT-2 (neither):            mu1·mu2 ≤ 4‖A‖²/(σ₁σ₂ (k+2)²)

    J(w_k) - J* ≤ mu1 Δ(w*, w_c) + mu2 D₂, where D₁ is infinite too

Centered at α_c, EGT-1 has D* - D(α_k) ≤ mu2 Δ(α*, α_c): a warm start is a center (E26).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt

import numpy as np
import pytest
from scipy.special import entr, expit

from minorant import InputError, Problem, Status, solve
from minorant.geometry import Entropy, Euclidean, Geometry, WeightedEuclidean
from minorant.losses import Hinge, Loss, Smoothed
from minorant.regularizers import L1, L2, GroupL2
from minorant.regularizers import Entropy as KL
from minorant.solvers import AgmInf, AgmOne, ExcessiveGap
from minorant.solvers.saddle import Saddle
from minorant.views import DualView

STEPS = 120


class Logistic(Loss):
    """The mean of log(1 + exp(u_i)): g is the entropy of p = n α, which is curved (κ = 4) and not smooth."""

    radius, curvature = 0.5, 4.0

    def __init__(self, y):
        self.size, self.signs, self.geometry = y.size, -y, WeightedEuclidean(np.full(y.size, float(y.size)))

    def value(self, u):
        return float(np.logaddexp(0.0, u).mean())

    def smoothed(self, u, mu):
        low, high = u - mu, u.copy()  # s + mu expit(s) = u
        for _ in range(70):
            s = 0.5 * (low + high)
            above = s + mu * expit(s) > u
            low, high = np.where(above, low, s), np.where(above, s, high)
        p = expit(0.5 * (low + high))
        alpha = p / self.size
        return Smoothed(float(alpha @ u) - self.conjugate(alpha) - mu * self.prox(alpha), alpha)

    def conjugate(self, alpha):
        p = self.size * alpha
        return -float((entr(p) + entr(1 - p)).mean()) if (p >= 0).all() and (p <= 1).all() else np.inf

    def project(self, alpha):
        return np.clip(alpha, 0.0, 1.0 / self.size)

    def start(self):
        return np.zeros(self.size)


@dataclass(frozen=True)
class Setting:
    """A problem, and D₁, the largest Δ₁ from the start: infinite for a norm, whose domain is all of space."""

    problem: Problem
    D1: float = 0.0


def _simplex(loss, X, lam=0.0):
    return Setting(Problem(loss, X, KL(lam), geometry=Entropy()), 0.0 if lam else np.log(X.shape[1]))


SETTINGS = {
    "ridge": lambda kit, X, y, weight: Setting(Problem(Hinge(y, bias=False), X, L2(0.05))),
    "ridge-bias-weights": lambda kit, X, y, weight: Setting(Problem(Hinge(y, sample_weight=weight), X, L2(0.5))),
    "kl": lambda kit, X, y, weight: _simplex(Hinge(y), X, 0.2),
    "simplex": lambda kit, X, y, weight: _simplex(Hinge(y), X),
    "box": lambda kit, X, y, weight: Setting(Problem(Hinge(y, bias=False), X, kit.Box(0.3)), 0.5 * 6 * 0.3**2),
    "l1": lambda kit, X, y, weight: Setting(Problem(Hinge(y), X, L1(0.05)), np.inf),
    "group-weights": lambda kit, X, y, weight: Setting(
        Problem(Hinge(y, sample_weight=weight, bias=False), X, GroupL2(0.1, [0, 0, 1, 1, 2, 2])), np.inf
    ),
    "logistic-l1": lambda kit, X, y, weight: Setting(Problem(Logistic(y), X, L1(0.05)), np.inf),
    "logistic-ridge": lambda kit, X, y, weight: Setting(Problem(Logistic(y), X, L2(0.3))),
    "logistic-simplex": lambda kit, X, y, weight: _simplex(Logistic(y), X),
}


def setting(kit, name):
    return SETTINGS[name](kit, *kit.draw(seed=31, weights=True))


@dataclass(frozen=True)
class Course:
    """The states of one run."""

    problem: Problem
    D1: float
    saddle: Saddle
    states: list


@pytest.fixture(scope="module")
def course(kit):
    """Runs by setting and N fixed or adaptive, each made once."""

    @cache
    def run(name, adaptive):
        s = setting(kit, name)
        saddle = Saddle(s.problem, s.problem.regularizer.start(6), s.problem.loss.start())
        method = ExcessiveGap(adaptive=adaptive)
        states = [method.init(saddle)]
        for _ in range(STEPS):
            states.append(method.step(saddle, states[-1]))
        return Course(s.problem, s.D1, saddle, states)

    return run


@pytest.fixture(
    params=itertools.product(SETTINGS, [False, True]), ids=lambda v: f"{v[0]}-{'adaptive' if v[1] else 'fixed'}"
)
def run(request, course):
    return course(*request.param)


def test_the_step_is_the_one_written_down(kit):
    """EGT-1 for the SVM without bias, in plain NumPy: d₂ = (n/2)‖α‖², α_mu(w) = α_c + (1 + A w)/(n mu), clipped."""
    problem, lam, n = setting(kit, "ridge").problem, 0.05, 40
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


def test_the_mirrored_step_is_the_one_written_down(kit):
    """Shrinking mu1 in a box, for the logistic loss: the same with the sides exchanged, κ₂ = 4 and N = ‖A‖_F²/n."""
    X, y, _ = kit.draw(seed=31)
    problem = Problem(Logistic(y), X, kit.Box(0.3))
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
    for s in run.states[:: STEPS // 4]:
        np.testing.assert_allclose(s.w.image, A @ s.w.x, atol=1e-12)
        np.testing.assert_allclose(s.alpha.image, -(A.T @ s.alpha.x), atol=1e-12)


def test_the_smoothed_values_are_those_of_the_definition(run):
    """J_mu2(w) ≥ every ⟨A w, α⟩ - g(α) - mu2 Δ(α, α_c) + Ω(w), and close to the best of many; D_mu1 likewise."""
    problem, rng = run.problem, np.random.default_rng(0)
    loss, omega, center = problem.loss, problem.regularizer, problem.loss.start()
    for s in run.states[:: STEPS // 3]:
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
    last = run.states[-1]
    assert last.mu2 <= factor**STEPS * run.states[0].mu2 * (1 + 1e-9)
    assert run.problem.primal(last.w.x) - run.problem.dual(last.alpha.x) <= max(0.5 * last.mu2, 1e-14)
    assert factor**STEPS < 1e-6


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("adaptive", [False, True])
def test_products(kit, name, adaptive):
    """One A and two Aᵀ to shrink mu2 (two and one for mu1); a rejected N costs one of each more."""
    problem = setting(kit, name).problem
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


@pytest.mark.parametrize("adaptive", [False, True])
def test_dual_error_is_bounded_by_the_distance_of_the_center(kit, adaptive):
    """D* - D(α_k) ≤ mu_k Δ(α*, α_c), for every center."""
    problem = setting(kit, "ridge-bias-weights").problem
    exact = solve(problem, tol=1e-11, max_iter=200_000).certificate
    rng = np.random.default_rng(5)
    for alpha in [problem.loss.start(), problem.loss.project(problem.loss.c * rng.random(40)), exact.alpha]:
        saddle = Saddle(problem, np.zeros(6), alpha)
        method = ExcessiveGap(adaptive=adaptive)
        state = method.init(saddle)
        distance = problem.loss.geometry.divergence(exact.alpha, alpha)
        for _ in range(60):
            assert exact.dual - problem.dual(state.alpha.x) <= state.mu2 * distance + exact.gap + 1e-13
            state = method.step(saddle, state)


@pytest.mark.parametrize("name", ["ridge", "ridge-bias-weights", "simplex", "kl"])
def test_e26_a_warm_start_is_a_center(kit, name):
    """Printed: the technique starts where it must. True: centered at a good pair, it begins as good as that pair."""
    problem = setting(kit, name).problem
    exact = solve(problem, tol=1e-10, max_iter=200_000)
    gaps = []
    for start in [(exact.w, exact.certificate.alpha), (problem.regularizer.start(6), problem.loss.start())]:
        saddle, method = Saddle(problem, *start), ExcessiveGap(adaptive=False)
        state = method.init(saddle)
        for _ in range(50):
            state = method.step(saddle, state)
        gaps.append(problem.primal(state.w.x) - problem.dual(state.alpha.x))
    warm, cold = gaps
    assert cold > 1e-3
    assert warm < 1e-2 * cold
    if name.startswith("ridge"):
        assert warm < 1e-7


def test_e26_through_solve(kit):
    """The solution for one λ is a start for the next."""
    X, y, _ = kit.draw(seed=33)
    before = solve(Problem(Hinge(y), X, L2(0.055)), tol=1e-6, max_iter=100_000)
    problem = Problem(Hinge(y), X, L2(0.05))
    start = (before.w, before.certificate.alpha)
    warm = solve(problem, tol=1e-3, smoothing="decreasing", start=start)
    cold = solve(problem, tol=1e-3, smoothing="decreasing")
    assert warm.certificate.status is cold.certificate.status is Status.CERTIFIED
    assert warm.n_iter < 0.6 * cold.n_iter


@pytest.mark.parametrize(("lam", "eps"), [(1.0, 0.1), (1.0, 1e-3), (0.05, 0.1), (0.05, 1e-2)])
def test_steps_known_beforehand(kit, lam, eps):
    """Through `solve`: mu_k D ≤ eps, hence a gap of eps, after √(4 L_D D/(σ₂ eps)) - 2 steps at the proven ‖A‖."""
    X, y, _ = kit.draw(seed=34)
    problem = Problem(Hinge(y), X, L2(lam))
    k = ceil(sqrt(4 * problem.norm**2 / lam * problem.loss.radius / eps) - 2)
    r = solve(
        problem, tol=0.0, smoothing="decreasing", solver=ExcessiveGap(adaptive=False, restart=False), max_iter=k + 1
    )
    assert r.certificate.gap <= eps
    assert r.trace[-1].mu * problem.loss.radius <= eps


@pytest.mark.parametrize("name", ["l1", "group-weights", "simplex", "box"])
def test_beginning_anew_saves_most_steps(kit, name):
    """J is sharp: with the center moved to the best pair whenever the gap has halved, convergence is linear."""
    problem = setting(kit, name).problem
    few = solve(problem, tol=1e-3, smoothing="decreasing")
    assert few.certificate.status is Status.CERTIFIED
    plain = ExcessiveGap(restart=False)
    many = solve(problem, tol=1e-3, smoothing="decreasing", solver=plain, max_iter=2 * few.n_iter)
    assert many.certificate.status is Status.MAX_ITER
    far = solve(problem, tol=1e-6, smoothing="decreasing")
    assert far.certificate.status is Status.CERTIFIED
    assert far.n_iter < 10 * few.n_iter  # like 1/k it would be a thousand times as many


@pytest.mark.parametrize("name", SETTINGS)
def test_solve_certifies(kit, name):
    problem = setting(kit, name).problem
    r = solve(problem, tol=1e-3, smoothing="decreasing")
    assert r.certificate.status is Status.CERTIFIED
    assert r.certificate.primal == pytest.approx(problem.primal(r.w), rel=1e-12)
    assert r.certificate.dual == pytest.approx(problem.dual(r.certificate.alpha), rel=1e-12)
    other = solve(problem, tol=1e-4)
    assert other.certificate.dual <= r.certificate.primal <= other.certificate.primal * (1 + 2e-3) + 1e-12


def test_a_geometry_without_a_dual_norm_uses_the_proven_bound(kit):
    """What is not known is not guessed: the search for N ends at the bound, and the run is certified all the same."""

    class Plain(Euclidean):
        dual_norm = Geometry.dual_norm

    X, y, _ = kit.draw(seed=31)
    problem = Problem(Hinge(y), X, L2(0.5), geometry=Plain())
    saddle = Saddle(problem, np.zeros(6), problem.loss.start())
    state = ExcessiveGap().step(saddle, ExcessiveGap().init(saddle))
    assert saddle.coupling == state.N
    assert solve(problem, tol=1e-2, smoothing="decreasing").certificate.status is Status.CERTIFIED


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
def test_e25_the_dual_scheme_needs_no_smooth_g(kit, method):
    """Printed: it does. True: g has only to be simple, for it goes into Ψ; a curved g even makes it linear."""
    problem = setting(kit, "logistic-ridge").problem
    at = [problem.loss.conjugate(np.full(40, h / 40)) for h in (1e-3, 1e-6, 1e-9, 1e-12)]
    slopes = [(at[i] - at[i + 1]) / (1e-3 / 1e3**i) for i in range(3)]
    assert slopes[2] < slopes[1] - 6 < slopes[0] - 12  # no bound: g is steeper the closer to the boundary
    view = DualView(problem)
    assert view.lam2 == 4.0
    state = kit.trajectory(view, method(adaptive=False), 150)[-1]
    assert problem.primal(state.minorant.witness) - problem.dual(state.x.x) <= 1e-13


def test_e25_through_solve(kit):
    problem = setting(kit, "logistic-ridge").problem
    r = solve(problem, tol=1e-12, smoothing="none")
    assert r.certificate.status is Status.CERTIFIED
    with pytest.raises(InputError, match="strongly convex regularizer"):
        solve(setting(kit, "logistic-simplex").problem, smoothing="none")

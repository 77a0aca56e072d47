"""The excessive gap technique begins at a center: what a good one saves, alone (E26) and through `solve`; and the dual
scheme where g is curved and not smooth (E25).
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import pytest

from minorant import InputError, Problem, Status, solve
from minorant.geometry import Euclidean, Geometry
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.solvers import AgmInf, AgmOne, ExcessiveGap
from minorant.solvers.saddle import Saddle
from minorant.views import DualView


@pytest.mark.parametrize("adaptive", [False, True])
def test_dual_error_is_bounded_by_the_distance_of_the_center(setting, adaptive):
    """D* - D(α_k) ≤ mu_k Δ(α*, α_c), for every center."""
    problem = setting("ridge-bias-weights").problem
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
def test_e26_a_warm_start_is_a_center(setting, name):
    """Printed: the technique starts where it must. True: centered at a good pair, it begins as good as that pair."""
    problem = setting(name).problem
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
def test_beginning_anew_saves_most_steps(setting, name):
    """J is sharp: with the center moved to the best pair whenever the gap has halved, convergence is linear."""
    problem = setting(name).problem
    few = solve(problem, tol=1e-3, smoothing="decreasing")
    assert few.certificate.status is Status.CERTIFIED
    plain = ExcessiveGap(restart=False)
    many = solve(problem, tol=1e-3, smoothing="decreasing", solver=plain, max_iter=2 * few.n_iter)
    assert many.certificate.status is Status.MAX_ITER
    far = solve(problem, tol=1e-6, smoothing="decreasing")
    assert far.certificate.status is Status.CERTIFIED
    assert far.n_iter < 10 * few.n_iter  # like 1/k it would be a thousand times as many


def test_solve_certifies(setting, name):
    problem = setting(name).problem
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
def test_e25_the_dual_scheme_needs_no_smooth_g(kit, setting, method):
    """Printed: it does. True: g has only to be simple, for it goes into Ψ; a curved g even makes it linear."""
    problem = setting("logistic-ridge").problem
    at = [problem.loss.conjugate(np.full(40, h / 40)) for h in (1e-3, 1e-6, 1e-9, 1e-12)]
    slopes = [(at[i] - at[i + 1]) / (1e-3 / 1e3**i) for i in range(3)]
    assert slopes[2] < slopes[1] - 6 < slopes[0] - 12  # no bound: g is steeper the closer to the boundary
    view = DualView(problem)
    assert view.lam2 == 4.0
    state = kit.trajectory(view, method(adaptive=False), 150)[-1]
    assert problem.primal(state.minorant.witness) - problem.dual(state.x.x) <= 1e-13


def test_e25_through_solve(setting):
    problem = setting("logistic-ridge").problem
    r = solve(problem, tol=1e-12, smoothing="none")
    assert r.certificate.status is Status.CERTIFIED
    with pytest.raises(InputError, match="strongly convex regularizer"):
        solve(setting("logistic-simplex").problem, smoothing="none")

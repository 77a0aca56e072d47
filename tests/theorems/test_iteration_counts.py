"""Theorems smooth_primal and smooth_dual, and the count without smoothing, on the SVM with bias.

So many iterations, known beforehand, give a 2 eps-solution, and without smoothing a gap of eps.

mu = eps/D. Primal, with Δ* = Δ(w*, x₀):
    k ≥ min{ √(4 D‖A‖²Δ*/(σ₁σ₂))/eps - 1,  1 + ½ ln(D‖A‖²Δ*/(σ₁σ₂ eps²)) / ln(1 + √(σ₁σ₂ λ eps/(4D‖A‖²))) }
Dual, with M = max over Q of Δ(·, α₀) and L_f = ‖A‖²/(λσ₁):
    k ≥ min{ √(4 M L_f/(σ₂ eps)) - 1,  1 + ½ ln(M L_f/(σ₂ eps)) / ln(1 + √(σ₂ eps/(4 D L_f))) }
None:
    k ≥ √(4 M L_f/(σ₂ eps)) - 1, which is 2R/√(λ eps) - 1 with the printed bounds M ≤ 1/n and ‖A‖² ≤ n R² (E22)
The printed counts have another factor 4 inside the logarithms, which is not needed (E24).
"""

from __future__ import annotations

from math import ceil, log, log1p, sqrt

import numpy as np
import pytest

from minorant import Problem, solve
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.solvers import AgmInf, AgmOne
from minorant.views import DualView, PrimalView


def problem_of(kit, lam, seed):
    X, y, _ = kit.draw(seed=seed)
    return Problem(Hinge(y), X, L2(lam))


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
@pytest.mark.parametrize(("lam", "eps"), [(1.0, 0.1), (1.0, 3e-3), (0.05, 0.1), (0.05, 0.02)])
def test_primal(kit, method, lam, eps):
    problem = problem_of(kit, lam, seed=21)
    best = solve(problem, tol=1e-5)
    D, A2, distance = problem.loss.radius, problem.norm**2, 0.5 * float(best.w @ best.w)
    sublinear = sqrt(4 * D * A2 * distance) / eps - 1
    linear = 1 + 0.5 * log(D * A2 * distance / eps**2) / log1p(sqrt(lam * eps / (4 * D * A2)))
    printed = 1 + 0.5 * log(4 * D * A2 * distance / eps**2) / log1p(sqrt(lam * eps / (4 * D * A2)))
    assert linear < printed
    k = max(1, ceil(min(sublinear, linear)))
    state = kit.trajectory(PrimalView(problem, eps / D), method(adaptive=False), k)[k]
    assert problem.primal(state.x.x) - best.certificate.dual <= 2 * eps + best.certificate.gap
    assert k < 4000


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
@pytest.mark.parametrize(("lam", "eps"), [(1.0, 0.1), (1.0, 3e-3), (0.05, 0.1), (0.05, 0.02)])
def test_through_solve(kit, method, lam, eps):
    """`solve(mu=eps/D)` is the scheme of the theorem: stopped at its count, it is within 2 eps of the minimum."""
    problem = problem_of(kit, lam, seed=21)
    best = solve(problem, tol=1e-5)
    D, A2, distance = problem.loss.radius, problem.norm**2, 0.5 * float(best.w @ best.w)
    sublinear = sqrt(4 * D * A2 * distance) / eps - 1
    linear = 1 + 0.5 * log(D * A2 * distance / eps**2) / log1p(sqrt(lam * eps / (4 * D * A2)))
    k = max(1, ceil(min(sublinear, linear)))
    options = {"smoothing": "primal", "solver": method(adaptive=False), "mu": eps / D, "tol": 0.0}
    r = solve(problem, max_iter=k, **options)
    assert r.certificate.primal - best.certificate.dual <= 2 * eps + best.certificate.gap
    assert {(row.mu, row.L) for row in r.trace} == {(eps / D, PrimalView(problem, eps / D).lipschitz)}
    state = kit.trajectory(PrimalView(problem, eps / D), method(adaptive=False), r.n_iter)[-1]
    assert r.certificate.primal <= problem.primal(state.x.x) * (1 + 1e-12)


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
@pytest.mark.parametrize(("lam", "eps"), [(1.0, 0.1), (1.0, 1e-4), (0.05, 0.1), (0.05, 1e-3)])
def test_dual(kit, method, lam, eps):
    problem = problem_of(kit, lam, seed=22)
    D = M = problem.loss.radius
    Lf = problem.norm**2 / lam
    sublinear = sqrt(4 * M * Lf / eps) - 1
    linear = 1 + 0.5 * log(M * Lf / eps) / log1p(sqrt(eps / (4 * D * Lf)))
    k = max(1, ceil(min(sublinear, linear)))
    view = DualView(problem, eps / D)
    assert view.lipschitz == pytest.approx(Lf)
    state = kit.trajectory(view, method(adaptive=False), k)[k]
    w, alpha = state.minorant.witness, state.x.x
    smooth = problem.regularizer.value(w) + problem.loss.smoothed(problem.A @ w, view.mu).value
    r = solve(problem, smoothing="dual", solver=method(adaptive=False), mu=eps / D, tol=0.0, max_iter=k)
    assert r.certificate.gap <= 2 * eps + 1e-12
    assert smooth - (problem.dual(alpha) - view.mu * problem.loss.prox(alpha)) <= eps + 1e-12
    assert problem.primal(w) - problem.dual(alpha) <= 2 * eps + 1e-12
    assert k < 4000


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
@pytest.mark.parametrize(("lam", "eps"), [(1.0, 0.1), (1.0, 1e-3), (0.05, 0.1), (0.05, 1e-3)])
def test_none(kit, method, lam, eps):
    problem = problem_of(kit, lam, seed=23)
    Lf = problem.norm**2 / lam
    k = max(1, ceil(sqrt(4 * problem.loss.radius * Lf / eps) - 1))
    X, _, _ = kit.draw(seed=23)
    printed = ceil(2 * float(np.sqrt((X**2).sum(axis=1)).max()) / sqrt(lam * eps) - 1)
    assert k <= printed < 4000
    state = kit.trajectory(DualView(problem), method(adaptive=False), k)[k]
    assert problem.primal(state.minorant.witness) - problem.dual(state.x.x) <= eps + 1e-12
    r = solve(problem, smoothing="none", solver=method(adaptive=False), tol=0.0, max_iter=k)
    assert r.certificate.gap <= eps + 1e-12
    assert {row.mu for row in r.trace} == {0.0}

"""Theorem inf_mem_rate_conv and its 1-memory twin: J(x_k) - J(x) ≤ ρ_k Δ(x, x₀) for every x, with either memory.

With fixed L this is at most  Δ(x, x₀)·min{4L/(σ(k+1)²), (L/σ - λ₁)(1 + √(σλ/4L))^(2-2k)},  and for the 1-memory
indexing  (L/σ - λ₁) Δ(x, x₀)·min{(1 - √(λ/L'))^(k-1), 4/(k+1)²}.
"""

from __future__ import annotations

from math import sqrt

import pytest

from minorant.solvers import AgmInf, AgmOne


def test_every_point_bounds_the_error(run):
    for x in [run.minimizer, *run.feasible(5)]:
        J, distance = run.objective(x), run.divergence(x, run.states[0].start)
        for k, state in run.steps:
            assert run.values[k - 1] - J <= state.rho * distance + 1e-13 * run.scale, f"iteration {k}"


def test_printed_rates(fixed_run):
    run, view = fixed_run, fixed_run.view
    sigma, L, lam = view.geometry.sigma, view.lipschitz, fixed_run.lam
    J, distance = run.objective(run.minimizer), run.divergence(run.minimizer, run.states[0].start)
    first = L / sigma - view.lam1
    for k, _state in run.steps:
        rates = (
            4 * L / (sigma * (k + 1) ** 2),
            first * (1 + sqrt(sigma * lam / (4 * L))) ** (2 - 2 * k),
            first * (1 - sqrt(lam / (L / sigma + view.lam2))) ** (k - 1),
            first * 4 / (k + 1) ** 2,
        )
        assert run.values[k - 1] - J <= min(rates) * distance + 1e-13 * run.scale, f"iteration {k}"


@pytest.mark.parametrize("name", ["ridge-bias-weights", "kl-bias", "quadratic-ridge"])
@pytest.mark.parametrize("memory", ["inf", "1"])
def test_strong_convexity_makes_it_linear(kit, name, memory):
    """The bound alone promises a factor; the error must actually be that small, and not just the bound."""
    view = kit.view(name)
    states = kit.trajectory(view, {"inf": AgmInf, "1": AgmOne}[memory](adaptive=False), 400)
    run = kit.Run(view, states, memory)
    J = run.objective(run.minimizer)
    rate = 1 - sqrt(run.lam / (view.lipschitz / view.geometry.sigma + view.lam2))
    allowed = states[1].rho * run.divergence(run.minimizer, states[0].start) * rate**399
    assert run.values[399] - J <= allowed + 1e-14 * run.scale
    assert allowed < 1e-2

"""Lemmas inf_mem_recur and one_mem_fleq: J(x_k) ≤ q_k*, the minimum of the k-th estimate function, at every k.

And lemma one_mem_qx: q_{k+1}(x) - J(x) ≤ (1 - θ)(q_k(x) - J(x)) for every x of the domain; lemma one_mem_q_k_approx:
q_k(x) ≤ ρ_k Δ(x, x₀) + Ψ(x) + the average of all linearizations (printed with L/σ b_k(0) for ρ_k: E14).
"""

from __future__ import annotations


def test_estimate_sequence(run):
    for k, (J, minimum) in enumerate(zip(run.values, run.model_minima, strict=True), 1):
        assert minimum + 1e-13 * run.scale >= J, f"iteration {k}"


def test_the_minimizer_of_the_model_minimizes_it(run):
    """q_k is ρ_k + λ strongly convex with respect to d around z_k, so z_k must beat every x by that much."""
    points = [*run.feasible(4), run.minimizer]
    for (k, state), minimum in list(zip(run.steps, run.model_minima, strict=True))[::9]:
        if run.memory == "1" and k > 1:
            continue
        for x in points:
            model = state.rho * run.divergence(x, state.start) + state.minorant(x)
            margin = (state.rho + run.lam) * run.divergence(x, state.z)
            assert model >= minimum + margin - 1e-11 * (run.scale + margin), f"iteration {k}"


def test_one_memory_models_shrink_toward_the_objective(run):
    """For ∞-memory the same with the model itself, whose Ψ is not compressed."""
    points = [*run.feasible(4), run.minimizer]
    for x in points:
        J = run.objective(x)
        excess = None
        for (k, state), minimum in zip(run.steps, run.model_minima, strict=True):
            if run.memory == "1":
                value = (state.rho + run.lam) * run.divergence(x, state.z) + minimum
            else:
                value = state.rho * run.divergence(x, state.start) + state.minorant(x)
            if excess is not None:
                noise = 1e-12 * (run.scale + abs(value))
                assert value - J <= (1 - state.theta) * excess + noise, f"iteration {k}"
            excess = value - J


def test_one_memory_models_lie_below_what_infinite_memory_would_keep(run):
    for x in [*run.feasible(4), run.minimizer]:
        for (k, state), minimum in zip(run.steps, run.model_minima, strict=True):
            kept = state.rho * run.divergence(x, state.start) + state.minorant(x)
            model = minimum + (state.rho + run.lam) * run.divergence(x, state.z)
            assert model <= kept + 1e-11 * (run.scale + abs(kept)), f"iteration {k}"

"""Lemmas inf_mem_Ak, inf_mem_Ak_adapt, one_mem_ck and one_mem_ck_adapt: how fast A_k = 1/ρ_k must grow.

Fixed L, k ≥ 1:    A_k ≥ σ/(4L) (k+1)²,   A_k ≥ σ/(L - σλ₁) (1 + √(σλ/4L))^(2k-2),
                   A_k ≥ σ/(L - σλ₁) max{(1 - √(λ/L'))^(1-k), (k+1)²/4}
Adaptive, L_i:     A_k ≥ σ/(L₁ - σλ₁) Π_{i=2..k} (1 + √(σλ/4L_i))²        (the 4 is missing in print: E5)
                   A_k ≥ (σ/4)(2/√L₁ + Σ_{i=2..k} 1/√L_i)²,   A_k ≥ σ/(L₁ - σλ₁) Π_{i=2..k} (1 - √(λ/L'_i))^-1,
                   A_k ≥ σ/(L₁ - σλ₁) (L'₁/4)(2/√L'₁ + Σ_{i=2..k} 1/√L'_i)²
Each step:         A_{k+1}/A_k ≥ 1 + r,  r = (λ + √(λ² + λq))/q,  q = L/σ - λ₁.
"""

from __future__ import annotations

from math import sqrt

from minorant.solvers import AgmInf

ROUNDING = 1 - 1e-11


def test_fixed(fixed_run):
    run, view = fixed_run, fixed_run.view
    sigma, lam1, lam, L = view.geometry.sigma, view.lam1, run.lam, view.lipschitz
    first, strong = sigma / (L - sigma * lam1), L / sigma + view.lam2
    for k, state in run.steps:
        A = 1 / state.rho
        assert state.L == L
        assert sigma / (4 * L) * (k + 1) ** 2 * ROUNDING <= A
        assert first * (1 + sqrt(sigma * lam / (4 * L))) ** (2 * k - 2) * ROUNDING <= A
        assert first * (1 - sqrt(lam / strong)) ** (1 - k) * ROUNDING <= A
        assert first * (k + 1) ** 2 / 4 * ROUNDING <= A


def test_adaptive(run):
    view = run.view
    sigma, lam1, lam = view.geometry.sigma, view.lam1, run.lam
    product = sharp = sigma / (run.states[1].L - sigma * lam1)
    roots = 2 / sqrt(run.states[1].L)
    first, strong = product, run.states[1].L / sigma + view.lam2
    strong_roots = 2 / sqrt(strong)
    for k, state in run.steps:
        A, L = 1 / state.rho, state.L
        if k > 1:
            product *= (1 + sqrt(sigma * lam / (4 * L))) ** 2
            sharp /= 1 - sqrt(lam / (L / sigma + view.lam2))
            roots += 1 / sqrt(L)
            strong_roots += 1 / sqrt(L / sigma + view.lam2)
        assert product * ROUNDING <= A
        assert sharp * ROUNDING <= A
        assert sigma / 4 * roots**2 * ROUNDING <= A
        assert first * strong / 4 * strong_roots**2 * ROUNDING <= A


def test_ratio(run):
    view, lam = run.view, run.lam
    for old, new in zip(run.states[1:], run.states[2:], strict=False):
        q = new.L / view.geometry.sigma - view.lam1
        ratio = old.rho / new.rho
        assert ratio >= (1 + (lam + sqrt(lam * lam + lam * q)) / q) * ROUNDING


def test_coefficients_solve_the_printed_equation(run):
    """With a = A_{k+1} - A_k:  (a + A)(λ₁ a + λ A + 1) + a λ₂ A = (L/σ) a²,  and σ c_{k+1} = L' θ² σ."""
    view, lam = run.view, run.lam
    for old, new in zip(run.states[1:], run.states[2:], strict=False):
        A = 1 / old.rho
        a = A * new.theta / (1 - new.theta)
        left = (a + A) * (view.lam1 * a + lam * A + 1) + a * view.lam2 * A
        right = new.L / view.geometry.sigma * a * a
        assert abs(left - right) <= 1e-10 * right
        assert abs(1 / new.rho - (a + A)) <= 1e-12 / new.rho
        strong = (new.L / view.geometry.sigma + view.lam2) * new.theta**2
        assert abs(strong - (new.rho + lam)) <= 1e-12 * strong


def test_printed_adaptive_product_is_too_large(kit):
    """E5: without the 4 the product exceeds A_k, here by a factor of more than 100."""
    view = kit.view("ridge")
    states = kit.trajectory(view, AgmInf(), 200)
    sigma, lam = view.geometry.sigma, view.lam2
    printed = sigma / states[1].L
    worst = 0.0
    for state in states[2:]:
        printed *= (1 + sqrt(sigma * lam / state.L)) ** 2
        worst = max(worst, printed * state.rho)
    assert worst > 100

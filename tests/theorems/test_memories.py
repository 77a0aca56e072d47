"""The loop divided by A_k is the printed Algorithm 1 and the printed Algorithm 3, and where Ψ = λ₂ d + affine on dom d
the two memories are one method. The printed loops are transcribed here step by step, A_k and all.
"""

from __future__ import annotations

from math import isfinite, isnan, sqrt

import numpy as np
import pytest

from minorant.minorants import divergence_from
from minorant.solvers import AgmInf, AgmOne
from minorant.solvers.agm import coefficients


def gradient_d(view, point):
    return view.geometry.gradient(point.x) if point.mirror is None else point.mirror


def linearization(view, u):
    """f(u), ∇f(u)."""
    at = view.oracle(u.image)
    return at.value, view.slope(at.alpha)


def printed_algorithm_1(view, iterations):
    """Yields (A_k, x_k, z_k, u_k) for k = 1, 2, ...; comments are the printed step numbers."""
    sigma, lam1, lam2, L = view.geometry.sigma, view.lam1, view.lam2, view.lipschitz
    lam = lam1 + lam2
    x = z = x0 = view.point(view.start())  # 1
    A, G, S = 0.0, 0.0 * x0.x, 0.0 * x0.x  # 2, 3
    for _ in range(iterations):
        q, b = L / sigma - lam1, 1 + 2 * lam * A
        a = (b + sqrt(b * b + 4 * q * A * (1 + lam * A))) / (2 * q)  # 5
        A1 = A + a
        tau1, tau2, tau3 = 1 + lam * A, lam1 * a, lam2 * a * A / A1  # 6
        tau = tau1 + tau2 + tau3
        scale = 1 / (tau * A1 - tau2 * a)
        u = (scale * a * tau1) * z + (scale * (tau * A + tau3 * a)) * x  # 7
        _, g = linearization(view, u)
        G, S = G + a * g, S + a * gradient_d(view, u)  # 8
        z = view.point(*view.psi.argmin(G - gradient_d(view, x0) - lam1 * S, 1 + lam1 * A1, view.geometry, A1))  # 9
        x = (A / A1) * x + (a / A1) * z  # 10
        A = A1
        yield A, x, z, u


def printed_algorithm_3(view, iterations, *, compressed):
    """Yields (Π(1 - a_i), x_k, z_k, J(x_k), q_k(z_k)) for k = 0, 1, ...

    `compressed` replaces q_0 by c_0 Δ(·, z_0) + q_0(z_0), the form of all later q_k (E11); as printed, q_0 has Ψ in it.
    """
    sigma, lam1, lam2, L, d = view.geometry.sigma, view.lam1, view.lam2, view.lipschitz, view.geometry

    def delta(p, q):
        return d.divergence(p.x, q.x, q.mirror)

    def J(p):
        return view.oracle(p.image).value + view.psi.value(p.x)

    u0 = view.point(view.start())  # 1
    c = L / sigma + lam2  # 2
    f0, g0 = linearization(view, u0)
    z = view.point(*view.psi.argmin(g0 - (L / sigma) * gradient_d(view, u0), L / sigma, d, 1.0))  # 3, 4
    least = (L / sigma) * delta(z, u0) + view.psi.value(z.x) + f0 + float(g0 @ (z.x - u0.x))
    x, product = z, 1.0
    yield product, x, z, J(x), least
    for k in range(iterations):
        a = 2 * c / ((c - lam1 - lam2) + sqrt((c - lam1 - lam2) ** 2 + 4 * (L / sigma + lam2) * c))  # 6
        tau1, tau2, tau3 = (1 - a) * c, lam1 * a, lam2 * a * (1 - a)  # 7
        tau = tau1 + tau2 + tau3
        u = ((tau - (tau1 + tau2) * a) / (tau - tau2 * a)) * x + (tau1 * a / (tau - tau2 * a)) * z  # 8
        fu, g = linearization(view, u)
        if k == 0 and not compressed:  # 9, with q_0 as printed: the weight of Ψ is (1 - a) + a
            s = (1 - a) * (g0 - (L / sigma) * gradient_d(view, u0)) + a * (g - lam1 * gradient_d(view, u))
            new = view.point(*view.psi.argmin(s, (1 - a) * L / sigma + a * lam1, d, 1.0))
            old = (L / sigma) * delta(new, u0) + view.psi.value(new.x) + f0 + float(g0 @ (new.x - u0.x))
        else:
            s = a * (g - lam1 * gradient_d(view, u)) - (1 - a) * c * gradient_d(view, z)
            new = view.point(*view.psi.argmin(s, (1 - a) * c + a * lam1, d, a))  # 10
            old = least + c * delta(new, z)
        line = fu + float(g @ (new.x - u.x)) + lam1 * delta(new, u) + view.psi.value(new.x)
        least = (1 - a) * old + a * line
        z = new
        x = (1 - a) * x + a * z  # 11
        c = (1 - a) * c + (lam1 + lam2) * a  # 12
        product *= 1 - a
        yield product, x, z, J(x), least


PRIMAL = ["ridge", "ridge-bias-weights", "ridge-weighted-geometry", "simplex", "kl-bias", "box"]
QUADRATIC = ["quadratic-box", "quadratic-ridge"]
ONE_METHOD = ["ridge", "ridge-bias-weights", "simplex", "kl-bias", "quadratic-ridge"]  # Ψ = λ₂ d + affine on dom d


def close(p, q, tol=1e-10):
    return np.abs(p - q).max() <= tol * (1 + np.abs(q).max())


@pytest.mark.parametrize("name", PRIMAL + QUADRATIC)
def test_infinite_memory_is_the_printed_algorithm_1(kit, name):
    view = kit.view(name)
    states = kit.trajectory(view, AgmInf(adaptive=False), 50)
    for state, (A, x, z, u) in zip(states[1:], printed_algorithm_1(view, 50), strict=True):
        assert abs(A * state.rho - 1) <= 1e-12
        assert close(state.x.x, x.x)
        assert close(state.z.x, z.x)
        assert close(state.u.x, u.x)


@pytest.mark.parametrize("name", PRIMAL + QUADRATIC)
def test_one_memory_is_the_printed_algorithm_3(kit, name):
    """Its x_0 is our x_1; q_0 compressed, except where that changes nothing and the printed form is used as it is."""
    view = kit.view(name)
    states = kit.trajectory(view, AgmOne(adaptive=False), 50)
    printed = list(printed_algorithm_3(view, 49, compressed=name not in ONE_METHOD))
    for state, (product, x, z, _, _) in zip(states[1:], printed, strict=True):
        assert abs(state.rho / states[1].rho - product) <= 1e-12 * product
        assert close(state.x.x, x.x)
        assert close(state.z.x, z.x)


@pytest.mark.parametrize("name", PRIMAL + QUADRATIC)
@pytest.mark.parametrize("compressed", [False, True])
def test_both_forms_of_q0_keep_the_invariant(kit, name, compressed):
    """E10, E11: J(x_k) ≤ q_k(z_k) either way, and at k = 0 it is an inequality, not the printed equality."""
    rows = list(printed_algorithm_3(kit.view(name), 60, compressed=compressed))
    for _, _, _, J, least in rows:
        assert least + 1e-12 * (1 + abs(J)) >= J
    assert rows[0][4] > rows[0][3] + 1e-9


def test_printed_first_model_is_another_method(kit):
    """E11: as printed, iteration 1 keeps Ψ of q_0 and all later ones forget it: where Ψ is active, iterates differ."""
    base = kit.view("quadratic-box")
    view = kit.Quadratic(base.K, base.b, kit.Box(0.1))
    printed = [row[2].x for row in printed_algorithm_3(view, 3, compressed=False)]
    ours = [row[2].x for row in printed_algorithm_3(view, 3, compressed=True)]
    assert np.abs(printed[1] - ours[1]).max() > 1e-6


@pytest.mark.parametrize("name", ONE_METHOD)
def test_memories_agree(kit, name):
    """E12, E38: not only for affine Ψ; on the simplex because d is the entropy of the simplex, +∞ off it."""
    view = kit.view(name)
    one, all_ = (kit.trajectory(view, method(adaptive=False), 200) for method in (AgmOne, AgmInf))
    for s, t in zip(one[1:], all_[1:], strict=True):
        assert s.rho == t.rho
        assert close(s.x.x, t.x.x)
        assert close(s.z.x, t.z.x)


@pytest.mark.parametrize("name", ["box", "quadratic-box", "ridge-weighted-geometry"])
def test_memories_differ_elsewhere(kit, name):
    """E38: where dom d reaches beyond dom Ψ, or Ψ is no multiple of d, compressing the model changes the method."""
    view = kit.view(name)
    one, all_ = (kit.trajectory(view, method(adaptive=False), 60) for method in (AgmOne, AgmInf))
    assert max(np.abs(s.z.x - t.z.x).max() for s, t in zip(one, all_, strict=True)) > 1e-6


def well_conditioned(kit, ratio=10.0):
    """λ₁ = 0, L/(σλ) = ratio."""
    base = kit.view("quadratic-ridge")
    L2 = type(base.psi)
    return kit.Quadratic(base.K, base.b, L2(base.lipschitz / ratio), lam1=0.0)


@pytest.mark.parametrize("method", [AgmInf, AgmOne])
def test_no_overflow(kit, method):
    """A_k = e^{O(k)} overflows in the printed loop; ρ_k = 1/A_k underflows, and nothing happens."""
    view = well_conditioned(kit)
    state = kit.trajectory(view, method(adaptive=False), 5000)[-1]
    assert state.rho < 1e-300
    strong = view.lipschitz + view.lam2
    assert state.theta == pytest.approx(sqrt(view.lam2 / strong), rel=1e-14)
    for point in (state.x, state.z, state.u):
        assert np.isfinite(point.x).all()
    optimum = np.linalg.solve(view.K.T @ view.K + view.lam2 * np.eye(6), view.K.T @ view.b)
    assert np.abs(state.x.x - optimum).max() <= 1e-13
    assert np.abs(state.x.image - view.K @ state.x.x).max() <= 1e-12


def test_printed_recursion_overflows(kit):
    view = well_conditioned(kit)
    q, lam, A = view.lipschitz, view.lam2, 0.0
    steps = 0
    while isfinite(A) and not isnan(A):
        b = 1 + 2 * lam * A
        A += (b + sqrt(b * b + 4 * q * A * (1 + lam * A))) / (2 * q)
        steps += 1
    assert steps < 1500


def test_coefficients_stay_in_range(kit):
    """0 < θ ≤ 1, ρ falls, and the weight of z keeps u between x and z, for any L and at ρ = 0."""
    view = well_conditioned(kit)
    for L in np.geomspace(1e-3, 1e6, 19):
        for rho in [0.0, 5e-324, *np.geomspace(1e-300, 1e12, 40)]:
            theta, new, weight = coefficients(view, rho, L)
            assert 0 < theta <= 1
            assert 0 <= new <= rho
            assert 0 <= weight <= 1


def test_model_of_a_divergence(kit):
    """divergence_from(y) is Δ(·, y) as a minorant: same values, minimum 0 at y."""
    for name in ("ridge", "kl-bias", "ridge-weighted-geometry"):
        view = kit.view(name)
        y = view.point(kit.feasible(view, 1, seed=3)[0])
        for x in kit.feasible(view, 5, seed=4):
            exact = view.geometry.divergence(x, y.x)
            assert divergence_from(view, y)(x) == pytest.approx(exact, rel=1e-12, abs=1e-13)

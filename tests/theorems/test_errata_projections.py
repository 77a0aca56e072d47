"""Counterexamples to what is printed about the projection onto the elastic-net ball, and their cure."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from minorant.kernels import project_elastic_net_ball


def elastic_net(w, gamma):
    return gamma * float(np.abs(w).sum()) + 0.5 * float(np.square(w).sum())


def elastic_net_shrink(g, gamma, lam):
    return np.maximum(g - lam * gamma, 0.0) / (1 + lam)


def elastic_net_center(rng):
    return np.abs(rng.standard_normal(8)) + 0.5, float(rng.choice([0.2, 0.5, 3.0]))


def test_e33_the_bound_of_the_elastic_net_is_not_its_multiplier():
    g, r, gamma = np.array([3.0, 1.0]), 1.5, 1.0
    x, lam = project_elastic_net_ball(g, r, gamma)
    assert elastic_net(x, gamma) == pytest.approx(r, rel=1e-14)
    assert abs(elastic_net(x, gamma) - lam) > 0.4


def test_e34_the_printed_threshold_misses_the_elastic_net_ball():
    """The root of h with the printed -2γr(λ + 1)²: its point is off the boundary by what γ is off 1."""
    rng = np.random.default_rng(34)
    for _ in range(40):
        g, gamma = elastic_net_center(rng)
        r = 0.3 * elastic_net(g, gamma)

        def h(lam, bound, g=g, gamma=gamma):  # bound: what stands for r
            terms = np.where(lam * gamma <= g, (gamma + g) ** 2 - gamma**2 * (lam + 1) ** 2, 0.0)
            return float(terms.sum()) - 2 * bound * (lam + 1) ** 2

        printed = brentq(h, 0.0, 1e6, (gamma * r,), xtol=1e-14) if h(0.0, gamma * r) > 0 else 0.0
        corrected = brentq(h, 0.0, 1e6, (r,), xtol=1e-14)
        assert abs(elastic_net(elastic_net_shrink(g, gamma, printed), gamma) - r) > 0.2 * r
        assert elastic_net(elastic_net_shrink(g, gamma, corrected), gamma) == pytest.approx(r, rel=1e-12)
        x, lam = project_elastic_net_ball(g, r, gamma)
        assert lam == pytest.approx(corrected, rel=1e-12)
        np.testing.assert_allclose(x, elastic_net_shrink(g, gamma, lam), atol=1e-14)
        active = x > 0
        total, m = float(((gamma + g[active]) ** 2).sum()), int(active.sum())
        assert lam == pytest.approx(sqrt(total / (2 * r + m * gamma**2)) - 1, rel=1e-12)


def test_e34_the_printed_test_for_the_elastic_net_ball_is_wrong():
    """r ≥ -pγ/2 + Σ (γ + g_i)²/(2γ) calls points outside that are inside (γ < 1), and inside that are outside."""
    rng, wrong = np.random.default_rng(35), set()
    for _ in range(200):
        g, gamma = elastic_net_center(rng)
        r = float(rng.uniform(0.5, 2.0)) * elastic_net(g, gamma)
        inside = elastic_net(g, gamma) <= r
        printed = r >= -g.size * gamma / 2 + float(((gamma + g) ** 2).sum()) / (2 * gamma)
        assert (project_elastic_net_ball(g, r, gamma).multiplier == 0) == inside
        if printed != inside:
            wrong.add((printed, gamma < 1))
    assert wrong == {(False, True), (True, False)}


def test_e34_derivative_of_the_dual_function():
    """H' by differences: it has 2 g_i γ where 2 g_i λ is printed, and -r where -rγ is."""
    rng, lam, step = np.random.default_rng(36), 0.4, 1e-5
    for _ in range(20):
        g, gamma = elastic_net_center(rng)
        r = 0.3 * elastic_net(g, gamma)

        def H(lam, g=g, gamma=gamma, r=r):
            w = elastic_net_shrink(g, gamma, lam)
            return 0.5 * float(np.square(w - g).sum()) + lam * (elastic_net(w, gamma) - r)

        def slope(bound, cross, g=g, gamma=gamma):
            terms = (-(gamma**2) * lam**2 - 2 * gamma**2 * lam + 2 * g * cross + g**2) / (2 * (lam + 1) ** 2)
            return -bound + float(terms[lam * gamma <= g].sum())

        difference = (H(lam + step) - H(lam - step)) / (2 * step)
        assert slope(r, gamma) == pytest.approx(difference, rel=1e-6, abs=1e-6)
        assert abs(slope(r * gamma, lam) - difference) > 1e-2

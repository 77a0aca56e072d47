"""Errata of the regularizers: what the paper prints is wrong, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

from minorant.errors import InputError
from minorant.geometry import Euclidean
from minorant.kernels import entropic_capped_simplex
from minorant.regularizers import ElasticNet, Entropy, LogDet


def test_e2_log_det_is_strongly_convex_only_below_a_bound():
    """Δ(X, Y) / ½‖X - Y‖² falls like 1/β² as the matrices grow; λ/upper² is the modulus, and it is attained."""
    step = np.diag([1e-3, 0.0, 0.0])

    def modulus(beta):
        X, Y = beta * np.eye(3), beta * np.eye(3) - step
        inverse = np.linalg.inv(Y)
        rise = np.linalg.slogdet(Y)[1] - np.linalg.slogdet(X)[1] + np.sum(inverse * (X - Y))
        return rise / (0.5 * np.sum(step**2))

    for beta in (0.5, 2.0, 10.0):
        claimed = LogDet(1.0, 3, beta).strong_convexity(Euclidean())
        assert claimed == pytest.approx(1 / beta**2)
        assert claimed <= modulus(beta) * (1 + 1e-6)
        assert claimed == pytest.approx(modulus(beta), rel=5e-3)
    assert modulus(30.0) < 1e-2 * modulus(1.0)  # none that would do for all


def test_e20_conjugate_of_the_capped_entropy_has_a_plus():
    """Ω*(v) = +min over β ≥ 0 of λ log Σ w⁰ exp((v - β)/λ) + ν Σ β, for caps ν from 1/n on."""
    rng, n, lam, cap = np.random.default_rng(0), 6, 0.3, 0.25
    prior = rng.dirichlet(np.ones(n))
    reg = Entropy(lam, prior, cap)

    def bound(v, beta):
        return lam * np.log(np.sum(prior * np.exp((v - beta) / lam))) + cap * beta.sum()

    for _ in range(20):
        v = 2 * rng.standard_normal(n)
        tilted = np.log(prior) + v / lam
        log_w = entropic_capped_simplex(tilted, cap).log_x
        excess = tilted - log_w  # equal where the cap does not bind, larger where it does
        best = bound(v, lam * (excess - excess.min()))
        assert reg.conjugate(v) == pytest.approx(best, rel=1e-12)
        assert all(bound(v, rng.exponential(size=n)) >= best for _ in range(20))
        assert abs(reg.conjugate(v) + best) > 1e-3
    with pytest.raises(InputError, match="at least 1/6"):
        Entropy(lam, prior, 0.1).start(n)


def test_e27_elastic_net_for_either_sign():
    """[L g - λγ]_+ / (L + λ) minimizes (L/2)(w - g)² + λ(γ|w| + ½w²) for g ≥ 0, and not for g < -λγ/L."""
    L, lam, gamma = 3.0, 0.8, 0.5
    reg = ElasticNet(lam, gamma)

    def objective(w, g):
        return 0.5 * L * float((w - g) ** 2) + reg.value(np.atleast_1d(w))

    grid = np.linspace(-3, 3, 6001)
    for g in (-2.0, -0.4, -0.05, 0.05, 1.5):
        w = float(reg.argmin(np.array([-L * g]), L, Euclidean())[0][0])
        printed = max(L * g - lam * gamma, 0.0) / (L + lam)
        assert objective(w, g) <= min(objective(x, g) for x in grid) + 1e-15
        assert w == pytest.approx(np.sign(g) * max(L * abs(g) - lam * gamma, 0.0) / (L + lam))
        assert (objective(printed, g) > objective(w, g) + 0.01) == (g < -lam * gamma / L)

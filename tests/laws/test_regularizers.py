"""The laws of a regularizer: Fenchel-Young, the closed-form argmin, strong convexity, divergence of the conjugate."""

from __future__ import annotations

import numpy as np
import pytest

from minorant.errors import UnsupportedPair
from minorant.geometry import Entropy, Euclidean, Geometry


def points(case, count, seed=0):
    rng = np.random.default_rng(seed)
    return [case.draw(rng) for _ in range(count)]


def slopes(count, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(7) * rng.choice([0.01, 1.0, 10.0]) for _ in range(count)]


def test_fenchel_young(regularizer_case):
    """Ω(w) + Ω*(v) ≥ ⟨v, w⟩ with equality at the maximizer."""
    reg = regularizer_case.it
    for v in slopes(20):
        star = reg.conjugate(v)
        for w in points(regularizer_case, 10):
            scale = 1 + abs(star) + abs(reg.value(w)) + abs(float(v @ w))
            assert reg.value(w) + star >= float(v @ w) - 1e-12 * scale
        best = reg.maximizer(v)
        scale = 1 + abs(star) + abs(float(v @ best))
        assert reg.value(best) + star == pytest.approx(float(v @ best), abs=1e-12 * scale)


def test_gradient_of_the_conjugate(regularizer_case):
    reg, rng, h = regularizer_case.it, np.random.default_rng(2), 1e-6
    for v in slopes(20):
        if np.ptp(np.sort(v)[-2:]) < 1e-3:  # max is not differentiable at a tie
            continue
        e = rng.standard_normal(7)
        slope = (reg.conjugate(v + h * e) - reg.conjugate(v - h * e)) / (2 * h)
        assert slope == pytest.approx(float(reg.maximizer(v) @ e), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("weight", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("t", [1e-3, 0.5, 20.0])
def test_argmin_beats_random_points(regularizer_case, t, weight):
    """By t + weight·λ times the divergence, for that is how strongly convex the function is."""
    reg = regularizer_case.it
    for d in regularizer_case.geometries:
        lam = reg.strong_convexity(d)

        def function(x, s, d=d):
            return float(s @ x) + t * d.value(x) + weight * reg.value(x)

        for s in slopes(10):
            x, mirror = reg.argmin(s, t, d, weight)
            gradient = d.gradient(x)
            seen = x > 1e-290  # beyond, the mirror knows what x has forgotten
            assert np.allclose(mirror[seen], gradient[seen], rtol=1e-9, atol=1e-9)
            for y in points(regularizer_case, 10):
                margin = (t + weight * lam) * d.divergence(y, x, mirror)
                scale = 1 + abs(function(y, s)) + abs(function(x, s)) + margin
                assert function(y, s) >= function(x, s) + margin - 1e-11 * scale


def test_strong_convexity(regularizer_case):
    """Ω(x) ≥ Ω(y) + ⟨g, x - y⟩ + λ Δ(x, y), with g the subgradient that makes y = ∇Ω*(g); λ cannot be larger."""
    reg = regularizer_case.it
    for d in regularizer_case.geometries:
        lam, tight = reg.strong_convexity(d), np.inf
        for v in slopes(30):
            y = reg.maximizer(v)
            for x in points(regularizer_case, 10) + [y + 30 * e for e in np.eye(7) if not isinstance(d, Entropy)]:
                left = reg.value(x) - reg.value(y) - float(v @ (x - y))
                right = lam * d.divergence(x, y)
                scale = 1 + abs(reg.value(x)) + abs(reg.value(y)) + abs(float(v @ (x - y)))
                assert left >= right - 1e-11 * scale
                if right > 1e-6 * scale:
                    tight = min(tight, left / right)
        assert lam == 0 or tight == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("distance", [2.0, 1e-3, 1e-6, 1e-9])
def test_divergence_of_the_conjugate(regularizer_case, distance):
    """Within rounding of the true value, from extended precision; never above it by more than rounding of p - q."""
    reg, rng, L = regularizer_case.it, np.random.default_rng(3), np.longdouble
    for q in slopes(6):
        p = q + distance * rng.standard_normal(7)
        if type(reg).__name__ == "L2":
            true = float(((p.astype(L) - q.astype(L)) ** 2).sum() / (2 * L(reg.lam)))
            tolerance = 1e-14 * true
        else:
            true, tolerance = _entropy_divergence(reg, p.astype(L), q.astype(L)), 0.0
            tolerance = 120 * np.finfo(float).eps * (abs(reg.conjugate(p)) + abs(reg.conjugate(q)) + distance)
        value = reg.conjugate_divergence(p, q)
        assert abs(value - true) <= tolerance + 1e-14 * true


def _entropy_divergence(reg, p, q):
    prior = np.full(7, 1 / 7) if reg.prior is None else reg.prior

    def conjugate(v):
        top = v.max()
        return top if reg.lam == 0 else top + reg.lam * np.log((prior * np.exp((v - top) / reg.lam)).sum())

    weights = prior * np.exp((q - q.max()) / reg.lam) if reg.lam else (q == q.max()).astype(np.longdouble)
    weights = weights / weights.sum()
    return float(conjugate(p) - conjugate(q) - weights @ (p - q))


def test_divergence_of_equal_points_is_not_positive(regularizer_case):
    for q in slopes(10):
        assert regularizer_case.it.conjugate_divergence(q, q) <= 0.0


def test_domain(regularizer_case):
    reg = regularizer_case.it
    start = reg.start(7)
    assert np.isfinite(reg.value(start))
    for w in points(regularizer_case, 10):
        assert np.isfinite(reg.value(w))
        assert np.isfinite(reg.value(0.5 * (w + start)))


def test_unsupported_geometry_says_what_works(regularizer_case):
    class Odd(Geometry):
        def value(self, x):
            return 0.0

        def gradient(self, x):
            return x

        def norm(self, v):
            return 0.0

        def divergence(self, x, y, mirror=None):
            return 0.0

    reg = regularizer_case.it
    known = {type(d) for d in regularizer_case.geometries}
    assert known == set(reg.geometries)
    for bad in [Odd(), *(d for d in (Euclidean(), Entropy(), Entropy(2.0)) if type(d) not in known)]:
        for call in (lambda bad=bad: reg.argmin(np.ones(7), 1.0, bad), lambda bad=bad: reg.strong_convexity(bad)):
            with pytest.raises(UnsupportedPair, match="works with") as caught:
                call()
            assert all(cls.__name__ in str(caught.value) for cls in reg.geometries)

"""The laws of a regularizer: Fenchel-Young, the closed-form argmin, strong convexity, divergence of the conjugate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import Entropy, Euclidean, Geometry
from minorant.regularizers import Regularizer


def points(case, count, seed=0):
    rng = np.random.default_rng(seed)
    return [case.draw(rng) for _ in range(count)]


def slopes(case, count, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(case.size) * rng.choice([0.01, 1.0, 10.0]) for _ in range(count)]


def inside(reg, v, fraction=0.9):
    """v, shrunk into the interior of the domain of Ω* where that is bounded."""
    return v * min(1.0, fraction * reg.dual_scale(v))


def test_fenchel_young(regularizer_case):
    """Ω(w) + Ω*(v) ≥ ⟨v, w⟩ with equality at the maximizer; where Ω* is infinite it says so."""
    reg = regularizer_case.it
    for outside in slopes(regularizer_case, 20):
        v = inside(reg, outside)
        if reg.conjugate(outside) == np.inf:
            with pytest.raises(InputError, match="no maximizer"):
                reg.maximizer(outside)
        star = reg.conjugate(v)
        for w in points(regularizer_case, 10):
            scale = 1 + abs(star) + abs(reg.value(w)) + abs(float(v @ w))
            assert reg.value(w) + star >= float(v @ w) - 1e-12 * scale
        best = reg.maximizer(v)
        scale = 1 + abs(star) + abs(float(v @ best))
        assert reg.value(best) + star == pytest.approx(float(v @ best), abs=1e-12 * scale)


def test_dual_scale_is_where_the_conjugate_ends(regularizer_case):
    """Ω* is finite up to dual_scale·v, rounding included, and beyond it there are w that no value of Ω* allows for."""
    reg = regularizer_case.it
    for v in slopes(regularizer_case, 20):
        s = reg.dual_scale(v)
        if s == np.inf:
            assert all(np.isfinite(reg.conjugate(k * v)) for k in (0.0, 1.0, 1e6))
            continue
        assert np.isfinite(reg.conjugate(s * v))
        assert reg.conjugate(1.000001 * s * v) == np.inf
        w, _ = reg.argmin(-1.1 * s * v, 1e-3, Euclidean())
        assert float(1.1 * s * v @ w) > reg.value(w)
        assert float(s * v @ w) <= reg.value(w) * (1 + 1e-12)


def test_gradient_of_the_conjugate(regularizer_case):
    """The maximizer is a subgradient: its slope lies between those to the left and to the right."""
    reg, rng, h = regularizer_case.it, np.random.default_rng(2), 1e-6
    for v in (inside(reg, v) for v in slopes(regularizer_case, 20)):
        e = rng.standard_normal(v.size) * min(1.0, float(np.abs(v).max()))
        left, right = ((reg.conjugate(v + k * e) - reg.conjugate(v)) / k for k in (-h, h))
        tolerance = 1e-9 + 1e-15 * abs(reg.conjugate(v)) / h
        slope = float(reg.maximizer(v) @ e)
        assert left - tolerance <= slope <= right + tolerance
        if np.ptp(np.sort(v)[-2:]) > 1e-3:  # no tie of the largest: differentiable, but for kinks nowhere near v
            assert right - left <= 1e-3 * (1 + abs(slope)) or type(reg).__name__ not in ("L2", "Entropy", "ElasticNet")


@pytest.mark.parametrize("weight", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("t", [1e-3, 0.5, 20.0])
def test_argmin_beats_random_points(regularizer_case, t, weight):
    """By t + weight·λ times the divergence, for that is how strongly convex the function is."""
    reg = regularizer_case.it
    for d in regularizer_case.geometries:
        lam = reg.strong_convexity(d)

        def function(x, s, d=d):
            return float(s @ x) + t * d.value(x) + weight * reg.value(x)

        for s in slopes(regularizer_case, 10):
            x, mirror = reg.argmin(s, t, d, weight)
            gradient = d.gradient(x)
            seen = np.abs(x) > 1e-290  # beyond, the mirror knows what x has forgotten
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
        for v in (inside(reg, v) for v in slopes(regularizer_case, 30)):
            y = reg.maximizer(v)
            far = [y + 30 * e for e in np.eye(y.size)]
            for x in points(regularizer_case, 10) + [x for x in far if reg.value(x) < np.inf]:
                left = reg.value(x) - reg.value(y) - float(v @ (x - y))
                right = lam * d.divergence(x, y)
                scale = 1 + abs(reg.value(x)) + abs(reg.value(y)) + abs(float(v @ (x - y)))
                assert left >= right - 1e-11 * scale
                if right > 1e-6 * scale:
                    tight = min(tight, left / right)
        assert lam == 0 or not regularizer_case.tight or tight == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("distance", [2.0, 1e-3, 1e-6, 1e-9])
def test_divergence_of_the_conjugate(regularizer_case, distance):
    """B(p, q) + B(q, p) = ⟨∇Ω*(p) - ∇Ω*(q), p - q⟩, and neither is negative, up to rounding."""
    reg, rng = regularizer_case.it, np.random.default_rng(3)
    for v in slopes(regularizer_case, 20):
        q = inside(reg, v)
        p = inside(reg, q + distance * rng.standard_normal(q.size))
        there, back = reg.conjugate_divergence(p, q), reg.conjugate_divergence(q, p)
        size = 1 + abs(reg.conjugate(p)) + abs(reg.conjugate(q)) + np.abs(p * reg.maximizer(p)).sum()
        tolerance = 300 * np.finfo(float).eps * size
        assert there >= -tolerance
        assert there + back == pytest.approx((reg.maximizer(p) - reg.maximizer(q)) @ (p - q), abs=tolerance)


@pytest.mark.parametrize("distance", [2.0, 1e-3, 1e-6, 1e-9])
def test_divergence_of_the_conjugate_in_extended_precision(regularizer_case, distance):
    """Within rounding of the true value; a form that does not cancel is within rounding of the result itself."""
    reg, rng, L = regularizer_case.it, np.random.default_rng(3), np.longdouble
    true_divergence = {"L2": _l2_divergence, "ElasticNet": _elastic_net_divergence, "Entropy": _entropy_divergence}
    name = type(reg).__name__
    for q in slopes(regularizer_case, 6):
        p = q + distance * rng.standard_normal(q.size)
        if name not in true_divergence or getattr(reg, "cap", 1.0) < 1:  # a cap has no form of its own
            assert type(reg).conjugate_divergence is Regularizer.conjugate_divergence, "give it an exact form here"
            continue
        true = float(true_divergence[name](reg, p.astype(L), q.astype(L)))
        tolerance = 1e-14 * true
        if type(reg).conjugate_divergence is Regularizer.conjugate_divergence:
            tolerance += 120 * np.finfo(float).eps * (abs(reg.conjugate(p)) + abs(reg.conjugate(q)) + distance)
        assert abs(reg.conjugate_divergence(p, q) - true) <= tolerance


def _l2_divergence(reg, p, q):
    return ((p - q) ** 2).sum() / (2 * np.longdouble(reg.lam))


def _elastic_net_divergence(reg, p, q):
    """Exact: the squares of two close points cancel in extended precision too."""
    k = Fraction(reg.lam * reg.gamma)

    def soft(v):
        return v - min(max(v, -k), k)

    pairs = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(p, q, strict=True)]
    return sum(soft(a) ** 2 - soft(b) ** 2 - 2 * soft(b) * (a - b) for a, b in pairs) / (2 * Fraction(reg.lam))


def _entropy_divergence(reg, p, q):
    prior = np.full(7, 1 / 7) if reg.prior is None else reg.prior

    def conjugate(v):
        top = v.max()
        return top if reg.lam == 0 else top + reg.lam * np.log((prior * np.exp((v - top) / reg.lam)).sum())

    weights = prior * np.exp((q - q.max()) / reg.lam) if reg.lam else (q == q.max()).astype(np.longdouble)
    weights = weights / weights.sum()
    return conjugate(p) - conjugate(q) - weights @ (p - q)


def test_divergence_of_equal_points_is_not_positive(regularizer_case):
    reg = regularizer_case.it
    for q in (inside(reg, q) for q in slopes(regularizer_case, 10)):
        assert reg.conjugate_divergence(q, q) <= 0.0


def test_domain(regularizer_case):
    reg = regularizer_case.it
    start = reg.start(regularizer_case.size)
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
        for call in (
            lambda bad=bad: reg.argmin(np.ones(regularizer_case.size), 1.0, bad),
            lambda bad=bad: reg.strong_convexity(bad),
        ):
            with pytest.raises(UnsupportedPair, match="works with") as caught:
                call()
            assert all(cls.__name__ in str(caught.value) for cls in reg.geometries)

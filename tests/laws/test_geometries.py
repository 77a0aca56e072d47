"""The laws of a geometry: the divergence is what its definition says, to rounding, and at least (σ/2)‖x - y‖²."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from minorant.errors import InputError
from minorant.geometry import BlockEntropy, Entropy, WeightedEuclidean


def pairs(case, count=60, seed=0):
    rng = np.random.default_rng(seed)
    return [(case.draw(rng), case.draw(rng)) for _ in range(count)]


def near(case, distance, count=20, seed=1):
    """Pairs at a relative distance; on a simplex the sum stays, on a product of simplices that of each block."""
    rng = np.random.default_rng(seed)
    rows = case.it.offset.shape[0] if isinstance(case.it, BlockEntropy) else 1
    for _ in range(count):
        y = case.draw(rng).reshape(rows, -1)
        sums = y.sum(axis=1, keepdims=True)
        y = y + 1e-3 * sums / y.shape[1] if (y >= 0).all() else y
        e = distance * y * rng.uniform(-1, 1, y.shape)
        correction = y * e.sum(axis=1, keepdims=True) / y.sum(axis=1, keepdims=True) if (y > 0).all() else 0.0
        yield (y + e - correction).ravel(), y.ravel()


def exact(d, x, y):
    """Δ(x, y) in exact rationals for a quadratic d, in extended precision with a series for the entropy."""
    if isinstance(d, (Entropy, BlockEntropy)):
        ratio = x.astype(np.longdouble) / y.astype(np.longdouble) - 1
        phi = [_phi(float(r), r) for r in ratio]
        return float((y.astype(np.longdouble) * np.array(phi)).sum())
    b = getattr(d, "b", np.ones(x.size))
    return float(sum(Fraction(bi) * (Fraction(xi) - Fraction(yi)) ** 2 for bi, xi, yi in zip(b, x, y, strict=True)) / 2)


def _phi(r, exact_r):
    """(1 + r) log(1 + r) - r = r²/2 - r³/6 + r⁴/12 - ..."""
    if abs(r) < 1e-2:
        return sum((-1) ** k * exact_r**k / (k * (k - 1)) for k in range(2, 12))
    return (1 + exact_r) * np.log1p(exact_r) - exact_r if r > -1 else np.longdouble(1)


def test_divergence_is_the_definition(geometry_case):
    d = geometry_case.it
    for x, y in pairs(geometry_case):
        if (d.gradient(y) < -300).any():
            continue
        definition = d.value(x) - d.value(y) - float(d.gradient(y) @ (x - y))
        scale = 1 + abs(d.value(x)) + abs(d.value(y)) + abs(float(d.gradient(y) @ (x - y)))
        assert d.divergence(x, y) == pytest.approx(definition, abs=1e-12 * scale)
        assert d.divergence(x, y, d.gradient(y)) == pytest.approx(d.divergence(x, y), rel=1e-13, abs=1e-15)


def test_dual_norm_is_the_greatest_product_with_a_unit_vector(geometry_case):
    d, rng = geometry_case.it, np.random.default_rng(4)
    size = geometry_case.draw(rng).size
    shares = d.c[:, None] if isinstance(d, BlockEntropy) else np.ones((1, 1))
    for v in rng.standard_normal((40, size)):
        bound = d.dual_norm(v)
        blocks = v.reshape(shares.size, -1)
        sparse = np.ravel(shares * blocks * (np.abs(blocks) == np.abs(blocks).max(axis=1, keepdims=True)))
        weighted = getattr(d, "inverse", np.ones(size)) * v
        attained = max(float(v @ x) / d.norm(x) for x in (sparse, weighted, *rng.standard_normal((20, size))))
        assert attained <= bound * (1 + 1e-14)
        assert bound == np.inf or attained >= bound * (1 - 1e-14)


@pytest.mark.parametrize("distance", [0.5, 1e-2, 1e-4, 1e-6, 1e-8])
def test_divergence_does_not_cancel(geometry_case, distance):
    """Its error is that of x - y, of first order in the distance; from the values it would be of order 0."""
    d = geometry_case.it
    for x, y in near(geometry_case, distance):
        assert (x >= 0).all() or not isinstance(d, (Entropy, BlockEntropy))
        true = exact(d, x, y)
        assert abs(d.divergence(x, y) - true) <= 1e-14 * true + 20 * np.finfo(float).eps * np.abs(x - y).sum()


def test_strongly_convex(geometry_case):
    d = geometry_case.it
    tight = np.inf
    for x, y in [*pairs(geometry_case, 300), *near(geometry_case, 0.1, 100)]:
        half = 0.5 * d.sigma * d.norm(x - y) ** 2
        assert d.divergence(x, y) >= half * (1 - 1e-12)
        if half > 0:
            tight = min(tight, d.divergence(x, y) / half)
    assert tight < 1.5  # sigma is not smaller than need be


def test_gradient(geometry_case):
    d, rng, h = geometry_case.it, np.random.default_rng(2), 1e-7
    for x, _ in near(geometry_case, 0.1, 20):
        e = x * rng.uniform(-1, 1, x.size)
        slope = (d.value(x + h * e) - d.value(x - h * e)) / (2 * h)
        assert slope == pytest.approx(float(d.gradient(x) @ e), rel=1e-5, abs=1e-6)


def test_norm(geometry_case):
    d, rng = geometry_case.it, np.random.default_rng(3)
    for _ in range(20):
        v, w = rng.standard_normal((2, geometry_case.draw(rng).size))
        assert d.norm(v + w) <= d.norm(v) + d.norm(w) + 1e-12
        assert d.norm(-2.5 * v) == pytest.approx(2.5 * d.norm(v))


def test_mirror_knows_what_underflow_forgot():
    """y = 0 in double precision, log y = -800: the divergence from it is finite and right."""
    x, y, log_y = np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([0.0, -800.0])
    expected = 0.5 * np.log(0.5) + 0.5 * (np.log(0.5) + 800)
    assert Entropy().divergence(x, y, 1 + log_y) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_weights_must_be_finite_and_not_negative(bad):
    with pytest.raises(InputError, match="finite"):
        WeightedEuclidean(np.array([1.0, bad]))


def test_a_coordinate_without_weight_has_no_inverse():
    np.testing.assert_array_equal(WeightedEuclidean(np.array([4.0, 0.0])).inverse, [0.25, 0.0])


def test_blocks_with_an_offset_are_the_same_blocks_moved():
    """x_i = c_i (P_i - E_i): the divergence sees P alone; a block without weight counts for nothing."""
    rng, E = np.random.default_rng(6), np.eye(4)[[2, 0, 1]]
    c = np.array([0.4, 0.0, 0.6])
    plain, moved = BlockEntropy(c, np.zeros((3, 4))), BlockEntropy(c, E)
    for _ in range(20):
        P, Q = (rng.dirichlet(np.ones(4), 3) for _ in range(2))
        x, y = (np.ravel(c[:, None] * (R - E)) for R in (P, Q))
        a, b = (np.ravel(c[:, None] * R) for R in (P, Q))
        assert moved.divergence(x, y) == pytest.approx(plain.divergence(a, b), rel=1e-12)
        assert moved.value(x) == pytest.approx(plain.value(a), rel=1e-12)
        assert moved.norm(x - y) == pytest.approx(plain.norm(a - b), rel=1e-12)
        assert moved.divergence(x, y) == pytest.approx(float(c @ (P * np.log(P / Q)).sum(axis=1)), rel=1e-10)
        assert np.allclose(moved.gradient(x).reshape(3, 4)[[0, 2]], 1 + np.log(P[[0, 2]]), rtol=1e-12)

"""The smoothed and the exact hinge: against their definitions, over every bias, in every regime of mu."""

from __future__ import annotations

import math

import numpy as np
import pytest

from minorant import _core
from minorant.kernels import _numpy

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
EPSILON = np.finfo(float).eps


def draw(seed, n=None, scale=1.0, rounded=False):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 60))
    u = scale * rng.normal(size=n)
    u = np.round(u) if rounded else u
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    c = rng.exponential(size=n)
    c[2:][rng.random(n - 2) < 0.2] = 0.0
    return u, y, c / c.sum()


def smoothed_at(u, y, c, mu, b):
    """The smoothed hinge for a given bias, case by case."""
    v = 1 + u - y * b
    loss = np.where(v <= 0, 0.0, np.where(v >= mu, v - mu / 2, np.square(v) / (2 * mu)))
    return math.fsum(c * loss)


def hinge_at(u, y, c, b):
    return math.fsum(c * np.maximum(0.0, 1 + u - y * b))


@BOTH
@pytest.mark.parametrize("mu", [1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e6])
def test_without_a_bias_the_smoothed_hinge_is_its_definition(kernels, mu):
    for seed in range(20):
        u, y, c = draw(seed, scale=3.0)
        value, alpha, bias = kernels.smoothed_hinge(u, y, c, mu, False, 5.0, 2)
        assert bias == 0.0
        assert value == pytest.approx(smoothed_at(u, y, c, mu, 0.0), rel=4e-15)
        np.testing.assert_allclose(alpha, c * np.clip((1 + u) / mu, 0, 1), rtol=1e-15)


@BOTH
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("mu", [1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e6])
def test_a_free_bias_is_optimal_and_alpha_lies_on_the_plane(kernels, mu, scale, rounded):
    rng = np.random.default_rng(7)
    for seed in range(15):
        u, y, c = draw(seed, scale=scale, rounded=rounded)
        guess = float(rng.normal() * 10.0 ** rng.integers(-3, 6))
        value, alpha, bias = kernels.smoothed_hinge(u, y, c, mu, True, guess, 2)
        assert ((alpha >= 0) & (alpha <= c)).all()
        assert abs(math.fsum(y * alpha)) <= 4e-15
        noise = 8 * EPSILON * (1 + np.abs(u).max() + abs(bias))  # of 1 + u - y b
        # the point (bias) and the multipliers (alpha) prove each other optimal: a duality gap of zero
        used = c > 0
        penalty = 0.5 * mu * math.fsum(alpha[used] ** 2 / c[used])
        assert value == pytest.approx(math.fsum(alpha * (1 + u)) - penalty, rel=1e-14, abs=noise)
        assert value == pytest.approx(smoothed_at(u, y, c, mu, bias), rel=1e-14, abs=noise)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 30.0])
def test_no_bias_does_better(mu):
    for seed in range(20):
        u, y, c = draw(seed)
        value, _, bias = _core.smoothed_hinge(u, y, c, mu, True, 0.0, 1)
        others = np.concatenate([np.linspace(-6, 6, 241), bias + np.array([-1e-3, -1e-6, 1e-6, 1e-3])])
        assert value <= min(smoothed_at(u, y, c, mu, b) for b in others) + 1e-15


@pytest.mark.parametrize("free_bias", [False, True])
@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_alpha_is_the_gradient(mu, free_bias):
    rng = np.random.default_rng(11)
    for seed in range(10):
        u, y, c = draw(seed)
        direction = rng.normal(size=u.size)
        _, alpha, _ = _core.smoothed_hinge(u, y, c, mu, free_bias, 0.0, 1)
        h = 1e-7
        ahead, behind = (_core.smoothed_hinge(u + t * direction, y, c, mu, free_bias, 0.0, 1)[0] for t in (h, -h))
        curvature = float(np.square(direction).max()) / mu
        assert (ahead - behind) / (2 * h) == pytest.approx(alpha @ direction, abs=h * curvature + 1e-8)


@pytest.mark.parametrize("mu", [1e-12, 1e-7, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e6, 1e10])
def test_huge_scores(mu, scale):
    for seed in range(20):
        u, y, c = draw(seed, scale=scale)
        value, alpha, _ = _core.smoothed_hinge(u, y, c, mu, True, 0.0, 1)
        assert ((alpha >= 0) & (alpha <= c)).all()
        assert abs(math.fsum(y * alpha)) <= 4e-15
        used = c > 0
        dual = math.fsum(alpha * (1 + u)) - 0.5 * mu * math.fsum(alpha[used] ** 2 / c[used])
        assert value == pytest.approx(dual, rel=1e-12, abs=1e-14 * scale)


@BOTH
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("guess", [-1e5, 0.0, 3.0, 1e5])
def test_a_single_class_costs_nothing(kernels, side, guess):
    u, _, c = draw(5, n=30)
    y = np.full(30, side)
    value, alpha, bias = kernels.smoothed_hinge(u, y, c, 0.1, True, guess, 1)
    assert np.isfinite(bias)
    assert value == pytest.approx(0.0, abs=1e-25)
    assert alpha.sum() == pytest.approx(0.0, abs=1e-14)
    value, bias = kernels.hinge(u, y, c, True, 1)
    assert np.isfinite(bias)
    assert value == pytest.approx(0.0, abs=1e-15)


@BOTH
def test_a_separated_sample_costs_nothing(kernels):
    y = np.array([1.0, 1.0, -1.0, -1.0])
    u = -y * np.array([5.0, 6.0, -4.0, -9.0])
    value, alpha, bias = kernels.smoothed_hinge(u, y, np.full(4, 0.25), 0.5, True, 0.0, 1)
    assert value == 0.0
    assert not alpha.any()
    assert (1 + u - y * bias <= 0).all()


@BOTH
def test_no_samples(kernels):
    none = np.zeros(0)
    value, alpha, bias = kernels.smoothed_hinge(none, none, none, 1.0, True, 0.0, 2)
    assert (value, alpha.size, bias) == (0.0, 0, 0.0)
    assert kernels.hinge(none, none, none, True, 2) == (0.0, 0.0)


@pytest.mark.parametrize("n", [10_000, 100_000])
@pytest.mark.parametrize("mu", [1e-9, 1e-4, 1e-2, 1.0])
def test_large_samples(n, mu):
    u, y, c = draw(n, n=n)
    for guess in (0.0, -0.3, 1e4):
        value, alpha, bias = _core.smoothed_hinge(u, y, c, mu, True, guess, 2)
        assert abs(math.fsum(y * alpha)) <= 4e-15
        assert value == pytest.approx(smoothed_at(u, y, c, mu, bias), rel=1e-14)
        expected = _numpy.smoothed_hinge(u, y, c, mu, True, 0.0, 1)
        assert value == pytest.approx(expected[0], rel=1e-13)


@BOTH
@pytest.mark.parametrize("rounded", [False, True])
def test_the_bias_minimizes_the_exact_hinge(kernels, rounded):
    for seed in range(60):
        u, y, c = draw(seed, scale=2.0, rounded=rounded)
        value, bias = kernels.hinge(u, y, c, True, 2)
        assert value == pytest.approx(hinge_at(u, y, c, bias), rel=1e-14)
        # convex and piecewise linear: it has its least value at a kink
        assert value <= min(hinge_at(u, y, c, b) for b in y * (1 + u)) * (1 + 1e-14)
        without, zero = kernels.hinge(u, y, c, False, 2)
        assert zero == 0.0
        assert without == pytest.approx(hinge_at(u, y, c, 0.0), rel=1e-14)


@BOTH
def test_the_bias_is_the_middle_of_the_optimal_interval(kernels):
    y, u = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 4.0, -2.0, 2.0])
    # kinks y (1 + u) = 2, 5, 1, -3; the slope is -1/2 + (share of the kinks below b): zero between 1 and 2
    assert kernels.hinge(u, y, np.full(4, 0.25), True, 1)[1] == 1.5


@BOTH
def test_weights_are_repetitions(kernels):
    rng = np.random.default_rng(2)
    for seed in range(20):
        u, y, _ = draw(seed)
        times = rng.integers(0, 4, u.size)
        times[:2] += 1
        again = [np.repeat(a, times) for a in (u, y)]
        uniform = np.full(times.sum(), 1 / times.sum())
        one, many = (u, y, times / times.sum()), (*again, uniform)
        assert kernels.hinge(*one, True, 1) == pytest.approx(kernels.hinge(*many, True, 1), rel=1e-13)
        value, alpha, _ = kernels.smoothed_hinge(*one, 0.3, True, 0.0, 1)
        value_many, alpha_many, _ = kernels.smoothed_hinge(*many, 0.3, True, 0.0, 1)
        assert value == pytest.approx(value_many, rel=1e-13)
        np.testing.assert_allclose(np.repeat(alpha / np.maximum(times, 1), times), alpha_many, atol=1e-15)


@pytest.mark.parametrize("kind", ["plain", "uniform", "sorted", "periodic", "heavy", "ties"])
def test_the_bias_of_large_samples_is_that_of_the_twin(kind):
    n = 60_000
    u, y, c = draw(1, n=n)
    if kind == "uniform":
        c = np.full(n, 1 / n)
    if kind == "sorted":
        order = np.argsort(y * (1 + u))
        u, y, c = u[order], y[order], c[order]
    if kind == "periodic":  # a sample taken at even steps sees one kink only
        u, y = np.tile(u[:14], n // 14 + 1)[:n], np.tile(y[:14], n // 14 + 1)[:n]
    if kind == "heavy":
        c = c**8 / (c**8).sum()
    if kind == "ties":
        u = np.round(u)
    value, bias = _core.hinge(u, y, c, True, 2)
    expected_value, expected_bias = _numpy.hinge(u, y, c, True, 1)
    assert value == pytest.approx(expected_value, rel=1e-13)
    assert bias == pytest.approx(expected_bias, rel=1e-12)

"""The projections: optimality checked from its conditions, the twins against each other, and linear work."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_softmax

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import (
    _numpy,
    entropic_capped_simplex,
    project_box_plane,
    project_capped_simplex,
    project_elastic_net_ball,
    project_simplex_blocks,
)

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
KINDS = ["general", "equal", "ties", "zeros", "one", "two scales", "shifted"]
KIND = pytest.mark.parametrize("kind", KINDS)


def draw(kind, seed):
    """A random vector and its generator."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    v = rng.normal(size=1 if kind == "one" else int(rng.integers(2, 200))) * 10.0 ** rng.integers(-3, 4)
    if kind == "equal":
        v[:] = v[0]
    if kind == "ties":
        v = np.round(2 * v / np.abs(v).max())
    if kind == "zeros":
        v[rng.random(v.size) < 0.7] = 0.0
    if kind == "two scales":
        v *= 10.0 ** rng.uniform(-150, 100, v.size)
    if kind == "shifted":
        v += 1e6
    return v, rng


def ball_problems(kind):
    for seed in range(40):
        g, rng = draw(kind, seed)
        gamma = float(rng.choice([0.0, 1e-8, 0.3, 1.0, 7.0, 1e8]))
        inside = gamma * np.abs(g).sum() + 0.5 * np.square(g).sum()
        radius = float(rng.choice([1e-280, 1e-12, 0.01, 0.5, 0.999, 1.5]) * inside) or 1e-280
        yield g, radius, gamma


@BOTH
@KIND
def test_elastic_net_ball_satisfies_the_optimality_conditions(kernels, kind):
    shrunk = 0
    for g, radius, gamma in ball_problems(kind):
        x, lam, work = kernels.elastic_net_ball(g, radius, gamma)
        value = gamma * math.fsum(np.abs(x)) + 0.5 * math.fsum(x * x)
        assert work >= g.size
        assert lam >= 0
        if lam == 0:
            np.testing.assert_array_equal(x, g)
            assert value <= radius * (1 + 1e-14)
            continue
        shrunk += 1
        assert value == pytest.approx(radius, rel=1e-13)
        assert not np.signbit(x[x == 0]).any()
        # g - x - λx = λγ sign(x), and |g - x| ≤ λγ at the zeros
        noise = 1e-14 * (np.abs(g).max() + lam * gamma)
        active = x != 0
        assert (np.sign(x[active]) == np.sign(g[active])).all()
        assert (np.abs(np.abs(g) - (1 + lam) * np.abs(x) - lam * gamma)[active] <= noise).all()
        assert (np.abs(g[~active]) <= lam * gamma + noise).all()
    assert shrunk > 20


@KIND
def test_elastic_net_ball_of_the_twins(kind):
    for g, radius, gamma in ball_problems(kind):
        x, lam, _ = _core.elastic_net_ball(g, radius, gamma)
        expected, lam_expected, _ = _numpy.elastic_net_ball(g, radius, gamma)
        np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())
        assert lam == pytest.approx(lam_expected, rel=1e-12, abs=1e-12)


@BOTH
def test_elastic_net_ball_without_gamma_is_the_euclidean_ball(kernels):
    x, lam, _ = kernels.elastic_net_ball(np.array([3.0, -4.0, 0.0]), 0.5, 0.0)
    np.testing.assert_allclose(x, [0.6, -0.8, 0.0], rtol=1e-15)
    assert lam == pytest.approx(4.0, rel=1e-15)


@BOTH
def test_elastic_net_ball_of_extreme_size(kernels):
    """Neither the squares of huge entries nor the ball of a tiny radius go out of range."""
    x, _, _ = kernels.elastic_net_ball(np.array([1e200, 1e200, -1e200, 5e199]), 1.5, 1.0)
    assert math.fsum(np.abs(x)) + 0.5 * math.fsum(x * x) == pytest.approx(1.5, rel=1e-14)
    assert x[3] == 0.0
    x, _, _ = kernels.elastic_net_ball(np.array([2.0, 2.0, 1.0]), 1e-300, 1.0)
    np.testing.assert_allclose(x, [5e-301, 5e-301, 0.0], rtol=1e-14)


def cap_problems(kind):
    for seed in range(40):
        a, rng = draw(kind, seed)
        n = a.size
        yield a, float(rng.choice([1 / n, 1 / n + 1e-9, 1.7 / n, 0.3 + 0.7 / n, 1 / math.ceil(n / 3), 1.0, np.inf]))


@BOTH
@KIND
def test_entropic_cap_satisfies_the_optimality_conditions(kernels, kind):
    for a, cap in cap_problems(kind):
        x, log_x, work = kernels.entropic_cap(a, cap)
        assert work >= a.size
        assert math.fsum(x) == pytest.approx(1.0, abs=1e-14)
        assert ((x >= 0) & (x <= cap * (1 + 1e-14))).all()
        np.testing.assert_allclose(x, np.exp(log_x), rtol=1e-12, atol=1e-300)
        # log x - a = log θ below the cap, and at most that at the cap
        log_theta = log_x - a
        noise = 1e-14 * (1 + np.abs(log_x) + np.abs(a))
        free = log_x < math.log(cap) - 1e-14
        if free.any():
            level = log_theta[free][np.argmax(a[free])]
            assert (np.abs(log_theta[free] - level) <= 2 * noise[free]).all()
            assert (log_theta[~free] <= level + 2 * noise[~free]).all()


@KIND
def test_entropic_cap_of_the_twins(kind):
    for a, cap in cap_problems(kind):
        x, log_x, _ = _core.entropic_cap(a, cap)
        expected, log_expected, _ = _numpy.entropic_cap(a, cap)
        np.testing.assert_allclose(x, expected, rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(log_x, log_expected, rtol=1e-12, atol=1e-11)


@BOTH
def test_entropic_cap_at_its_ends(kernels):
    a = np.array([3.0, -800.0, 1.0, 2.5])
    for cap in (1.0, 1.5, np.inf):
        _, log_x, _ = kernels.entropic_cap(a, cap)
        np.testing.assert_allclose(log_x, log_softmax(a), rtol=1e-14)
    for cap in (0.25, 0.25 - 1e-14):
        x, log_x, _ = kernels.entropic_cap(a, cap)
        assert (x == 0.25).all()
        assert (log_x == -math.log(4)).all()
    for n in range(2, 200):
        x, _, _ = kernels.entropic_cap(np.arange(n, dtype=float), 1 / n)
        np.testing.assert_allclose(x, 1 / n, rtol=1e-14)


@BOTH
def test_entropic_cap_of_log_weights_of_any_size(kernels):
    """What the cap leaves over is shared by entries that a common softmax would round to zero."""
    x, log_x, _ = kernels.entropic_cap(np.array([1e300, -1e300, -1e300]), 0.4)
    np.testing.assert_allclose(x, [0.4, 0.3, 0.3], rtol=1e-15)
    x, log_x, _ = kernels.entropic_cap(np.array([1e15, 1e15 + 1, 0.0]), 1.0)
    np.testing.assert_allclose(x, [1 / (1 + math.e), 1 / (1 + math.exp(-1)), 0.0], rtol=1e-15)
    assert log_x[2] == pytest.approx(-1e15, rel=1e-14)
    cap = (1 - 1e-12) / 3  # three caps leave little, and all of its digits
    x, log_x, _ = kernels.entropic_cap(np.array([2000.0, 2000.0, 2000.0, 0.0, 0.0]), cap)
    assert (x[:3] == cap).all()
    np.testing.assert_allclose(x[3:], float(1 - 3 * Fraction(cap)) / 2, rtol=1e-15)


def test_simplex_blocks():
    for kind in KINDS:
        for seed in range(10):
            v, rng = draw(kind, seed)
            C = np.ascontiguousarray(rng.permuted(np.tile(v, (5, 1)), axis=1))
            mass = np.array([0.0, 1e-9, 1.0, 1e6, 0.5])
            x = _core.simplex_blocks(C, mass, 1)
            expected = _numpy.simplex_blocks(C, mass, 1)
            np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-13 * np.abs(v).max())
            for kernel_x in (x, expected):
                assert (kernel_x >= 0).all()
                for row, center, m in zip(kernel_x, C, mass, strict=True):
                    assert math.fsum(row) == pytest.approx(m, rel=1e-12)
                    if m == 0:
                        continue
                    level = np.max((center - row)[row > 0])  # center - x is constant where x > 0, above elsewhere
                    noise = 1e-14 * (np.abs(center).max() + m)
                    assert (np.abs(center - row - level)[row > 0] <= noise).all()
                    assert (center[row == 0] <= level + noise).all()


@BOTH
def test_simplex_blocks_where_every_entry_leaves_by_itself(kernels):
    """Each entry is just outside the simplex of the larger ones: Newton's method must drop them one by one."""
    kinks, shift, excess = [0.0, 0.0], 0.5, 1e-15
    while shift + excess < 1:
        kinks.append(shift + excess)
        shift += excess / len(kinks)
        excess *= 1 + len(kinks)
    assert len(kinks) > 15
    x = kernels.simplex_blocks(-np.array([kinks]), np.ones(1), 1)
    np.testing.assert_allclose(x, [[0.5, 0.5] + [0.0] * (len(kinks) - 2)], atol=1e-15)


def test_blocks_are_capped_simplices_without_a_cap():
    rng = np.random.default_rng(5)
    C, mass = rng.normal(size=(7, 9)), rng.uniform(0.1, 3.0, 7)
    x = project_simplex_blocks(C, mass)
    for i in range(7):
        np.testing.assert_allclose(x[i], project_capped_simplex(C[i], np.inf, mass[i]).x, atol=1e-14)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 3.0])
def test_weighted_elastic_net_ball(gamma):
    """x = soft(b g, ηγ)/(b + η) with η ≥ 0 is stationary, and the constraint is tight unless η = 0."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        g, b = rng.standard_normal(9) * rng.choice([0.1, 1.0, 100.0]), rng.uniform(0.05, 20.0, 9)
        radius = float(10 ** rng.uniform(-4, 2))
        x, eta = project_elastic_net_ball(g, radius, gamma, b)
        size = gamma * np.abs(x).sum() + 0.5 * (x @ x)
        assert size <= radius * (1 + 1e-12)
        if eta == 0.0:
            np.testing.assert_array_equal(x, g)
            continue
        assert size == pytest.approx(radius, rel=1e-12)
        pull = b * (g - x) - eta * x  # = ηγ sign(x) where x ≠ 0, within ±ηγ elsewhere
        scale = np.abs(b * g).max()
        np.testing.assert_allclose(pull[x != 0], eta * gamma * np.sign(x[x != 0]), atol=1e-12 * scale)
        assert np.abs(pull).max() <= eta * gamma + 1e-12 * scale
        even, multiplier = project_elastic_net_ball(g, radius, gamma, np.full(9, 4.0))
        plain = project_elastic_net_ball(g, radius, gamma)
        np.testing.assert_allclose(even, plain.x, rtol=1e-10, atol=1e-12 * np.abs(plain.x).max())
        assert multiplier == pytest.approx(4.0 * plain.multiplier, rel=1e-9)


def test_weighted_blocks():
    """Row by row the capped simplex without a cap; weights that are all alike change nothing."""
    rng = np.random.default_rng(12)
    C, mass, b = rng.standard_normal((8, 5)) * 3.0, rng.uniform(0.0, 3.0, 8), rng.uniform(0.05, 20.0, (8, 5))
    x = project_simplex_blocks(C, mass, weights=b)
    for i in range(8):
        np.testing.assert_allclose(x[i], project_capped_simplex(C[i], np.inf, mass[i], b[i]).x, atol=1e-14)
    np.testing.assert_allclose(
        project_simplex_blocks(C, mass, weights=7.0), project_simplex_blocks(C, mass), atol=1e-13
    )
    np.testing.assert_array_equal(project_simplex_blocks(C, mass, weights=b[0])[0], x[0])


def test_the_capped_simplex_is_a_box_and_a_plane():
    rng = np.random.default_rng(6)
    center, weights, cap = rng.normal(size=12), rng.uniform(0.5, 2.0, 12), rng.uniform(0.2, 1.0, 12)
    x, multiplier = project_capped_simplex(center, cap, 1.5, weights)
    np.testing.assert_array_equal(x, project_box_plane(center, 0.0, cap, 1.0, 1.5, weights).x)
    np.testing.assert_allclose(x, np.clip(center + multiplier / weights, 0.0, cap), atol=1e-14)
    np.testing.assert_allclose(project_capped_simplex(center, 1 / 12).x, 1 / 12, rtol=1e-14)
    assert (project_capped_simplex(center, 1.0, mass=0.0).x == 0).all()


def test_the_public_projections_take_lists_and_leave_them():
    center = np.array([3, -1])
    x, multiplier = project_elastic_net_ball(center, 1.5, 1)
    np.testing.assert_allclose(x, [1.0, 0.0], atol=1e-15)
    assert multiplier == pytest.approx(1.0)
    g = np.array([0.1, 0.2])
    x, multiplier = project_elastic_net_ball(g, 1e300, 0.5)
    assert multiplier == 0.0
    np.testing.assert_array_equal(x, g)
    assert not np.shares_memory(x, g)
    np.testing.assert_allclose(entropic_capped_simplex([7, 0, 0], 0.5).x, [0.5, 0.25, 0.25])
    np.testing.assert_allclose(project_simplex_blocks([[1, 3], [0, 0]], [1, 4]), [[0, 1], [2, 2]])
    assert entropic_capped_simplex(2.0, 1.0).log_x.tolist() == [0.0]


def input_of_size(kind, n):
    rng = np.random.default_rng(n)
    v = rng.normal(size=n)
    if kind == "equal":
        v[:] = 0.3
    if kind == "sorted":
        v.sort()
    if kind == "ties":
        v = np.round(3 * v)
    if kind == "geometric":
        v = 10.0 ** rng.uniform(-100, 100, n)
    if kind == "organ pipe":
        v = np.abs(np.arange(n) - n / 2.0)
    return v


@pytest.mark.parametrize("kind", ["normal", "equal", "sorted", "ties", "geometric", "organ pipe"])
@pytest.mark.parametrize(
    "call",
    [
        lambda v: _core.elastic_net_ball(v, 1e-3, 0.1),
        lambda v: _core.elastic_net_ball(v, 0.1 * v.size, 0.1),
        lambda v: _core.entropic_cap(v, 2.5 / v.size),
        lambda v: _core.entropic_cap(v, 0.03),
    ],
    ids=["small ball", "large ball", "small cap", "large cap"],
)
def test_work_is_linear(kind, call):
    sizes = [1000, 30_000, 60_000, 120_000]
    work = [call(input_of_size(kind, n))[2] for n in sizes]
    assert all(w <= 10 * n for w, n in zip(work, sizes, strict=True)), work
    assert all(n <= w for w, n in zip(work, sizes, strict=True)), work


PAIR = [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: project_elastic_net_ball([], 1, 1),
            r"center must be a vector with at least one entry; got shape \(0,",
        ),
        (lambda: project_elastic_net_ball([[1.0]], 1, 1), r"center must be a vector .* got shape \(1, 1\)"),
        (lambda: project_elastic_net_ball([1.0, np.nan], 1, 1), "center must be finite; entry 1 is not"),
        (lambda: project_elastic_net_ball(PAIR, 0.0, 1), "radius must be positive and finite; got 0.0"),
        (lambda: project_elastic_net_ball(PAIR, np.nan, 1), "radius must be positive and finite; got nan"),
        (lambda: project_elastic_net_ball(PAIR, np.inf, 1), "radius must be positive and finite; got inf"),
        (lambda: project_elastic_net_ball(PAIR, 1.0, -0.1), "gamma must be finite and at least 0; got -0.1"),
        (lambda: project_elastic_net_ball(PAIR, 1.0, np.nan), "gamma must be finite and at least 0; got nan"),
        (lambda: project_capped_simplex([np.nan], 1.0), "center must be finite; entry 0 is not"),
        (lambda: project_capped_simplex(PAIR, 0.4), r"mass is 1.0, but the caps sum to 0.8; raise cap or lower mass"),
        (lambda: project_capped_simplex(PAIR, -1.0), "cap must be at least 0; the least is -1.0"),
        (lambda: project_capped_simplex(PAIR, np.nan), "cap must be at least 0; the least is nan"),
        (lambda: project_capped_simplex(PAIR, 1.0, mass=-1.0), "mass must be finite and at least 0; got -1.0"),
        (lambda: project_capped_simplex(PAIR, 1.0, weights=0.0), "weights must be positive; the least is 0.0"),
        (lambda: project_capped_simplex(PAIR, [1.0] * 3), r"have the length of center, 2; got cap \(3,\)"),
        (lambda: entropic_capped_simplex([0.0, np.inf], 1.0), "log_weights must be finite; entry 1 is not"),
        (lambda: entropic_capped_simplex(PAIR, 0.4), "2 entries of at most 0.4 cannot sum to 1; cap must be at .* 1/2"),
        (lambda: entropic_capped_simplex(PAIR, np.nan), "2 entries of at most nan cannot sum to 1"),
        (lambda: project_elastic_net_ball(PAIR, 1.0, 1.0, [1.0, 0.0]), "weights must be positive; the least is 0.0"),
        (lambda: project_elastic_net_ball(PAIR, 1.0, 1.0, [1.0] * 3), "weights"),
        (lambda: project_simplex_blocks([PAIR], weights=-1.0), "weights must be positive; the least is -1.0"),
        (lambda: project_simplex_blocks([PAIR], weights=[1.0] * 3), r"spread to the shape of centers, \(1, 2\)"),
        (lambda: project_simplex_blocks(PAIR), r"centers must be an array with rows and columns .* got shape \(2,\)"),
        (lambda: project_simplex_blocks(np.ones((3, 0))), r"with at least one entry; got shape \(3, 0\)"),
        (lambda: project_simplex_blocks([PAIR, [0.0, np.nan]]), r"centers must be finite; entry \(1, 1\) is not"),
        (lambda: project_simplex_blocks([PAIR, PAIR], [1.0, -1.0]), "mass must be at least 0; the least is -1.0"),
        (lambda: project_simplex_blocks([PAIR, PAIR], [1.0, np.nan]), "mass must be finite; entry 1 is not"),
        (lambda: project_simplex_blocks([PAIR, PAIR], [1.0] * 3), r"have the length of centers, 2; got mass \(3,\)"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()

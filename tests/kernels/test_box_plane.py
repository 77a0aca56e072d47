"""The projection onto a box and a hyperplane: optimality checked from its conditions, and linear work."""

from __future__ import annotations

import math

import numpy as np
import pytest

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import _numpy, project_box_plane

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
KINDS = ["general", "equal", "duplicates", "zero normals", "infinite", "least", "most", "points", "scales", "unbounded"]


def draw(kind, seed):
    """A random feasible problem: center, lower, upper, normal, offset, weights."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n = int(rng.integers(1, 60))
    m, s = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3), rng.normal(size=n)
    l = rng.normal(size=n) - 1
    u, d = l + rng.exponential(size=n), rng.uniform(0.1, 10.0, n)
    some = rng.random((2, n)) < 0.4
    if kind == "equal":
        m[:], l[:], u[:], s[:], d[:] = m[0], 0.0, 1.0, 1.0, 1.0
    if kind == "duplicates":
        m, l, s, d = np.round(m), np.round(l), np.sign(s), np.ones(n)
        u = l + rng.integers(0, 3, n)
    if kind == "zero normals":
        s[some[0]] = 0.0
        l[some[1]] = -np.inf
    if kind == "infinite":
        l[some[0]], u[some[1]] = -np.inf, np.inf
    if kind == "points":
        u[some[0]] = l[some[0]]
    if kind == "scales":
        d = 10.0 ** rng.uniform(-12, 12, n)
    if kind == "unbounded":
        l[:], u[:] = -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        ends = np.where(s == 0, 0.0, np.stack([s * l, s * u]))
    z = float(s @ np.clip(rng.normal(size=n), l, u))
    if kind == "least":
        z = float(ends.min(axis=0).sum())
    if kind == "most":
        z = float(ends.max(axis=0).sum())
    return m, l, u, s, z, d


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_the_point_satisfies_the_optimality_conditions(kernels, kind):
    for seed in range(40):
        m, l, u, s, z, d = draw(kind, seed)
        x, lam, work = kernels.box_plane(m, l, u, s, z, d)
        scale = 1 + np.abs(s * x).sum() + abs(z)
        assert ((l <= x) & (x <= u)).all()
        assert math.fsum([*(s * x), -z]) == pytest.approx(0.0, abs=1e-13 * scale)
        # d (x - m) = λ s where x is strictly inside, and pushed against the bound where it is not
        force = d * (x - m) - lam * s
        noise = 1e-12 * (1 + np.abs(d * m) + d * np.abs(x) + np.abs(lam * s) + d * np.abs(x - m).max() * 1e-3)
        inside = (l < x) & (x < u)
        assert (np.abs(force)[inside] <= noise[inside]).all()
        assert (force[(x == l) & (l < u)] >= -noise[(x == l) & (l < u)]).all()
        assert (force[(x == u) & (l < u)] <= noise[(x == u) & (l < u)]).all()
        assert work >= m.size


@pytest.mark.parametrize("kind", KINDS)
def test_the_twins_agree(kind):
    for seed in range(100, 140):
        problem = draw(kind, seed)
        x, _, _ = _core.box_plane(*problem)
        expected, _, _ = _numpy.box_plane(*problem)
        np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-10)


def test_the_point_stays_on_the_plane_where_the_multiplier_cannot_resolve_it():
    rng = np.random.default_rng(3)
    n = 50
    m = 1e12 + rng.normal(size=n)
    x, _, _ = _core.box_plane(m, np.zeros(n), np.full(n, 1e-6), np.ones(n), 1.3e-5, np.ones(n))
    assert math.fsum(x) == pytest.approx(1.3e-5, rel=1e-13)


def input_of_size(kind, n):
    rng = np.random.default_rng(n)
    m, z, s = rng.normal(size=n), 0.3 * n, np.ones(n)
    if kind == "equal":
        m[:] = 0.3
    if kind == "sorted":
        m.sort()
    if kind == "duplicates":
        m = np.round(3 * m)
    if kind == "boundary":
        z = float(n)
    if kind == "geometric":
        m = np.sign(m) * 10.0 ** rng.uniform(-150, 150, n)
    if kind == "organ pipe":
        m = np.abs(np.arange(n) - n / 2.0)
    return m, np.zeros(n), np.ones(n), s, z, np.ones(n)


@pytest.mark.parametrize("kind", ["normal", "equal", "sorted", "duplicates", "boundary", "geometric", "organ pipe"])
def test_work_is_linear(kind):
    sizes = [1000, 2000, 16_000, 32_000, 250_000, 500_000, 1_000_000]
    work = [_core.box_plane(*input_of_size(kind, n))[2] for n in sizes]
    assert all(w <= 20 * n for w, n in zip(work, sizes, strict=True)), work
    doubled = [(work[i], work[i + 1]) for i in range(len(sizes) - 1) if sizes[i + 1] == 2 * sizes[i]]
    assert len(doubled) == 4
    assert all(after <= 2.2 * before for before, after in doubled), work


@BOTH
@pytest.mark.parametrize("z", [-0.5, 3.1, 1e30, float("nan")])
def test_an_offset_out_of_reach_is_refused(kernels, z):
    one = np.ones(3)
    with pytest.raises(InputError) as error:
        kernels.box_plane(one, 0 * one, one, one, z, one)
    assert str(error.value) == f"no point of the box has ⟨normal, x⟩ = {z}: it ranges over [0.0, 3.0]"


@BOTH
@pytest.mark.parametrize(
    ("lower", "upper"), [(0.25, 1e20), (-np.inf, -1.5), (1e-5, np.inf), (-1e-7, 0.0), (-1234567.875, -2.0)]
)
def test_numbers_in_messages_read_as_in_python(kernels, lower, upper):
    one = np.ones(1)
    z = -1e300 if lower > -np.inf else 1e300
    with pytest.raises(InputError) as error:
        kernels.box_plane(one, lower * one, upper * one, one, z, one)
    assert str(error.value).endswith(f"= {z}: it ranges over [{lower}, {upper}]")


@BOTH
def test_an_offset_outside_by_rounding_is_taken_as_the_end(kernels):
    one = np.ones(3)
    x, _, _ = kernels.box_plane(one, 0 * one, one, one, 3.0 + 1e-13, one)
    np.testing.assert_allclose(x, 1.0, rtol=1e-12)


def test_the_public_projection_broadcasts_and_checks():
    x, multiplier = project_box_plane([0.9, 0.6, -0.2], lower=0.0, upper=1.0, normal=1.0, offset=1.0)
    np.testing.assert_allclose(x, [0.65, 0.35, 0.0], atol=1e-15)
    assert multiplier == pytest.approx(-0.25)
    x, _ = project_box_plane([1, 2], -np.inf, np.inf, [1, -1], 0.0, weights=[1, 3])
    np.testing.assert_allclose(x, [1.75, 1.75])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"center": []}, r"center must be a vector with at least one entry; got shape \(0,\)"),
        ({"center": [[1.0]]}, r"center must be a vector .* got shape \(1, 1\)"),
        ({"center": [1.0, np.nan]}, "center must be finite; entry 1 is not"),
        ({"normal": [np.inf, 1.0]}, "normal must be finite; entry 0 is not"),
        ({"weights": [1.0, 0.0]}, "weights must be positive; the least is 0.0"),
        ({"weights": [np.nan, 1.0]}, "weights must be finite; entry 0 is not"),
        ({"offset": np.inf}, "offset must be finite; got inf"),
        ({"lower": [0.0, 2.0]}, r"empty box: lower\[1\] = 2.0, upper\[1\] = 1.0"),
        ({"upper": np.nan}, r"empty box: lower\[0\] = 0.0, upper\[0\] = nan"),
        ({"lower": [0.0, 0.0, 0.0]}, r"every vector must have the length of center, 2; got lower \(3,\)"),
        ({"offset": 2.5}, r"no point of the box .* = 2.5: it ranges over \[0.0, 2.0\]"),
    ],
)
def test_the_public_projection_refuses_bad_input(changes, message):
    arguments = {"center": [1.0, 2.0], "lower": 0.0, "upper": 1.0, "normal": 1.0, "offset": 1.0}
    with pytest.raises(InputError, match=message):
        project_box_plane(**{**arguments, **changes})

"""The kernels of Newton's method and of dual coordinates: each against its definition, and against its twin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import random_array

from minorant import _core
from minorant.kernels import _numpy

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
INF = np.inf
SHAPES = {
    "hinge": (False, (0.0, 0.0, 0.0, 1.0)),
    "squared hinge": (False, (0.5, 0.0, 0.0, INF)),
    "huber": (False, (1.0, 0.0, -0.7, 0.7)),
    "tube": (False, (0.0, 0.3, -1.0, 1.0)),
    "logistic": (True, (0.0, 0.0, 0.0, 1.0)),
}
LOSS = pytest.mark.parametrize("name", SHAPES)


def draw(seed, n=40):
    rng = np.random.default_rng(seed)
    c = rng.exponential(size=n)
    c[rng.random(n) < 0.2] = 0.0
    return rng.normal(size=n), np.where(rng.random(n) < 0.5, 1.0, -1.0), c / c.sum()


def conjugate(name, t):
    logistic, (kappa, tube, low, high) = SHAPES[name]
    if logistic:
        inside = (t > 0) & (t < 1)
        s = np.where(inside, t, 0.5)
        return np.where(inside, s * np.log(s) + (1 - s) * np.log(1 - s), np.where((t == 0) | (t == 1), 0.0, INF))
    return np.where((t >= low) & (t <= high), tube * np.abs(t) + 0.5 * kappa * t**2, INF)


@BOTH
@LOSS
@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
def test_slopes_maximize_and_bends_are_their_derivatives(kernels, name, mu):
    r, _, c = draw(1)
    alpha, h = kernels.bends(*SHAPES[name], mu, r, c, 1)
    used = c > 0
    t = alpha[used] / c[used]
    value = r[used] * t - conjugate(name, t) - 0.5 * mu * t**2
    for other in np.linspace(-1.0, 2.0, 301):
        assert (value >= r[used] * other - conjugate(name, np.full(t.size, other)) - 0.5 * mu * other**2 - 1e-12).all()
    step = 1e-6
    ahead, back = (kernels.bends(*SHAPES[name], mu, r + e, c, 1)[0] for e in (step, -step))
    np.testing.assert_allclose(h, (ahead - back) / (2 * step), atol=1e-7)
    assert not alpha[~used].any()
    assert not h[~used].any()


@LOSS
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_both_twins_agree(name, mu):
    logistic, shape = SHAPES[name]
    mu = mu or (0.0 if logistic or shape[0] > 0 else 0.1)
    r, s, c = draw(2, 5000)
    rng = np.random.default_rng(0)
    native, twin = (k.bends(logistic, shape, mu, r, c, 2) for k in (_core, _numpy))
    for a, b in zip(native, twin, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-18)
    alpha = c * np.clip(rng.random(r.size), shape[2], min(shape[3], 1.0))
    assert _core.excess(logistic, shape, r, alpha, c) == pytest.approx(_numpy.excess(logistic, shape, r, alpha, c))
    b = [k.balance(logistic, shape, mu, r, s, c, 0.3, 1) for k in (_core, _numpy)]
    assert b[0] == pytest.approx(b[1], abs=1e-9)
    line = (r, -r, c, -0.2, 0.1, 1e-9)
    tau = [k.along(logistic, shape, mu, *line, 1) for k in (_core, _numpy)]
    assert tau[0] == pytest.approx(tau[1], rel=1e-6)


@BOTH
@LOSS
def test_the_bias_balances_the_slopes(kernels, name):
    for seed in range(20):
        r, s, c = draw(seed)
        r = r * 10.0 ** np.random.default_rng(seed).integers(-3, 4)
        b = kernels.balance(*SHAPES[name], 0.2, r, s, c, 0.0, 1)
        assert abs(s @ kernels.bends(*SHAPES[name], 0.2, r + s * b, c, 1)[0]) <= 1e-13


@BOTH
@LOSS
def test_the_line_search_finds_the_minimum(kernels, name):
    r, _, c = draw(4)
    d = np.random.default_rng(5).normal(size=r.size)
    slope = -2.0 - abs(float(d @ kernels.bends(*SHAPES[name], 0.2, r, c, 1)[0]))

    def value(tau):
        t = np.divide(kernels.bends(*SHAPES[name], 0.2, r + tau * d, c, 1)[0], c, out=np.zeros(c.size), where=c > 0)
        smoothed = (r + tau * d) * t - conjugate(name, t) - 0.1 * t**2
        return slope * tau + 0.3 * tau**2 + float(c @ smoothed)

    tau = kernels.along(*SHAPES[name], 0.2, r, d, c, slope, 0.6, 1e-10, 1)
    assert tau == pytest.approx(minimize_scalar(value, bounds=(0, 100), options={"xatol": 1e-9}).x, rel=1e-4)
    assert kernels.along(*SHAPES[name], 0.2, r, d, c, 100.0, 0.6, 1e-10, 1) == 0.0  # it does not fall


def test_the_excess_is_that_of_the_gap():
    r, _, c = draw(6)
    t = np.random.default_rng(7).random(r.size)
    assert _core.excess(*SHAPES["hinge"], r, c * t, c) == pytest.approx(float(c @ (np.maximum(r, 0.0) - r * t)))
    assert _core.excess(*SHAPES["logistic"], r, c / (1 + np.exp(-r)), c) == pytest.approx(0.0, abs=1e-15)


def matrices(rng, n, p, *, ordered=False):
    X = random_array((n, p), density=0.4, rng=rng, format="csr")
    X.data -= 0.5
    for begin, end in () if ordered else itertools.pairwise(X.indptr):  # columns come in any order
        order = begin + rng.permutation(end - begin)
        X.indices[begin:end], X.data[begin:end] = X.indices[order], X.data[order]
    dense = np.ascontiguousarray(X.toarray())
    return (X.data, X.indices, X.indptr), dense


@BOTH
@pytest.mark.parametrize("bordered", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ordered", [False, True], ids=["any order", "sorted"])
def test_systems_are_solved(kernels, bordered, dtype, ordered):
    rng = np.random.default_rng(3)
    csr, dense = matrices(rng, 300, 17, ordered=ordered)
    csr, dense = (csr[0].astype(dtype), *csr[1:]), dense.astype(dtype)
    h = rng.random(300) * (rng.random(300) < 0.5)
    Z = np.hstack([dense, np.ones((300, 1))]) if bordered else dense.astype(float)
    M = Z.T @ (h[:, None] * Z) + 0.01 * np.diag(np.append(np.ones(17), np.zeros(int(bordered))))
    g = rng.normal(size=17 + bordered)
    expected = np.linalg.solve(M, g)
    inverse = 1 / np.diag(M)
    for threads in (1, 2):
        np.testing.assert_allclose(kernels.csr_cholesky(*csr, h, bordered, 0.01, g, threads), expected, rtol=1e-8)
        np.testing.assert_allclose(kernels.dense_cholesky(dense, h, bordered, 0.01, g, threads), expected, rtol=1e-8)
        tail = (h, bordered, 0.01, g, inverse, 1e-12, 200, threads)
        for d, k, residual in (
            kernels.csr_conjugate_gradients(*csr, *tail),
            kernels.dense_conjugate_gradients(dense, *tail),
        ):
            np.testing.assert_allclose(d, expected, rtol=1e-6)
            assert 0 < k <= 60
            assert residual <= 1e-12


@pytest.mark.parametrize("bordered", [False, True])
def test_systems_with_few_examples_are_solved_by_examples(bordered):
    rng = np.random.default_rng(3)
    csr, dense = matrices(rng, 40, 90)
    h = rng.random(40) * (rng.random(40) < 0.6)
    g = rng.normal(size=90 + bordered)
    expected = _numpy.dense_cholesky(dense, h, bordered, 0.01, g, 1)
    np.testing.assert_allclose(_core.dense_cholesky(dense, h, bordered, 0.01, g, 1), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(_core.csr_cholesky(*csr, h, bordered, 0.01, g, 1), expected, rtol=1e-7, atol=1e-9)


@BOTH
def test_a_direction_without_curvature_is_left_alone(kernels):
    X = np.array([[1.0, 0.0], [2.0, 0.0]])
    d = kernels.dense_cholesky(X, np.array([1.0, 1.0]), False, 0.0, np.array([5.0, 0.0]), 1)
    np.testing.assert_allclose(d, [1.0, 0.0])
    d = kernels.dense_cholesky(X, np.zeros(2), True, 1.0, np.array([5.0, 1.0, 0.0]), 1)
    np.testing.assert_allclose(d, [5.0, 1.0, 0.0])


@BOTH
@LOSS
@pytest.mark.parametrize("rho", [0.0, 0.3])
@pytest.mark.parametrize("sparse", [False, True])
def test_sweeps_reach_the_dual_optimum(kernels, name, rho, sparse):
    rng = np.random.default_rng(8)
    n = 30
    csr, dense = matrices(rng, n, 6)
    sign, offset = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.normal(size=n)
    scale = rng.exponential(size=n)
    t, w = np.zeros(n), np.zeros(6)
    X = csr if sparse else (dense,)
    sweeps = kernels.csr_sweeps if sparse else kernels.dense_sweeps
    tail = (scale, offset, sign, np.square(dense).sum(axis=1), rho)
    most = 2000 if kernels is _core else 150
    bias, excess, count = sweeps(*X, *SHAPES[name], *tail, most, 1e-9, 1, t, w, 0.0, kernels.SweptRows())
    assert 0 < count < most or (kernels is _numpy and excess < 1e-2) or excess <= 1e-9
    np.testing.assert_allclose(w, -dense.T @ (sign * scale * t), atol=1e-10)
    r = sign * (dense @ w + bias) - offset
    assert kernels.excess(*SHAPES[name], r, scale * t, scale) <= max(10 * excess, 1e-8)
    if rho and excess <= 1e-9:
        assert abs(sign @ (scale * t)) <= 1e-3
    if not rho:
        assert bias == 0.0


def test_sweeps_are_the_same_every_time_and_refuse_wrong_lengths():
    rng = np.random.default_rng(9)
    X, y = np.ascontiguousarray(rng.normal(size=(50, 4))), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    ones = np.ones(50)

    def run(norm2):
        t, w = np.zeros(50), np.zeros(4)
        _core.dense_sweeps(X, *SHAPES["hinge"], ones, -ones, -y, norm2, 0.0, 7, 0.0, 3, t, w, 0.0, _core.SweptRows())
        return t, w

    first, second = run(np.square(X).sum(axis=1)), run(np.square(X).sum(axis=1))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    with pytest.raises(ValueError, match="norm2 must have length 50"):
        run(np.ones(3))


@pytest.mark.parametrize("name", [name for name, (logistic, _) in SHAPES.items() if not logistic])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_of_a_sweep_is_the_best_one_for_its_example(name, seed):
    """On rows without a column in common one sweep is enough, wherever it begins; and it says how far it was."""
    rng = np.random.default_rng(seed)
    n, (kappa, tube, low, high) = 50, SHAPES[name][1]
    scale, offset, sign = rng.exponential(size=n), rng.standard_normal(n), rng.choice([-1.0, 1.0], n)
    length = rng.exponential(size=n)
    t = rng.uniform(low, min(high, 2.0), n)
    t[::5], t[1::5] = low, 0.0
    w = -sign * scale * t * length
    r = sign * length * w - offset

    def excess(r, t):  # φ(r) + φ*(t) - r t, with φ(r) as the largest r s - φ*(s) of a fine grid
        grid = np.linspace(low, min(high, 20.0), 20001)
        penalty = tube * np.abs(grid) + kappa / 2 * grid**2
        return (r * grid - penalty).max() + tube * abs(t) + kappa / 2 * t**2 - r * t

    expected = sum(c * excess(*pair) for c, *pair in zip(scale, r, t, strict=True))
    q = scale * length**2
    soft = np.sign(-offset) * np.maximum(np.abs(offset) - tube, 0.0)
    best = np.clip(soft / (kappa + q), low, high)
    tail = scale, offset, sign, length**2, 0.0, 1, 0.0, 3
    _, found, _ = _core.dense_sweeps(np.diag(length), *SHAPES[name], *tail, t, w, 0.0, _core.SweptRows())
    np.testing.assert_allclose(t, best, rtol=1e-12, atol=1e-14)
    assert found == pytest.approx(expected, rel=1e-5)


def test_rows_that_are_held_are_left_out_of_later_calls_until_all_are_seen_again():
    """A row held at its bound stays out of the next call, and a new one sees it."""
    X = np.array([[10.0, 0.0], [0.1, 1.0], [0.1, -1.0]])
    ones, norm2 = np.ones(3), np.sum(X * X, axis=1)
    sign = np.array([-1.0, -1.0, 1.0])
    t, w, swept = np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0]), _core.SweptRows()

    def sweep(seed, swept):
        _core.dense_sweeps(X, *SHAPES["hinge"], ones, -ones, sign, norm2, 0.0, 1, 0.0, seed, t, w, 0.0, swept)

    for seed in range(3):
        sweep(seed, swept)
        assert t[0] == 0.0  # its margin is 10
    w[:] = [-1.0, w[1]]  # now its margin is violated: a sweep that sees it must move it
    sweep(3, swept)
    assert t[0] == 0.0
    sweep(4, _core.SweptRows())
    assert t[0] > 0.0


def test_eager_sweeps_end_where_the_next_one_promises_enough():
    """The excess of a sweep is that before its steps: one more would find less, by the root of the last factor."""
    rng = np.random.default_rng(4)
    n = 60
    X = rng.standard_normal((n, 40)) / 8
    ones, sign, norm2 = np.ones(n), rng.choice([-1.0, 1.0], n), np.square(X).sum(axis=1)

    def sweeps(most, enough, swept):
        point = np.full(n, 0.5), -X.T @ (0.5 * sign), 0.0
        problem = ones, np.zeros(n), sign, norm2, 0.0
        return _core.dense_sweeps(X, *SHAPES["logistic"], *problem, most, enough, 3, *point, swept)

    found = [sweeps(most, 0.0, _core.SweptRows())[1] for most in (1, 2, 3)]  # more have conjugate steps between them
    for enough in (found[0], found[1], *np.geomspace(found[1], found[2], 20)):
        _, excess, count = sweeps(3, enough, _core.SweptRows(eager=True))
        forecasts = [found[0], *(found[k] * min(1.0, np.sqrt(found[k] / found[k - 1])) for k in (1, 2))]
        assert count == next((k for k, value in enumerate(forecasts, 1) if value <= enough), 3)
        assert excess == found[count - 1]


def test_rows_left_out_of_other_data_are_seen():
    swept = _core.SweptRows()
    for n in (3, 5, 2):
        X, ones, t, w = np.eye(n), np.ones(n), np.zeros(n), np.zeros(n)
        for seed in range(3):
            _core.dense_sweeps(X, *SHAPES["hinge"], ones, -ones, -ones, ones, 0.0, 1, 0.0, seed, t, w, 0.0, swept)
        np.testing.assert_allclose(w, ones)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bordered", [False, True])
def test_examples_without_curvature_are_left_out_of_large_systems_too(bordered, threads):
    """They are picked block by block, and here there are three blocks."""
    rng = np.random.default_rng(5)
    X, h = rng.standard_normal((10_000, 6)), rng.random(10_000)
    h[rng.random(10_000) < 0.6] = 0.0
    g = rng.standard_normal(6 + bordered)
    Z = np.c_[X, np.ones(10_000)] if bordered else X
    ridge = np.r_[np.full(6, 0.3), np.zeros(int(bordered))]
    expected = np.linalg.solve(Z.T @ (h[:, None] * Z) + np.diag(ridge), g)
    np.testing.assert_allclose(_core.dense_cholesky(X, h, bordered, 0.3, g, threads), expected, rtol=1e-10)

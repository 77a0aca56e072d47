"""Working sets: C++ against NumPy, both against the optimality conditions, for every kind of column."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import _numpy

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
LOSSES = {"squared": (0.5, -np.inf, np.inf), "squared hinge": (0.5, 0.0, np.inf), "logistic": (0.0, 0.0, 1.0)}
L1 = {"squared": 0.15, "squared hinge": 0.15, "logistic": 0.02}
TYPES = list(product([np.float32, np.float64], [np.int32, np.int64], [np.int32, np.int64]))


def draw(n=50, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.5)
    c = rng.random(n) * (rng.random(n) < 0.9)
    return X.astype(np.float32).astype(np.float64), np.where(rng.random(n) < 0.4, 1.0, -1.0), c / c.sum()


def problem(name, y, c, bias, l2, enough=1e-13):
    """The arguments after the columns, for a start at 0."""
    s, a = (np.ones(y.size), y) if name == "squared" else (-y, np.full(y.size, -float(name == "squared hinge")))
    return lambda k: (s, a, c, LOSSES[name], L1[name], l2, bias, np.zeros(k), 0.0, enough, 0.0, 1e9)


def slopes(name, r):
    kappa, low, high = LOSSES[name]
    return expit(r) if kappa == 0 else np.clip(r / kappa, low, high)


@pytest.mark.parametrize(("bias", "l2"), list(product([False, True], [0.0, 0.05])))
@pytest.mark.parametrize("name", LOSSES)
@BOTH
def test_the_conditions_of_optimality_hold(kernels, name, bias, l2):
    X, y, c = draw()
    columns = np.arange(0, 30, 2)
    arguments = problem(name, y, c, bias, l2)(columns.size)
    w, scores, _ = kernels.solve_dense_columns(np.ascontiguousarray(X.T), columns, *arguments)
    np.testing.assert_allclose(scores, X[:, columns] @ w, rtol=1e-12, atol=1e-14)
    assert 3 < np.count_nonzero(w) < columns.size
    s, a = arguments[:2]
    b = 0.0
    if bias:  # bisection of the slope in b
        low, high = -50.0, 50.0
        for _ in range(200):
            b = 0.5 * (low + high)
            low, high = (low, b) if (c * s) @ slopes(name, s * (scores + b) - a) > 0 else (b, high)
    gradient = X[:, columns].T @ (c * s * slopes(name, s * (scores + b) - a)) + l2 * w
    np.testing.assert_allclose(gradient[w != 0], -L1[name] * np.sign(w[w != 0]), atol=1e-6)
    assert np.abs(gradient).max() <= L1[name] + 1e-6


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_twins_agree_and_so_do_all_kinds_of_columns(name, bias):
    X, y, c = draw(seed=1)
    columns = np.array([3, 4, 7, 11, 20, 29])
    arguments = problem(name, y, c, bias, 0.0)(columns.size)
    expected, _, _ = _numpy.solve_dense_columns(np.ascontiguousarray(X.T), columns, *arguments)
    for value, index, pointer in TYPES:
        S = sp.csr_array(X)
        rows = S.data.astype(value), S.indices.astype(index), S.indptr.astype(pointer)
        for kernels in (_core, _numpy):
            store = (kernels.SparseStore32 if value is np.float32 else kernels.SparseStore64)(*X.shape)
            store.gather(*rows, columns[:3])
            store.gather(*rows, columns)
            w, scores, _ = store.solve(columns, *arguments)
            np.testing.assert_allclose(w, expected, atol=1e-5)
            np.testing.assert_allclose(scores, X[:, columns] @ w, rtol=1e-12, atol=1e-14)
            block = kernels.gather_dense(X.astype(value), columns)
            np.testing.assert_array_equal(block, X.astype(value)[:, columns].T)
            w, _, _ = kernels.solve_dense_columns(block, np.arange(columns.size), *arguments)
            np.testing.assert_allclose(w, expected, atol=1e-5)


def test_bad_columns_are_refused():
    X, y, c = draw()
    arguments = problem("squared", y, c, False, 0.0)
    with pytest.raises(InputError, match="column 30 is not one of 30"):
        _core.gather_dense(X, np.array([0, 30]))
    with pytest.raises(InputError, match="column -1 is not one of 30"):
        _core.solve_dense_columns(np.ascontiguousarray(X.T), np.array([-1]), *arguments(1))
    with pytest.raises(InputError, match="column 1 has not been gathered"):
        _core.SparseStore64(*X.shape).solve(np.array([1]), *arguments(1))
    with pytest.raises(InputError, match="w must have length 2; got 1"):
        _core.solve_dense_columns(np.ascontiguousarray(X.T), np.array([0, 1]), *arguments(1))


@pytest.mark.parametrize(("seed", "strength"), [(0, 0.03), (1, 0.01)])
@pytest.mark.parametrize("bias", [False, True])
def test_the_dual_point_ahead_proves_what_was_asked_for(seed, strength, bias):
    """Where most columns have weights, w is found before the slopes at it prove that."""
    rng, n, p, enough = np.random.default_rng(seed), 800, 600, 5e-4
    X, y, c = rng.standard_normal((n, p)), rng.standard_normal(n), np.full(n, 1.0 / n)
    l1 = strength * np.abs(X.T @ (c * y)).max()
    if bias:  # what it must undo, exactly
        X, y = X - X.mean(0), y - y.mean()
        shifted = X + 1.0, y + 2.0
    rest = c, (1.0, -np.inf, np.inf), l1, 0.0, bias, np.zeros(p), 0.0, enough, 0.0, 1e9
    rows, targets = shifted if bias else (X, y)
    found = _core.solve_dense_columns(np.ascontiguousarray(rows.T), np.arange(p), np.ones(n), targets, *rest)
    w, gaps = found[0], []
    residual = [targets - z for z in found[1:] if z.size]
    residual = [r - r.mean() if bias else r for r in residual]
    primal = 0.5 * c @ residual[0] ** 2 + l1 * np.abs(w).sum()
    for r in residual:
        alpha = c * r * min(1.0, l1 / np.abs(X.T @ (c * r)).max())
        gaps.append(primal - (alpha @ y - 0.5 * (alpha**2 / c).sum()))
    assert gaps[-1] <= 1.01 * enough
    if not bias:
        assert gaps[0] > enough

"""The systems of dense data, which go in tiles: odd sizes, few rows, rows without weight, zero pivots, threads."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import _core

SIZES = (1, 7, 15, 16, 17, 33, 130)


def solved(X, h, bordered, lam, g):
    """d with (λ I + Zᵀ H Z) d = g, no λ for the border."""
    X = X.astype(float)
    Z = np.hstack([X, np.ones((X.shape[0], 1))]) if bordered else X
    M = Z.T @ (h[:, None] * Z) + lam * np.diag(np.append(np.ones(X.shape[1]), np.zeros(int(bordered))))
    return np.linalg.solve(M, g)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bordered", [False, True])
@pytest.mark.parametrize("p", SIZES)
def test_systems_of_all_sizes(p, bordered, dtype):
    for n in (p + 2, 128, 129, 700):
        rng = np.random.default_rng(n)
        X = (rng.normal(size=(n, p)) + 0.3).astype(dtype)
        h = rng.random(n) * (rng.random(n) < 0.8)
        g = rng.normal(size=p + bordered)
        expected = solved(X, h, bordered, 0.7, g)
        for threads in (1, 2):
            d = _core.dense_cholesky(X, h, bordered, 0.7, g, threads)
            np.testing.assert_allclose(d, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("n", SIZES)
def test_systems_by_examples_of_all_sizes(n):
    rng = np.random.default_rng(n)
    X, h, g = rng.normal(size=(n, 150)), rng.random(n) + 0.1, rng.normal(size=151)
    expected = solved(X, h, True, 0.7, g)
    d = _core.dense_cholesky(X, h, True, 0.7, g, 1)
    np.testing.assert_allclose(d, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("p", [100, 127, 300, 511])
def test_the_same_bits_on_any_number_of_threads(p):
    rng = np.random.default_rng(p)
    X, h, g = rng.normal(size=(3000, p)), rng.random(3000), rng.normal(size=p + 1)
    one, *others = (_core.dense_cholesky(X, h, True, 0.01, g, threads) for threads in (1, 2, 3, 5))
    for other in others:
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", SIZES)
def test_products_of_rows(n, dtype):
    for p in (1, 5, 128, 300):
        X = np.random.default_rng(p).normal(size=(n, p)).astype(dtype)
        exact = X.astype(float) @ X.astype(float).T
        np.testing.assert_allclose(_core.dense_row_products(X, p), exact, rtol=1e-12, atol=1e-12 * p)


def test_directions_without_curvature_are_left_alone():
    """Columns that are zero, or copies of others, in every panel of the factorization, and no λ that would help."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(400, 200)).astype(float)
    empty, copies = np.arange(5, 200, 40), np.arange(20, 200, 40)
    X[:, empty] = 0.0
    X[:, copies] = X[:, copies - 1]
    g = X.T @ rng.normal(size=400)
    d = _core.dense_cholesky(X, np.ones(400), False, 0.0, g, 1)
    assert not d[empty].any()
    assert not d[copies].any()
    np.testing.assert_allclose(X.T @ (X @ d), g, rtol=1e-7, atol=1e-9 * np.abs(g).max())

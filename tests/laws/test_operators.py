"""The laws of a linear map: adjoint identity, products by definition, norms of rows and columns, the bound of ‖A‖."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import Entropy, Euclidean, WeightedEuclidean
from minorant.operators import Counting, Csr, Dense, Rows, as_linear_map, bound_norm

N, P = 23, 9


def matrix(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.4) * rng.uniform(0.1, 5, P)
    X[3], X[:, 4] = 0.0, 0.0
    return X.astype(dtype)


MAPS = {
    "dense": (lambda: Dense(matrix()), matrix),
    "dense-fortran": (lambda: Dense(np.asfortranarray(matrix())), matrix),
    "dense-float32": (lambda: Dense(matrix(dtype=np.float32)), lambda: matrix(dtype=np.float32).astype(float)),
    "dense-integers": (lambda: as_linear_map(matrix().astype(int)), lambda: matrix().astype(int).astype(float)),
    "dense-slice": (lambda: Dense(np.repeat(matrix(), 2, axis=1)[:, ::2]), matrix),
    "csr": (lambda: Csr(sp.csr_matrix(matrix())), matrix),
    "csr-float32": (
        lambda: Csr(sp.csr_matrix(matrix(dtype=np.float32))),
        lambda: matrix(dtype=np.float32).astype(float),
    ),
    "csr-64": (lambda: Csr(_wide(sp.csr_matrix(matrix()))), matrix),
    "csc": (lambda: as_linear_map(sp.csc_matrix(matrix())), matrix),
    "coo-duplicates": (lambda: as_linear_map(_duplicated(matrix())), matrix),
    "rows": (lambda: Rows(Dense(matrix()), np.linspace(-2, 2, N)), lambda: np.linspace(-2, 2, N)[:, None] * matrix()),
    "rows-csr": (
        lambda: Rows(Csr(sp.csr_matrix(matrix())), np.linspace(-2, 2, N)),
        lambda: np.linspace(-2, 2, N)[:, None] * matrix(),
    ),
    "counting": (lambda: Counting(Csr(sp.csr_matrix(matrix()))), matrix),
}


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _duplicated(X):
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    return sp.coo_matrix((np.r_[0.25 * values, 0.75 * values], (np.r_[rows, rows], np.r_[columns, columns])), X.shape)


@pytest.fixture(params=list(MAPS))
def pair(request):
    make, dense = MAPS[request.param]
    return make(), dense()


def test_products(pair):
    A, X = pair
    rng = np.random.default_rng(1)
    assert A.shape == X.shape
    for _ in range(10):
        w, alpha = rng.standard_normal(P), rng.standard_normal(N)
        assert np.allclose(A @ w, X @ w, rtol=1e-13, atol=1e-13)
        assert np.allclose(A.T @ alpha, X.T @ alpha, rtol=1e-13, atol=1e-13)
        assert (A @ w).dtype == (A.T @ alpha).dtype == np.float64


def test_adjoint(pair):
    A, _ = pair
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, alpha = rng.standard_normal(P), rng.standard_normal(N)
        assert float((A @ w) @ alpha) == pytest.approx(float(w @ (A.T @ alpha)), rel=1e-12, abs=1e-12)


def test_norms(pair):
    A, X = pair
    c = np.random.default_rng(3).uniform(0, 2, N)
    assert np.allclose(A.row_norms(), np.sqrt((X**2).sum(axis=1)), rtol=1e-14, atol=0)
    assert np.allclose(A.column_norms(c), np.sqrt(c @ X**2), rtol=1e-14, atol=0)


def test_product_leaves_its_argument_alone(pair):
    A, _ = pair
    w, alpha = np.ones(P), np.ones(N)
    A @ w
    A.T @ alpha
    assert (w == 1).all()
    assert (alpha == 1).all()


@pytest.mark.parametrize("primal", [Euclidean(), WeightedEuclidean(np.geomspace(0.1, 9, P)), Entropy()], ids=str)
def test_bound_of_the_norm(pair, primal):
    """max ⟨A w, α⟩ over unit w, α: an eigenvalue in Euclidean norms, the longest column from L1."""
    A, X = pair
    b = np.random.default_rng(4).uniform(0.5, 30, N)
    scaled = X / np.sqrt(b)[:, None]
    if isinstance(primal, Entropy):
        true = np.sqrt((scaled**2).sum(axis=0)).max()
    else:
        true = np.linalg.norm(scaled / np.sqrt(getattr(primal, "b", np.ones(P))), 2)
    bound = bound_norm(A, primal, WeightedEuclidean(b))
    assert true <= bound * (1 + 1e-13)
    assert bound <= true * (np.sqrt(P) if not isinstance(primal, Entropy) else 1.0) * (1 + 1e-12)


def test_bound_needs_known_geometries(pair):
    A, _ = pair
    with pytest.raises(UnsupportedPair):
        bound_norm(A, Euclidean(), Euclidean())


def test_counting():
    A = Counting(Dense(matrix()))
    for _ in range(3):
        A @ np.ones(P)
    A.T @ np.ones(N)
    A.row_norms()
    assert (A.dots, A.tdots, A.products) == (3, 1, 4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_not_finite(value, form):
    X = matrix()
    X[5, 2] = value
    with pytest.raises(InputError, match="NaN or infinite"):
        as_linear_map(form(X))


def test_large_but_finite_is_accepted():
    """The sum overflows, the values are fine: the check must look again before it refuses."""
    assert as_linear_map(np.full((4, 2), 1e308)).shape == (4, 2)


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 2, 2)), np.array([["a", "b"]]), [[1j]]])
def test_not_a_matrix_of_numbers(X):
    with pytest.raises(InputError, match="matrix of numbers"):
        as_linear_map(X)

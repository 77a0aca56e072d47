"""The laws of a linear map: adjoint identity, products by definition, norms of rows and columns, the bound of ‖A‖."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import BlockEntropy, Entropy, Euclidean, WeightedEuclidean
from minorant.operators import Columns, Counting, Csr, Dense, Rows, as_linear_map, bound_norm

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
    "columns": (lambda: Columns(Dense(matrix()), 3), lambda: np.kron(matrix(), np.eye(3))),
    "columns-csr": (lambda: Columns(Csr(sp.csr_matrix(matrix())), 2), lambda: np.kron(matrix(), np.eye(2))),
    "columns-1": (lambda: Counting(Columns(Dense(matrix()), 1)), matrix),
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
        w, alpha = rng.standard_normal(A.shape[1]), rng.standard_normal(A.shape[0])
        assert np.allclose(A @ w, X @ w, rtol=1e-13, atol=1e-13)
        assert np.allclose(A.T @ alpha, X.T @ alpha, rtol=1e-13, atol=1e-13)
        assert (A @ w).dtype == (A.T @ alpha).dtype == np.float64


def test_adjoint(pair):
    A, _ = pair
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, alpha = rng.standard_normal(A.shape[1]), rng.standard_normal(A.shape[0])
        assert float((A @ w) @ alpha) == pytest.approx(float(w @ (A.T @ alpha)), rel=1e-12, abs=1e-12)


def test_norms(pair):
    A, X = pair
    c = np.random.default_rng(3).uniform(0, 2, A.shape[0])
    assert np.allclose(A.row_norms(), np.sqrt((X**2).sum(axis=1)), rtol=1e-14, atol=0)
    assert np.allclose(A.column_norms(c), np.sqrt(c @ X**2), rtol=1e-14, atol=0)
    largest = np.abs(X).max()
    assert largest * (1 - 1e-15) <= A.largest() <= largest * (2.0 if isinstance(A, Rows) else 1.0)


def test_product_leaves_its_argument_alone(pair):
    A, _ = pair
    w, alpha = np.ones(A.shape[1]), np.ones(A.shape[0])
    A @ w
    A.T @ alpha
    assert (w == 1).all()
    assert (alpha == 1).all()


def _primals(size):
    return [Euclidean(), WeightedEuclidean(np.geomspace(0.1, 9, size)), Entropy()]


@pytest.mark.parametrize("which", range(3), ids=["Euclidean", "WeightedEuclidean", "Entropy"])
def test_bound_of_the_norm(pair, which):
    """max ⟨A w, α⟩ over unit w, α: an eigenvalue in Euclidean norms, the longest column from L1."""
    A, X = pair
    primal = _primals(A.shape[1])[which]
    b = np.random.default_rng(4).uniform(0.5, 30, A.shape[0])
    scaled = X / np.sqrt(b)[:, None]
    if isinstance(primal, Entropy):
        true = np.sqrt((scaled**2).sum(axis=0)).max()
    else:
        true = np.linalg.norm(scaled / np.sqrt(getattr(primal, "b", np.ones(A.shape[1]))), 2)
    bound = bound_norm(A, primal, WeightedEuclidean(b))
    assert true <= bound * (1 + 1e-13)
    assert bound <= true * (np.sqrt(A.shape[1]) if not isinstance(primal, Entropy) else 1.0) * (1 + 1e-12)


@pytest.mark.parametrize("which", range(3), ids=["Euclidean", "WeightedEuclidean", "Entropy"])
def test_bound_from_l1(pair, which):
    """α of Σ |α| = 1: the norm is that of the longest row."""
    A, X = pair
    primal = _primals(A.shape[1])[which]
    rows = np.abs(X) if isinstance(primal, Entropy) else X**2 / getattr(primal, "b", 1.0)
    true = rows.max() if isinstance(primal, Entropy) else np.sqrt(rows.sum(axis=1)).max()
    assert true <= bound_norm(A, primal, Entropy()) * (1 + 1e-13)
    if which == 0:
        assert bound_norm(A, primal, Entropy()) == pytest.approx(true, rel=1e-13)


@pytest.mark.parametrize("which", range(3), ids=["Euclidean", "WeightedEuclidean", "Entropy"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_bound_for_blocks(which, k):
    """Blocks of α that sum to 0, in the norm (Σ ‖α_i‖₁²/c_i)^½: bounded, and by no more than √(p/2) too much."""
    rng, X = np.random.default_rng(5), matrix()
    A, c = Columns(Dense(X), k), rng.dirichlet(np.ones(N))
    primal, dual = _primals(A.shape[1])[which], BlockEntropy(c, np.zeros((N, k)))
    bound, reached = bound_norm(A, primal, dual), 0.0
    # One column against another, along the top singular vector: the worst w in the Euclidean geometry.
    top = np.linalg.svd(np.sqrt(c)[:, None] * X)[2][0]
    opposed = np.outer(top, np.r_[1.0, -1.0, np.zeros(k - 2)]).ravel()
    for w in [opposed, *rng.standard_normal((100, A.shape[1]))]:
        U = (A @ w).reshape(N, k)
        alpha = np.zeros((N, k))
        width = c * np.ptp(U, axis=1)  # the best α for this w
        alpha[np.arange(N), U.argmax(axis=1)] += width
        alpha[np.arange(N), U.argmin(axis=1)] -= width
        ratio = float((A @ w) @ alpha.ravel()) / (primal.norm(w) * dual.norm(alpha.ravel()))
        assert ratio <= bound * (1 + 1e-12)
        reached = max(reached, ratio)
    if which == 0:
        exact = np.linalg.norm(np.sqrt(c)[:, None] * X, 2) / np.sqrt(2)
        assert reached == pytest.approx(exact, rel=1e-12)
        assert bound <= exact * np.sqrt(P)


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


def test_values_in_one_place_are_summed_before_norms_are_taken():
    twice = sp.csr_array((np.array([1.0, 1.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    A, entries = as_linear_map(twice), twice.nnz
    np.testing.assert_array_equal(A.row_norms(), [2.0, 3.0])
    np.testing.assert_array_equal(A @ np.array([1.0, 10.0]), [20.0, 3.0])
    assert twice.nnz == entries  # the caller's matrix is left alone

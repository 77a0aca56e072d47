"""Products with a matrix: C++ against NumPy, for every type of data and index and every shape."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import _numpy

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
SHAPES = [(1, 1), (1, 37), (23, 1), (0, 5), (5, 0), (0, 0), (40, 30), (301, 8), (700, 250)]
TYPES = list(product([np.float32, np.float64], [np.int32, np.int64], [np.int32, np.int64]))


def draw(shape, value=np.float64, index=np.int32, pointer=np.int32, density=0.2):
    rng = np.random.default_rng(shape[0] + 1000 * shape[1])
    X = sp.random_array(shape, density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    arrays = X.data.astype(value), X.indices.astype(index), X.indptr.astype(pointer)
    for a in arrays:
        a.flags.writeable = False  # what a memory map of a file that is only read looks like
    w, alpha = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    alpha[rng.random(shape[0]) < 0.3] = 0.0
    return arrays, w, alpha


def dense_from(arrays, shape):
    X = np.zeros(shape, arrays[0].dtype)
    rows = np.repeat(np.arange(shape[0]), np.diff(arrays[2]))
    X[rows, arrays[1]] = arrays[0]
    X.flags.writeable = False
    return X


def close(a, b):
    assert a.dtype == b.dtype == np.float64
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("types", TYPES)
def test_sparse_products_equal_the_twins(shape, types):
    X, w, alpha = draw(shape, *types)
    close(_core.csr_dot(*X, w, 2), _numpy.csr_dot(*X, w, 1))
    close(_core.csr_tdot(*X, alpha, shape[1], 2), _numpy.csr_tdot(*X, alpha, shape[1], 1))
    close(_core.csr_row_norms(*X, 2), _numpy.csr_row_norms(*X, 1))
    weights = np.abs(alpha)
    close(_core.csr_column_norms(*X, weights, shape[1], 2), _numpy.csr_column_norms(*X, weights, shape[1], 1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [np.float32, np.float64])
def test_dense_products_equal_the_twins_and_the_sparse_ones(shape, value):
    sparse, w, alpha = draw(shape, value)
    X = dense_from(sparse, shape)
    close(_core.dense_dot(X, w, 2), _numpy.dense_dot(X, w, 1))
    close(_core.dense_tdot(X, alpha, 2), _numpy.dense_tdot(X, alpha, 1))
    close(_core.dense_row_norms(X, 2), _numpy.dense_row_norms(X, 1))
    weights, other = np.abs(alpha), np.ascontiguousarray(X.T)
    norms = _core.dense_column_norms(X, False, weights, 2)
    close(norms, _numpy.dense_column_norms(X, False, weights, 1))
    close(norms, _numpy.dense_column_norms(other, True, weights, 1))
    close(norms, _core.dense_column_norms(other, True, weights, 2))
    close(norms, _core.csr_column_norms(*sparse, weights, shape[1], 2))
    close(_core.dense_dot(X, w, 2), _core.csr_dot(*sparse, w, 2))
    close(_core.dense_tdot(X, alpha, 2), _core.csr_tdot(*sparse, alpha, shape[1], 2))


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("columns", range(1, 18))
def test_a_product_of_one_row_takes_nothing_from_the_rows_beside_it(columns, value):
    X = np.random.default_rng(columns).standard_normal((11, columns)).astype(value)
    w = np.linspace(1.0, 2.0, columns)
    alone = [_core.dense_dot(X[i : i + 1], w, 1)[0] for i in range(len(X))]
    for broken in range(len(X)):
        beside = X.copy()
        beside[broken] = np.nan
        expected = np.array(alone)
        expected[broken] = np.nan
        np.testing.assert_array_equal(_core.dense_dot(beside, w, 1), expected)


@BOTH
def test_unsorted_and_repeated_columns_add_up(kernels):
    X = np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.array([2, 0, 2, 1, 1]), np.array([0, 3, 3, 5])
    assert kernels.csr_dot(*X, np.array([1.0, 10.0, 100.0]), 1).tolist() == [502.0, 0.0, 240.0]
    assert kernels.csr_tdot(*X, np.array([1.0, 5.0, 2.0]), 3, 1).tolist() == [2.0, 48.0, 5.0]


@BOTH
@pytest.mark.parametrize("value", [np.float32, np.float64])
def test_sums_are_in_double_precision(kernels, value):
    n = 4001
    row, ones = np.full((1, n), 0.1, value), np.ones(n)
    exact = n * float(value(0.1))
    indices, indptr = np.arange(n, dtype=np.int32), np.array([0, n])
    assert kernels.dense_dot(row, ones, 1)[0] == pytest.approx(exact, rel=1e-13)
    assert kernels.csr_dot(row[0], indices, indptr, ones, 1)[0] == pytest.approx(exact, rel=1e-13)
    column = np.ascontiguousarray(row.T)
    assert kernels.dense_tdot(column, ones, 1)[0] == pytest.approx(exact, rel=1e-13)


@BOTH
@pytest.mark.parametrize("types", TYPES)
def test_a_good_sparse_matrix_passes_the_door(kernels, types):
    for shape in SHAPES:
        (_, indices, indptr), _, _ = draw(shape, *types)
        kernels.check_csr(indices, indptr, *shape)


@BOTH
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("pointer", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("indices", "indptr", "shape", "message"),
    [
        ([0, 3, 1], [0, 1, 3], (2, 3), "column index 3 in row 1; allowed: 0 to 2"),
        ([0, -1, 1], [0, 0, 2, 3], (3, 3), "column index -1 in row 1; allowed: 0 to 2"),
        ([0, 1, 2**31 - 1], [0, 3], (1, 3), "column index 2147483647 in row 0; allowed: 0 to 2"),
        ([0], [0, 1], (1, 0), "column index 0 in row 0; allowed: 0 to -1"),
        ([0, 1, -1], [0, 3], (1, 2**40), "column index -1 in row 0"),
        ([0, 1, 2], [0, 1, 3], (3, 3), "sparse matrix with 3 rows has an indptr of length 3, not 4"),
        ([0, 1, 2], [0, 2, 1, 3], (3, 3), "bad indptr: it must rise from 0 to the number of stored values"),
        ([0, 1, 2], [1, 2, 3], (2, 3), "bad indptr"),
        ([0, 1, 2], [0, 2, 4], (2, 3), "bad indptr"),
        ([0, 1, 2], [0, 2, 2], (2, 3), "bad indptr"),
        ([0, 1, 2], [0, 2, -1], (2, 3), "bad indptr"),
        ([0, 1, 2], [0, 99, 3], (2, 3), "bad indptr"),
    ],
)
def test_a_bad_sparse_matrix_is_refused_at_the_door(kernels, index, pointer, indices, indptr, shape, message):
    with pytest.raises(InputError) as error:
        kernels.check_csr(np.array(indices, index), np.array(indptr, pointer), *shape)
    assert message in str(error.value)


@BOTH
def test_a_bad_index_far_into_a_large_matrix_is_found(kernels):
    n = 30_000
    indices, indptr = np.zeros(n, np.int64), np.arange(0, n + 1, 3)
    indices[20_000] = 2**40
    with pytest.raises(InputError, match=rf"column index {2**40} in row 6666; allowed: 0 to 9"):
        kernels.check_csr(indices, indptr, n // 3, 10)


@pytest.mark.parametrize("types", TYPES)
@BOTH
def test_duplicates_are_found_in_any_order_of_the_columns(kernels, types):
    _, index, pointer = types
    indptr = np.array([0, 3, 3, 5], dtype=pointer)
    for columns, found in [([4, 0, 2, 2, 4], False), ([4, 0, 4, 2, 1], True), ([0, 1, 2, 3, 3], True)]:
        assert kernels.csr_has_duplicates(np.array(columns, dtype=index), indptr, 5) is found
    with pytest.raises(InputError, match="column index 5"):
        kernels.csr_has_duplicates(np.array([0, 1, 5, 0, 1], dtype=index), indptr, 5)

"""Products with some rows, Gram matrices that grow, and laws of packed flips: the twins, and what they are."""

import numpy as np
import pytest
from scipy.sparse import random_array

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import _numpy
from minorant.operators import as_linear_map

TWINS = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])


def draw(dtype, index=np.int32):
    rng = np.random.default_rng(0)
    X = random_array((30, 7), density=0.4, rng=rng, dtype=dtype).tocsr()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rows = np.array([4, 29, 0, 4, 11, 12], dtype=np.int32)  # one of them twice
    return X, rows, rng.normal(size=rows.size), rng.normal(size=7)


@TWINS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_rows_are_added(kernels, dtype, count):
    X, rows, values, base = draw(dtype)
    rows, values = rows[:count], values[:count]
    wanted = base + X.toarray().astype(np.float64)[rows].T @ values
    sparse = kernels.csr_add_rows(X.data, X.indices, X.indptr, rows, values, base)
    np.testing.assert_allclose(sparse, wanted, rtol=1e-12)
    np.testing.assert_allclose(kernels.dense_add_rows(X.toarray(), rows, values, base), wanted, rtol=1e-12)


@pytest.mark.parametrize("form", ["sparse", "long", "rows", "columns"])
def test_of_every_matrix(form):
    X, rows, values, base = draw(np.float64, np.int64 if form == "long" else np.int32)
    D = X.toarray()
    A = as_linear_map({"rows": D, "columns": np.asfortranarray(D)}.get(form, X), 1)
    np.testing.assert_allclose(A.add_rows(base, rows, values), base + D[rows].T @ values, rtol=1e-12)
    part = A.part(rows)
    np.testing.assert_array_equal(part.dot(base), (A.dot(base))[rows])
    np.testing.assert_allclose(part.tdot(values), D[rows].T @ values, rtol=1e-12)


def test_rows_outside_are_refused():
    X, rows, values, base = draw(np.float64)
    for wrong in (30, -1):
        rows[2] = wrong
        with pytest.raises(InputError, match="outside"):
            _core.csr_add_rows(X.data, X.indices, X.indptr, rows, values, base)
        with pytest.raises(InputError, match="outside"):
            _core.dense_add_rows(X.toarray(), rows, values, base)


@TWINS
@pytest.mark.parametrize("shape", [(5, 3), (9, 1500), (4, 1024)])
@pytest.mark.parametrize("first", [0, 2, 4])
def test_gram_rows(kernels, shape, first):
    V = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_allclose(kernels.gram_rows(V, first), V[first:] @ V.T, rtol=1e-10, atol=1e-10)


@TWINS
@pytest.mark.parametrize("n", [1, 8, 21])
def test_shares_of_flips(kernels, n):
    z = np.random.default_rng(n).choice([0.0, 0.25, 1.0], size=n)
    where = np.flatnonzero((z > 0) & (z < 1)).astype(np.int32)
    total = np.full(n, 0.5)
    kernels.flip_shares(np.packbits(z >= 1), where, z[where], 0.125, total)
    np.testing.assert_array_equal(total, 0.5 + 0.125 * z)

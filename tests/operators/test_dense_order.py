"""A dense matrix stored column by column is used as it is, and everything about it is the same."""

from __future__ import annotations

import numpy as np
import pytest

from minorant.operators import Dense


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_in_memory_does_not_matter(dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 7)).astype(dtype)
    w, alpha, weights = rng.standard_normal(7), rng.standard_normal(30), rng.random(30)
    a, b = Dense(X), Dense(np.asfortranarray(X))
    assert b.by_columns
    assert not a.by_columns
    for ours, theirs in [
        (b @ w, a @ w),
        (b.T @ alpha, a.T @ alpha),
        (b.row_norms(), a.row_norms()),
        (b.column_norms(weights), a.column_norms(weights)),
        (b.largest(), a.largest()),
        (b.bound(weights), a.bound(weights)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-13 if dtype is np.float64 else 1e-6)
    np.testing.assert_array_equal(b.X, X)
    assert b.X.flags.c_contiguous


def test_neither_order_is_copied():
    X = np.asfortranarray(np.random.default_rng(1).standard_normal((20, 5)))
    assert np.shares_memory(Dense(X).rows, X)
    assert np.shares_memory(Dense(X.T).rows, X)

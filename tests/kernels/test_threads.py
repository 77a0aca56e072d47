"""Bit-identical results for any number of threads, on sizes at which several threads run."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import LinearSVC, _core

THREADS = [2, 3, 4, 7]


def same(call):
    """call(threads) gives the same bits for every number of threads."""
    alone = call(1)
    assert alone.any()
    for threads in THREADS:
        for _ in range(3):  # the blocks meet the threads in another order each time
            assert call(threads).tobytes() == alone.tobytes()


def flat(*results):
    return np.concatenate([np.ravel(r) for r in results])


@pytest.fixture(scope="module")
def sparse():
    rng = np.random.default_rng(0)
    X = sp.random_array((9000, 700), density=0.05, format="csr", rng=rng, data_sampler=rng.standard_normal)
    X.data[:] *= 10.0 ** rng.integers(-6, 7, X.nnz)  # so that another order of the additions shows
    return X, rng.standard_normal(700), rng.standard_normal(9000)


@pytest.mark.parametrize("value", [np.float32, np.float64])
def test_sparse_products(sparse, value):
    X, w, alpha = sparse
    arrays = X.data.astype(value), X.indices.astype(np.int32), X.indptr.astype(np.int64)
    same(lambda threads: _core.csr_dot(*arrays, w, threads))
    same(lambda threads: _core.csr_tdot(*arrays, alpha, 700, threads))
    same(lambda threads: _core.csr_row_norms(*arrays, threads))
    same(lambda threads: _core.csr_column_norms(*arrays, np.abs(alpha), 700, threads))


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(9000, 70), (60, 9000)])
def test_dense_products(value, shape):
    rng = np.random.default_rng(1)
    X = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)).astype(value)
    w, alpha = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    same(lambda threads: _core.dense_dot(X, w, threads))
    same(lambda threads: _core.dense_tdot(X, alpha, threads))
    same(lambda threads: _core.dense_row_norms(X, threads))
    same(lambda threads: _core.dense_column_norms(X, False, np.abs(alpha), threads))
    same(lambda threads: _core.dense_column_norms(X, True, np.abs(w), threads))


@pytest.mark.parametrize("mu", [1e-6, 0.1, 3.0])
def test_hinge(mu):
    rng = np.random.default_rng(2)
    n = 150_000
    u, y, c = rng.normal(size=n), np.where(rng.random(n) < 0.3, 1.0, -1.0), rng.exponential(size=n)
    c /= c.sum()
    same(lambda threads: flat(*_core.smoothed_hinge(u, y, c, mu, True, 0.0, threads)))
    same(lambda threads: flat(*_core.smoothed_hinge(u, y, c, mu, False, 0.0, threads)))
    same(lambda threads: flat(*_core.hinge(u, y, c, True, threads)))


@pytest.mark.parametrize("shape", [(40_000, 7), (300, 3000), (3, 200_000)])
def test_simplex_blocks(shape):
    rng = np.random.default_rng(3)
    centers, mass = rng.standard_normal(shape), rng.exponential(size=shape[0])
    same(lambda threads: _core.simplex_blocks(centers, mass, threads))


def test_a_number_of_threads_below_one_means_one(sparse):
    X, w, _ = sparse
    assert (_core.csr_dot(X.data, X.indices, X.indptr, w, 0) == _core.csr_dot(X.data, X.indices, X.indptr, w, 1)).all()
    assert (_core.csr_dot(X.data, X.indices, X.indptr, w, -3) == _core.csr_dot(X.data, X.indices, X.indptr, w, 1)).all()


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_value_that_is_not_finite_is_seen_wherever_it_is(value, bad):
    values = np.full(450_000, np.finfo(value).max, dtype=value)  # no sum of these is finite
    for threads in [1, *THREADS]:
        assert _core.all_finite(values, threads)
    for place in (0, 4095, 4096, 300_001, values.size - 1):
        values[place] = bad
        for threads in [1, *THREADS]:
            assert not _core.all_finite(values, threads)
        values[place] = 1.0
    assert _core.all_finite(values[:0], 2)


@pytest.fixture(scope="module")
def fit():
    """The bits of a model fitted by so many threads."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60_000, 5))
    y = np.where(X @ rng.standard_normal(5) + rng.standard_normal(60_000) > 0, 1.0, -1.0)
    return lambda jobs: LinearSVC(C=1.0, tol=1e-6, n_jobs=jobs).fit(X, y).coef_.tobytes()


def test_a_crew_serves_one_pass_after_another(fit):
    """A fit makes hundreds of passes with the same helpers, from several Python threads at once."""
    alone = fit(1)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(fit, [1, 2, 3, 4, 2, 2, 7, 2])) == {alone}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not say which cores a thread has")
def test_helpers_leave_the_cores_of_their_maker_as_they_are(fit):
    """They are sent to other cores than its own, where it has others."""
    allowed = os.sched_getaffinity(0)
    alone = fit(1)
    try:
        for cores in (allowed, {min(allowed)}):
            os.sched_setaffinity(0, cores)
            assert fit(3) == alone
            assert os.sched_getaffinity(0) == cores
    finally:
        os.sched_setaffinity(0, allowed)

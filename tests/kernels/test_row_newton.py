"""Proximal Newton by rows: C++ against NumPy, both against the duality gap, for every kind of matrix."""

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
LOSSES = {
    "squared": (0.5, -np.inf, np.inf),
    "squared hinge": (0.5, 0.0, np.inf),
    "smooth hinge": (1.0, 0.0, 1.0),
    "Huber": (1.0, -1.5, 1.5),
    "logistic": (0.0, 0.0, 1.0),
}
TYPES = list(product([np.float32, np.float64], [np.int32, np.int64], [np.int32, np.int64]))


def draw(n=150, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.6)
    y = np.where(X[:, :4] @ [1.0, -1.0, 2.0, 0.5] + rng.standard_normal(n) > 0.4, 1.0, -1.0)
    c = rng.random(n) * (rng.random(n) < 0.9)
    return X.astype(np.float32).astype(np.float64), y, c / c.sum()


def problem(name, y, c, *, bias=False, l1=0.03, l2=0.0, enough=1e-12, p=12):
    """The arguments after the matrix, for a start at 0."""
    real = name in ("squared", "Huber")
    s, a = (np.ones(y.size), 2.0 * y) if real else (-y, np.full(y.size, -float(name != "logistic")))
    return s, a, c, LOSSES[name], l1, l2, bias, np.zeros(p), 0.0, enough, 100


def relative_gap(X, arguments, found):
    """By formulas of their own: J at the best bias less D(e); e are the slopes there, or any others for squares."""
    s, a, c, (kappa, low, high), l1, l2, bias, *_ = arguments
    w, scores, e, slopes = found
    np.testing.assert_allclose(scores, X @ w, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slopes, X.T @ e, rtol=1e-12, atol=1e-13)
    t = np.divide(s * e, c, out=np.zeros_like(e), where=c > 0)

    def slope(b):
        r = s * (scores + b) - a
        return expit(r) if kappa == 0 else np.clip(r / kappa, low, high)

    b = 0.0
    if bias:
        assert abs(e.sum()) <= 1e-13
        left, right = -50.0, 50.0
        for _ in range(100):
            b = 0.5 * (left + right)
            left, right = (left, b) if (c * s) @ slope(b) > 0 else (b, right)
    here, r = slope(b), s * (scores + b) - a
    if np.isfinite(low):
        np.testing.assert_allclose(t[c > 0], here[c > 0], atol=1e-10)
    loss = np.logaddexp(0, r) if kappa == 0 else here * (r - 0.5 * kappa * here)
    shrink = 1.0 if l2 else min(1.0, l1 / np.abs(slopes).max())
    q = shrink * t
    conjugate = 0.5 * kappa * q * q
    if kappa == 0:
        inside = (q > 0) & (q < 1)
        conjugate = np.zeros_like(q)
        conjugate[inside] = q[inside] * np.log(q[inside]) + (1 - q[inside]) * np.log1p(-q[inside])
    J = c @ loss + l1 * np.abs(w).sum() + 0.5 * l2 * (w @ w)
    beyond = np.maximum(np.abs(slopes) - l1, 0) ** 2
    D = -(c @ (a * q + conjugate)) - (beyond.sum() / (2 * l2) if l2 else 0.0)
    return (J - D) / J


@pytest.mark.parametrize(("bias", "l2"), list(product([False, True], [0.0, 0.05])))
@pytest.mark.parametrize("name", LOSSES)
@BOTH
def test_the_gap_is_what_was_asked_for(kernels, name, bias, l2):
    X, y, c = draw()
    for enough in (1e-3, 1e-10):
        arguments = problem(name, y, c, bias=bias, l2=l2, enough=enough)
        found = kernels.dense_row_newton(X, False, *arguments)
        assert 0 < np.count_nonzero(found[0]) < 12
        assert -1e-13 <= relative_gap(X, arguments, found) <= 1.5 * enough


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_twins_agree_and_so_do_all_kinds_of_matrices(name, bias):
    X, y, c = draw(seed=1)
    arguments = problem(name, y, c, bias=bias)
    expected = _numpy.dense_row_newton(X, False, *arguments)
    S = sp.csr_array(X)
    for kernels, (value, index, pointer) in product((_core, _numpy), TYPES):
        Z = X.astype(value)
        rows = S.data.astype(value), S.indices.astype(index), S.indptr.astype(pointer)
        for found in (
            kernels.dense_row_newton(Z, False, *arguments),
            kernels.dense_row_newton(np.ascontiguousarray(Z.T), True, *arguments),
            kernels.csr_row_newton(*rows, *arguments),
        ):
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("types", TYPES)
@BOTH
def test_some_columns_are_a_matrix_of_their_own(kernels, types):
    X, y, c = draw(seed=4)
    columns = np.array([0, 1, 2, 5, 7, 11])
    S = sp.csr_array(X)
    S.data[3] = 0.0  # a stored zero
    rows = [array.astype(kind) for array, kind in zip((S.data, S.indices, S.indptr), types, strict=True)]
    X = np.ascontiguousarray(S.toarray()[:, columns])
    for name in LOSSES:
        arguments = problem(name, y, c, bias=True, p=6)
        found = kernels.csr_columns_newton(*rows, 12, columns, *arguments[:-1], 0.0, 100)
        assert relative_gap(X, arguments, found) <= 1.5e-12
        zero = (found[0] * 0, found[1] * 0, *_core.dense_row_newton(X, False, *arguments[:-1], 0)[2:])
        first = relative_gap(X, arguments, zero)
        rough = kernels.csr_columns_newton(*rows, 12, columns, *arguments[:-2], 0.0, 0.3, 100)
        assert relative_gap(X, arguments, rough) <= 0.4 * first


@pytest.mark.parametrize("p", [17, 33, 70])
@pytest.mark.parametrize("name", LOSSES)
def test_columns_that_fill_several_tiles(name, p):
    """A step to the minimizer of an exact model ends where the model says: products that are wrong need many more."""
    X, y, c = draw(n=517, p=p, seed=5)
    arguments = (*problem(name, y, c, bias=True, p=p, l1=0.02, enough=1e-10)[:-1], 12)
    S = sp.csr_array(X)
    for value in (np.float32, np.float64):
        Z = X.astype(value)
        for found in (
            _core.dense_row_newton(Z, False, *arguments),
            _core.dense_row_newton(np.ascontiguousarray(Z.T), True, *arguments),
            _core.csr_row_newton(S.data.astype(value), S.indices, S.indptr, *arguments),
        ):
            assert 0 < np.count_nonzero(found[0]) < p
            assert relative_gap(X, arguments, found) <= 1.5e-10


@pytest.mark.parametrize("name", ["squared hinge", "logistic"])
def test_curvature_of_some_rows_leads_as_far(name):
    X, y, c = draw(n=12_003, p=20, seed=6)
    arguments = problem(name, y, c, p=20, l1=1e-3, enough=1e-8)
    rows = sp.csr_array(X)
    far = np.zeros(20)
    far[:3] = -3.0, 2.0, 3.0  # a start of its own: there is no sample before it, and the gap is large
    for start, steps in ((np.zeros(20), 9), (far, 12)):
        rest = *arguments[:7], start, *arguments[8:-1], steps
        for found in (
            _core.dense_row_newton(X, False, *rest),
            _core.csr_row_newton(rows.data, rows.indices, rows.indptr, *rest),
        ):
            assert relative_gap(X, rest, found) <= 1.5e-8


def test_a_rare_column_that_a_sample_misses_keeps_its_weight():
    X, y, c = draw(n=8_000, p=20, seed=7)
    X[:, 19] = 0.0
    X[4001, 19], c[4001] = 30.0, 1e-3
    arguments = problem("logistic", y, c / c.sum(), p=20, l1=1e-4, enough=1e-9)
    for start in (0.0, 4.0):
        rest = *arguments[:7], np.full(20, start), *arguments[8:]
        found = _core.dense_row_newton(X, False, *rest)
        assert found[0][19] != 0.0
        assert relative_gap(X, rest, found) <= 1.5e-9


@pytest.mark.parametrize("name", LOSSES)
def test_many_rows_begin_with_samples_of_them(name):
    X, y, c = draw(n=20_001, p=5, seed=2)
    order = np.argsort(y, kind="stable")  # all of one class first
    X, y, c = X[order], y[order], c[order]
    arguments = problem(name, y, c, bias=True, p=5)
    found = _core.dense_row_newton(X, False, *arguments)
    assert relative_gap(X, arguments, found) <= 1.5e-12
    sparse = sp.csr_array(X)
    same = _core.csr_row_newton(sparse.data, sparse.indices, sparse.indptr, *arguments)
    np.testing.assert_allclose(same[0], found[0], atol=1e-6)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("l2", [0.0, 1e-4])
def test_slopes_at_other_weights_prove_what_was_asked_for(bias, l2):
    """Where most columns have weights, w is found before the slopes at it prove that."""
    rng, n, p, enough = np.random.default_rng(0), 700, 300, 1e-3
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 5)) @ rng.standard_normal((5, p)) + bias
    y, c = 2 * rng.standard_normal(n) + bias, np.full(n, 1.0 / n)
    arguments = problem("squared", y, c, bias=bias, l1=0.001, l2=l2, enough=enough, p=p)
    found = _core.dense_row_newton(X, False, *arguments)
    w, scores = found[:2]
    r = scores - arguments[1]
    own = c * (r - r.mean() if bias else r) / 0.5
    assert relative_gap(X, arguments, found) <= 1.01 * enough
    assert relative_gap(X, arguments, (w, scores, own, X.T @ own)) > 1.01 * enough


@BOTH
def test_columns_without_information_get_no_weight(kernels):
    X, y, c = draw()
    X = np.hstack([X[:, :3], np.ones((150, 1)), np.zeros((150, 1)), X[:, :3]])
    for name in LOSSES:
        arguments = problem(name, y, c, bias=True, p=8)
        found = kernels.dense_row_newton(X, False, *arguments)
        assert not found[0][3:5].any()
        assert relative_gap(X, arguments, found) <= 1e-11


def test_a_warm_start_goes_on():
    X, y, c = draw(seed=3)
    first = problem("logistic", y, c, bias=True)
    w = _core.dense_row_newton(X, False, *first)[0]
    again = (*first[:7], w, 0.3, 1e-12, 2)
    assert relative_gap(X, again, _core.dense_row_newton(X, False, *again)) <= 1.5e-12


def test_bad_lengths_are_refused():
    X, y, c = draw()
    arguments = problem("squared", y, c)
    with pytest.raises(InputError, match="s must have length 149; got 150"):
        _core.dense_row_newton(X[1:].copy(), False, *arguments)
    with pytest.raises(InputError, match="w must have length 11; got 12"):
        _core.dense_row_newton(X[:, 1:].copy(), False, *arguments)
    S = sp.csr_array(X)
    with pytest.raises(InputError, match="column 12 is not one of 12"):
        _core.csr_columns_newton(
            S.data, S.indices, S.indptr, 12, np.array([3, 12]), *arguments[:7], np.zeros(2), 0.0, 1e-3, 0.0, 9
        )
    with pytest.raises(InputError, match="indptr must have length 151; got 150"):
        _core.csr_row_newton(S.data, S.indices, S.indptr[:-1], *arguments)

"""The same problem in other clothes: sparse or dense, weighted or repeated, float32 or float64, on any threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import Problem, Status, solve
from minorant.losses import Hinge
from minorant.regularizers import L2

SMOOTHINGS = ["primal", "dual", "none"]


def draw(n=60, p=8, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.45, 1.0, -1.0)
    X = (rng.standard_normal((n, p)) + 0.6 * y[:, None]) * (rng.random((n, p)) < density)
    return X, y


def problem(X, y, *, weight=None, bias=True, lam=0.3):
    return Problem(Hinge(y, sample_weight=weight, bias=bias), X, L2(lam))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_sparse_is_dense(smoothing, bias):
    X, y = draw()
    dense, sparse = (solve(problem(M, y, bias=bias), tol=1e-5, smoothing=smoothing) for M in (X, sp.csr_matrix(X)))
    assert dense.certificate.status is sparse.certificate.status is Status.CERTIFIED
    assert dense.certificate.primal == pytest.approx(sparse.certificate.primal, rel=2e-5)
    short = [solve(problem(M, y, bias=bias), tol=0.0, smoothing=smoothing, max_iter=15) for M in (X, sp.csr_matrix(X))]
    assert np.allclose(short[0].w, short[1].w, rtol=1e-10, atol=1e-12)
    assert short[0].certificate.gap == pytest.approx(short[1].certificate.gap, rel=1e-9)


@pytest.fixture(params=[False, True], ids=["plain", "bias"])
def twins(request):
    """A problem with integer weights, some 0, and the one with the rows repeated so often."""
    X, y = draw(n=40)
    count = np.random.default_rng(1).integers(0, 4, 40)
    repeated = np.repeat(np.arange(40), count)
    weighted = problem(X, y, weight=7.5 * count, bias=request.param)
    return weighted, problem(X[repeated], y[repeated], bias=request.param), count, repeated


def test_weights_are_repetition_in_values(twins):
    weighted, plain, _count, repeated = twins
    rng = np.random.default_rng(2)
    for _ in range(20):
        w = rng.standard_normal(8)
        u, v = weighted.A @ w, plain.A @ w
        assert weighted.primal(w) == pytest.approx(plain.primal(w), rel=1e-13)
        for mu in (1e-3, 0.4, 10.0):
            a, b = weighted.loss.smoothed(u, mu), plain.loss.smoothed(v, mu)
            assert a.value == pytest.approx(b.value, rel=1e-12, abs=1e-15)
            summed = np.bincount(repeated, weights=b.alpha, minlength=40)
            assert np.allclose(a.alpha, summed, rtol=0, atol=1e-13)
            assert weighted.dual(a.alpha) == pytest.approx(plain.dual(b.alpha), rel=1e-12)
            assert weighted.loss.prox(a.alpha) == pytest.approx(plain.loss.prox(b.alpha), rel=1e-12)
        assert weighted.loss.intercept(u) == pytest.approx(plain.loss.intercept(v), rel=1e-12, abs=1e-12)
    assert weighted.loss.radius == pytest.approx(plain.loss.radius, rel=1e-14)
    assert weighted.norm == pytest.approx(plain.norm, rel=1e-13)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_weights_are_repetition_in_solutions(twins, smoothing):
    weighted, plain, count, _ = twins
    a, b = (solve(p, tol=1e-5, smoothing=smoothing) for p in (weighted, plain))
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-5)
    # λ-strong convexity turns the gap into a distance: (λ/2)‖w - w*‖² ≤ gap.
    reach = np.sqrt(2 * a.certificate.gap / 0.3) + np.sqrt(2 * b.certificate.gap / 0.3)
    assert np.linalg.norm(a.w - b.w) <= reach
    assert (a.certificate.alpha[count == 0] == 0).all()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_weight_zero_is_an_absent_row(smoothing, bias):
    X, y = draw(n=50)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, 50)
    weight[::4] = 0.0
    X[0] = 1e6  # what has no weight may be wild
    kept = weight > 0
    full = solve(problem(X, y, weight=weight, bias=bias), tol=1e-5, smoothing=smoothing)
    less = solve(problem(X[kept], y[kept], weight=weight[kept], bias=bias), tol=1e-5, smoothing=smoothing)
    assert full.certificate.primal == pytest.approx(less.certificate.primal, rel=2e-5)
    assert np.linalg.norm(full.w - less.w) <= 2 * np.sqrt(2e-5 * full.certificate.primal / 0.3)


@pytest.mark.parametrize("least", [0.0, 5e-324, 1e-310])
def test_weight_zero_costs_nothing(least):
    """The bound of ‖A‖, which sets the first L, does not see an example without weight, however wild it is."""
    X, y = draw(n=30)
    wild, weight = np.vstack([X, np.full((1, 8), 1e6)]), np.r_[np.ones(30), least]
    absent, present = problem(X, y), problem(wild, np.r_[y, 1.0], weight=weight)
    assert present.norm == pytest.approx(absent.norm, rel=1e-13)
    assert present.loss.radius == pytest.approx(absent.loss.radius, rel=1e-13)
    steps = [solve(p, tol=1e-4, smoothing="primal").n_iter for p in (present, absent)]
    assert steps[0] == steps[1]
    steps = [solve(p, tol=1e-4).n_iter for p in (present, absent)]  # these visit the rows in another order
    assert steps[0] <= 1.5 * steps[1] + 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_float32_data(form):
    """float32 data are float64 data that happen to be round: sums are in float64 either way."""
    X, y = draw()
    narrow = form(X.astype(np.float32))
    wide = form(X.astype(np.float32).astype(np.float64))
    a, b = (solve(problem(M, y), tol=1e-5) for M in (narrow, wide))
    assert a.n_iter == b.n_iter
    assert np.allclose(a.w, b.w, rtol=1e-9, atol=1e-11)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-11)
    assert a.w.dtype == a.certificate.alpha.dtype == np.float64


@pytest.fixture(scope="module")
def big():
    """More than 10^6 nonzeros, so that every kernel splits its work."""
    rng = np.random.default_rng(4)
    n, p, per_row = 26_000, 3_000, 42
    columns = rng.integers(0, p, (n, per_row))
    values = rng.standard_normal((n, per_row))
    X = sp.csr_matrix((values.ravel(), columns.ravel(), np.arange(0, n * per_row + 1, per_row)), (n, p))
    y = np.where(np.asarray(X[:, :50].sum(axis=1)).ravel() + rng.standard_normal(n) > 0, 1.0, -1.0)
    assert X.nnz > 1_000_000
    return X, y


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_threads_do_not_change_a_bit(big, smoothing):
    X, y = big
    seen = []
    for threads in (1, 2, 3, 4, 7):
        same = Problem(Hinge(y, threads=threads), X, L2(1e-3), threads=threads)
        r = solve(same, tol=0.0, max_iter=4, smoothing=smoothing)
        c = r.certificate
        seen.append((r.w.tobytes(), r.intercept, c.alpha.tobytes(), c.primal, c.dual))
    assert all(s == seen[0] for s in seen)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit_of_dense_data(dtype):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((5_000, 220)).astype(dtype)
    y = np.where(X[:, 0] + rng.standard_normal(5_000) > 0, 1.0, -1.0)
    seen = []
    for threads in (1, 2, 3, 4, 7):
        r = solve(Problem(Hinge(y, threads=threads), X, L2(1e-3), threads=threads), tol=0.0, max_iter=4)
        seen.append((r.w.tobytes(), r.intercept, r.certificate.alpha.tobytes(), r.certificate.primal))
    assert all(s == seen[0] for s in seen)

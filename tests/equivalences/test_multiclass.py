"""Weights are repetitions, sparse is dense, two classes are one score, and both smoothings have one optimum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import Problem, solve
from minorant.losses import CrammerSinger, Hinge, MultinomialLogistic
from minorant.regularizers import L2

MAKE = {
    "multinomial": lambda y, w: MultinomialLogistic(y, 3, sample_weight=w, bias=False),
    "multinomial-bias": lambda y, w: MultinomialLogistic(y, 3, sample_weight=w),
    "crammer-singer": lambda y, w: CrammerSinger(y, 3, sample_weight=w),
    "crammer-singer-euclidean": lambda y, w: CrammerSinger(y, 3, sample_weight=w, smoothing="euclidean"),
    "crammer-singer-bias": lambda y, w: CrammerSinger(y, 3, sample_weight=w, smoothing="euclidean", bias=True),
}


def data(seed=0):
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 17)]
    return rng.standard_normal((20, 4)) + 0.7 * rng.standard_normal((3, 4))[y], y, rng.integers(0, 4, 20) + (y == 0)


@pytest.mark.parametrize("name", list(MAKE))
def test_weights_are_repetitions(name):
    X, y, times = data()
    times[:3] = 2, 1, 3
    weighted, repeated = MAKE[name](y, times), MAKE[name](np.repeat(y, times), None)
    rng = np.random.default_rng(1)
    for _ in range(20):
        U = 3 * rng.standard_normal((20, 3))
        u, many = U.ravel(), np.repeat(U, times, axis=0).ravel()
        assert weighted.value(u) == pytest.approx(repeated.value(many), rel=1e-12)
        a, b = weighted.smoothed(u, 0.3), repeated.smoothed(many, 0.3)
        assert a.value == pytest.approx(b.value, rel=1e-12)
        summed = np.add.reduceat(
            np.vstack([b.alpha.reshape(-1, 3), np.zeros(3)]), np.cumsum(np.r_[0, times[times > 0]])[:-1], axis=0
        )
        assert np.allclose(a.alpha.reshape(20, 3)[times > 0], summed, atol=1e-13)
        assert (a.alpha.reshape(20, 3)[times == 0] == 0).all()
        assert weighted.conjugate(a.alpha) == pytest.approx(repeated.conjugate(b.alpha), rel=1e-11)
    one, two = (
        solve(Problem(loss, Z, L2(0.1)), tol=1e-7)
        for loss, Z in ((weighted, X), (repeated, np.repeat(X, times, axis=0)))
    )
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=2e-7)


@pytest.mark.parametrize("name", list(MAKE))
def test_sparse_is_dense(name):
    X, y, _ = data(2)
    dense, sparse = (solve(Problem(MAKE[name](y, None), Z, L2(0.1)), tol=1e-5) for Z in (X, sp.csr_matrix(X)))
    assert dense.n_iter == sparse.n_iter
    assert np.allclose(dense.w, sparse.w, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", list(MAKE))
def test_a_run_does_not_depend_on_the_runs_before_it(name):
    X, y, _ = data(3)
    problem = Problem(MAKE[name](y, None), X, L2(0.1))
    first = solve(problem, tol=1e-6)
    second = solve(problem, tol=1e-6)
    assert np.array_equal(first.w, second.w)
    assert first.certificate.primal == second.certificate.primal


@pytest.mark.parametrize("bias", [False, True])
def test_two_classes_are_the_hinge_of_a_difference(bias):
    """1 + u_other - u_own with w_1 = -w_0 = v/2: the hinge of v, where (λ/2)‖W‖² = (λ/4)‖v‖²."""
    X, y, _ = data(4)
    y = (y > 0).astype(int)
    two = solve(Problem(CrammerSinger(y, smoothing="euclidean", bias=bias), X, L2(0.2)), tol=1e-7)
    hinge = solve(Problem(Hinge(2.0 * y - 1.0, bias=bias), X, L2(0.1)), tol=1e-7)
    assert two.certificate.primal == pytest.approx(hinge.certificate.primal, rel=2e-7)
    W = two.w.reshape(-1, 2)
    assert np.allclose(W[:, 1] - W[:, 0], hinge.w, atol=1e-3)

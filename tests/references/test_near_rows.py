"""Newton's method on the examples near their corners alone, all others held at their slopes (`cpp/near_rows.hpp`)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import LinearSVC, Problem, kernels
from minorant.driver import _start
from minorant.losses import EpsilonInsensitive, Hinge, Quantile, SquaredHinge
from minorant.regularizers import L2
from minorant.solvers import newton as module
from minorant.solvers.examples import Examples

needs_core = pytest.mark.skipif(not kernels.native, reason="the compiled core was not built")
LOSSES = {
    "hinge": Hinge,
    "squared hinge": SquaredHinge,
    "tube": lambda y, **more: EpsilonInsensitive(y, eps=0.5, **more),
    "quantile": lambda y, **more: Quantile(y, q=0.3, **more),
}
TOL = 1e-8


def data(rows, seed=0):
    """Columns of unequal spread, labels that most examples are far from contradicting."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 7)) * (rng.random((rows, 7)) < 0.7) * [1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0]
    return X, 2.0 * X @ rng.standard_normal(7) + 0.3 * rng.standard_normal(rows) + 0.7


def problem(name, X, targets, *, bias, seed=1):
    y = targets if name in ("tube", "quantile") else np.where(targets > 0, 1.0, -1.0)
    weight = np.random.default_rng(seed).exponential(size=y.size) + 0.1
    return Problem(LOSSES[name](y, sample_weight=weight, bias=bias), X, L2(1e-4))


def to_the_end(steps, best):
    for count, (candidates, _) in enumerate(steps, 1):
        best.offer(candidates)
        if best.relative_gap <= TOL:
            return best
        assert count < 200
    raise AssertionError


@needs_core
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_it_ends_where_all_examples_lead(name, sparse, bias):
    X, targets = data(4000)
    X = csr_array(X) if sparse else X
    all_of_them, near = (problem(name, X, targets, bias=bias) for _ in range(2))
    slow = to_the_end(module.step_by_step(Examples.of(all_of_them), best := _start(all_of_them, None)), best)
    fast = to_the_end(module.newton(Examples.of(near), best := _start(near, None), TOL), best)
    assert fast.primal == pytest.approx(slow.primal, rel=2 * TOL)
    np.testing.assert_allclose(fast.w, slow.w, rtol=1e-2, atol=2e-3)
    assert near.A.products < (1.0 if name == "squared hinge" else 0.6) * all_of_them.A.products


@needs_core
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_every_bit_is_the_same_for_any_number_of_threads(sparse, fit_intercept):
    X, targets = data(30_000)
    X, y = csr_array(X) if sparse else X, np.where(targets > 0, 1, -1)
    models = [LinearSVC(1.0, fit_intercept=fit_intercept, tol=1e-7, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.certificate_.alpha, models[0].certificate_.alpha)
    models[0].certificate_.verify(X, y)


@needs_core
def test_float32_is_kept_and_certified():
    X, targets = data(5000)
    X, y = X.astype(np.float32), np.where(targets > 0, 1, -1)
    model = LinearSVC(0.1, tol=1e-5).fit(X, y)
    assert model.coef_.dtype == np.float32
    assert model.certificate_.relative_gap <= 1e-5
    model.certificate_.verify(X, y)


@needs_core
@pytest.mark.parametrize("seed", range(12))
def test_rows_far_longer_than_the_others_are_certified(seed):
    """Their squares are 10¹² times those of the others."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(900, 4000)), int(rng.choice([8, 20, 50]))
    X = rng.standard_normal((n, p))
    long = rng.integers(0, n, 20)
    X[long] *= 1e6
    y = np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0, 1, -1)
    y[long[:10]] *= -1
    model = LinearSVC(C=10 ** rng.uniform(-2, 2), tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6

"""Least squares in one call: the certificate is that of the definitions, the solution that of the normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import ElasticNet, Problem, certify, kernels
from minorant import linear as module
from minorant import whole_fit as core
from minorant.certificate import Status
from minorant.linear import Objective, Run, fit_regressor
from minorant.losses import Squared
from minorant.losses.base import normalized_weights
from minorant.operators import as_linear_map
from minorant.regularizers import L2

pytestmark = pytest.mark.skipif(not kernels.native, reason="the core was not compiled")

SHAPES = {  # each takes another way; sparse rows have no iterations
    "Cholesky of columns": (150, 9),
    "Cholesky of examples": (8, 100),
    "iterations, then columns": (160, 120),
    "iterations, then examples": (120, 260),
}


def draw(shape, *, sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    n, p = shape
    X = (rng.normal(size=shape) + rng.normal(size=p)) * np.exp(rng.normal(size=p))
    if sparse:
        X *= rng.random(shape) < 0.3
    y = X @ rng.normal(size=p) / np.sqrt(p) + rng.normal(size=n) + 3.0
    return (csr_array(X) if sparse else X), y


def by_the_normal_equations(X, y, c, lam, bias):
    """w and b from the system of (w, b) with a column of ones."""
    Z = np.column_stack([X, np.ones(y.size)]) if bias else X
    M = 2.0 * Z.T @ (c[:, None] * Z) + np.diag([lam] * X.shape[1] + [0.0] * bias)
    found = np.linalg.solve(M, 2.0 * Z.T @ (c * y))
    return (found[:-1], found[-1]) if bias else (found, 0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_certificate_is_that_of_the_definitions(shape, bias, sparse, C, weighted):
    X, y = draw(SHAPES[shape], sparse=sparse)
    lam = 1.0 / (C * y.size)
    weight = np.random.default_rng(1).integers(0, 4, y.size).astype(float) if weighted else np.ones(y.size)
    c = normalized_weights(weight, y.size)
    problem = Problem(Squared(y, bias=bias, sample_weight=weight), X, L2(lam))
    w, b = by_the_normal_equations(X.toarray() if sparse else X, y, c, lam, bias)
    least = problem.regularizer.value(w) + problem.loss.value_at(X @ w, b)
    for tol in (1e-3, 1e-8):
        fit = core.least_squares(as_linear_map(X), y, c if weighted else None, lam, tol, bias=bias)
        primal, dual, alpha = fit.certificate.primal, fit.certificate.dual, fit.certificate.alpha
        claim = certify(problem, fit.w, alpha, tol=tol)
        np.testing.assert_array_equal(claim.alpha, alpha)  # in its domain as it is
        assert dual == pytest.approx(claim.dual, rel=1e-11)
        at_its_bias = problem.regularizer.value(fit.w) + problem.loss.value_at(X @ fit.w, float(fit.intercept))
        assert primal == pytest.approx(at_its_bias, rel=1e-12)
        assert dual <= least * (1 + 1e-11)
        if sparse and shape.startswith("iterations"):
            assert fit.certificate.status is Status.OPEN
            continue
        assert fit.certificate.status is Status.CERTIFIED
        assert primal <= least * (1 + 1.01 * tol)
        assert bias or fit.intercept == 0.0


def test_estimator_takes_it(monkeypatch):
    monkeypatch.setattr(module, "solve", None)  # the general way is closed
    for shape in SHAPES.values():
        X, y = draw(shape)
        for order in ("C", "F"):
            model = ElasticNet(0.01, l1_ratio=0.0, tol=1e-6).fit(np.asarray(X, order=order), y)
            assert model.certificate_.relative_gap <= 1e-6
            assert model.certificate_.verify(X, y).relative_gap <= 1.01e-6
            assert model.n_iter_ == len(model.trace_) == 1


@pytest.mark.parametrize(
    "options",
    [{"solver": "newton"}, {"tol": 1e-13}, {"max_time": 0.5}, {"l1_ratio": 0.1}],
    ids=["solver", "tol", "max_time", "l1_ratio"],
)
@pytest.mark.filterwarnings("ignore::minorant.NotCertified")
def test_what_needs_the_general_way_gets_it(monkeypatch, options):
    used, general = [], module.solve
    monkeypatch.setattr(module, "solve", lambda *a, **k: used.append(1) or general(*a, **k))
    X, y = draw((100, 20))
    model = ElasticNet(0.1, **{"l1_ratio": 0.0, **options}).fit(X, y)
    assert model.certificate_.relative_gap <= max(model.tol, 1e-9)
    assert used


@pytest.mark.filterwarnings("ignore::minorant.NotCertified")
def test_what_one_call_cannot_certify_goes_the_general_way(monkeypatch):
    X, y = draw((160, 120))
    monkeypatch.setattr(core, "_SYSTEM", 1e5)  # a few iterations, and no system
    fit = core.least_squares(as_linear_map(X), y, None, 1e-4, 1e-8, bias=True)
    assert fit.certificate.status is Status.OPEN
    model = ElasticNet(1e-4, l1_ratio=0.0, tol=1e-8).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-8


def test_a_callback_is_told_once():
    X, y = draw((100, 20))
    told = []
    objective = Objective("squared", "l2", 0.1)
    fit = fit_regressor(X, y, objective=objective, run=Run(callback=lambda row, p: told.append((row, p))))
    assert told == [(0, fit.traces[0][0])]


@pytest.mark.parametrize("bias", [False, True])
def test_targets_without_a_residual(bias):
    X, _ = draw((100, 20))
    y = np.full(100, 7.0 if bias else 0.0)
    model = ElasticNet(0.1, l1_ratio=0.0, fit_intercept=bias).fit(X, y)
    assert model.certificate_.primal <= 1e-25
    assert model.intercept_ == pytest.approx(y[0], rel=1e-14)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ElasticNet(0.1, l1_ratio=0.0, fit_intercept=bias).fit(X, y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_data_that_are_not_finite_are_refused(shape, value):
    X, y = draw(SHAPES[shape])
    X[3, 4] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        ElasticNet(0.1, l1_ratio=0.0).fit(X, y)


def test_a_fit_that_is_nearly_exact():
    X, _ = draw((300, 200))
    y = X @ np.random.default_rng(2).normal(size=200)
    model = ElasticNet(1e-12, l1_ratio=0.0, tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(60_000, 5), (3000, 300), (400, 3000)])
@pytest.mark.parametrize("alpha", [1e-4, 1.0])
def test_results_do_not_depend_on_threads(bias, shape, alpha):
    X, y = draw(shape)
    one, two, three = (
        ElasticNet(alpha, l1_ratio=0.0, tol=1e-6, n_jobs=k, fit_intercept=bias).fit(X, y) for k in (1, 2, 3)
    )
    for other in (two, three):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.certificate_.alpha, other.certificate_.alpha)

"""Newton's method that begins with a sample of the examples: the certificate is that of all, found in fewer steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import Problem, certify, kernels, solve
from minorant import whole_fit as core
from minorant.certificate import Status
from minorant.losses import Hinge, Logistic, SquaredHinge
from minorant.losses.base import normalized_weights
from minorant.operators import as_linear_map
from minorant.regularizers import L2

pytestmark = pytest.mark.skipif(not kernels.native, reason="the core was not compiled")

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}


@pytest.fixture(autouse=True)
def newton_first(monkeypatch):
    rules = core.sweep_rules
    monkeypatch.setattr(core, "sweep_rules", lambda e: (*rules(e)[:-1], 0.0))


def draw(n, p=6, *, seed=0, rare=0.05):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    score = X @ rng.normal(size=p) + 0.3 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 1 - rare), 1.0, -1.0)


def fitted(X, y, loss, *, bias=True, C=1.0, tol=1e-6, weight=None):
    lam = 1.0 / (C * y.size)
    c = None if weight is None else normalized_weights(weight, y.size)
    like = LOSSES[loss](np.array([-1.0, 1.0]), bias=bias).scalar
    fit = core.whole_fit(as_linear_map(X), y, c, like, lam, tol)
    return fit, Problem(LOSSES[loss](y, bias=bias, sample_weight=weight), X, L2(lam))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_certificate_is_that_of_all_examples(loss, bias, sparse, C, weighted):
    X, y = draw(20_000)
    weight = np.random.default_rng(1).integers(0, 3, y.size).astype(float) if weighted else None
    fit, problem = fitted(csr_array(X) if sparse else X, y, loss, bias=bias, C=C, weight=weight)
    claim = certify(problem, fit.w, fit.certificate.alpha, tol=1e-6)
    assert claim.relative_gap <= 1e-6
    assert fit.certificate.dual == pytest.approx(claim.dual, rel=1e-12)
    at_its_bias = problem.regularizer.value(fit.w) + problem.loss.value_at(problem.A @ fit.w, fit.intercept)
    assert fit.certificate.primal == pytest.approx(at_its_bias, rel=1e-12)


@pytest.mark.parametrize("rare", [0.05, 0.3])
def test_steps_over_all_examples_are_saved(rare):
    X, y = draw(20_000, rare=rare)
    fit, problem = fitted(X, y, "hinge")
    from_rest = solve(problem, tol=1e-6, solver="newton")
    assert fit.certificate.n_products < 0.8 * from_rest.certificate.n_products


@pytest.mark.parametrize("seed", [0, 1])
def test_a_larger_sample_follows_one_that_misleads(seed):
    """Of a rare class the first sample has some fifteen: its w is much worse for all examples than for those."""
    X, y = draw(20_000, seed=seed)
    fit, problem = fitted(X, y, "squared_hinge", C=100.0)
    from_rest = solve(problem, tol=1e-6, solver="newton")
    assert fit.certificate.n_products < from_rest.certificate.n_products  # more, with the first sample alone


@pytest.mark.parametrize("seed", [2, 5, 7])
def test_a_larger_sample_that_is_worse_is_left_alone(seed):
    """A few heavy examples decide, of which one sample has some and another has none."""
    X, y = draw(20_000, p=12, seed=seed)
    weight = np.exp(4.0 * np.random.default_rng(seed).normal(size=y.size))
    fit, problem = fitted(X, y, "squared_hinge", C=100.0, weight=weight)
    assert fit.certificate.status is Status.CERTIFIED
    assert certify(problem, fit.w, fit.certificate.alpha, tol=1e-6).relative_gap <= 1e-6


def test_a_period_of_the_data_does_not_mislead():
    """One row in sixteen is of another kind; a sample at even distances would have nothing but those, or none."""
    X, y = draw(20_000, rare=0.3)
    first = np.arange(y.size) % 16 == 0
    y[first] = np.where(X[first, 0] > X[first, 1], -1.0, 1.0)
    fit, problem = fitted(X, y, "hinge")
    from_rest = solve(problem, tol=1e-6, solver="newton")
    assert fit.certificate.n_products < 0.7 * from_rest.certificate.n_products


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_a_sample_without_one_of_the_classes_is_left_alone(loss, bias):
    X, y = draw(20_000)
    y[:] = -1.0
    y[[0, 7, 19_999]] = 1.0
    fit, problem = fitted(X, y, loss, bias=bias)
    assert certify(problem, fit.w, fit.certificate.alpha, tol=1e-6).relative_gap <= 1e-6


def test_weights_that_are_zero_throughout_the_sample():
    X, y = draw(20_000)
    weight = np.zeros(y.size)
    weight[:40] = 1.0  # two or three of these are in it, of one class or of both
    y[:2] = -1.0, 1.0
    fit, problem = fitted(X, y, "hinge", weight=weight, C=0.1)
    assert certify(problem, fit.w, fit.certificate.alpha, tol=1e-6).relative_gap <= 1e-6

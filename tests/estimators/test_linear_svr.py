"""LinearSVR: scikit-learn's objective with an unpenalized bias, and a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.svm import SVR

from minorant import InputError, LinearSVR, Status


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0) + 1.0, y


def objective(model, X, y, weight):
    w = model.coef_.astype(np.float64)
    errors = np.maximum(0, np.abs(X @ w + model.intercept_ - y) - model.epsilon)
    return w @ w / 2 + model.C * np.sum(weight * errors)


@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.0), (0.1, 20.0), (1.0, 5.0)])
def test_it_is_that_of_scikit_learn(diabetes, C, epsilon):
    X, y = diabetes
    ours = LinearSVR(C, epsilon=epsilon, tol=1e-9, max_iter=100_000).fit(X, y)
    theirs = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, y)  # LinearSVR penalizes the bias; this not
    close = np.sqrt(2e-9 * objective(ours, X, y, 1.0)) + 1e-6  # J is 1-strongly convex: ½ ‖w - w*‖² ≤ tol·J
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=close)
    np.testing.assert_allclose(ours.dual_coef_ @ X, ours.coef_, atol=close)
    assert np.abs(ours.dual_coef_).max() <= C * (1 + 1e-12)
    mean = objective(ours, X, y, 1.0) / (C * y.size)
    assert ours.certificate_.primal == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_the_certificate_is_confirmed(diabetes, storage, dtype, fit_intercept):
    X, y = diabetes
    X = X.astype(dtype)
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = LinearSVR(0.5, epsilon=10.0, fit_intercept=fit_intercept).fit(storage(X), y, weight)
    assert model.certificate_.status is Status.CERTIFIED
    assert model.coef_.dtype == dtype
    assert 0 <= model.certificate_.verify(X, y).relative_gap <= 1e-3
    J = objective(model, X, y, weight) / (0.5 * weight.sum())
    assert model.certificate_.primal == pytest.approx(J, rel=1e-7)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, y + 1.0 * (np.arange(y.size) % 2))


def test_weights_are_repetitions(diabetes):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    weighted = LinearSVR(0.1, epsilon=5.0, tol=1e-8).fit(X, y, weight)
    repeated = LinearSVR(0.1, epsilon=5.0, tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=5e-3)


def test_a_tube_around_everything_costs_nothing(diabetes):
    X, y = diabetes
    model = LinearSVR(epsilon=1000.0).fit(X, y)
    assert not model.coef_.any()
    assert (model.certificate_.primal, model.certificate_.gap) == (0.0, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -0.1}, {"epsilon": np.nan}, {"epsilon": np.inf}, {"C": 0.0}, {"C": np.nan}, {"C": 1e-320}]
)
def test_wrong_parameters(diabetes, wrong):
    with pytest.raises(ValueError, match=r"epsilon|eps|C"):
        LinearSVR(**wrong).fit(*diabetes)

"""QuantileRegressor: scikit-learn's objective and the optimum of its linear program, with a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor as SklearnQuantile
from sklearn.metrics import mean_pinball_loss

from minorant import InputError, QuantileRegressor, Status


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0) + 1.0, y


def objective(model, X, y, weight=None):
    fitted = X @ np.asarray(model.coef_, dtype=np.float64) + model.intercept_
    loss = mean_pinball_loss(y, fitted, alpha=model.quantile, sample_weight=weight)
    return loss + model.alpha * np.abs(model.coef_).sum(dtype=np.float64)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("quantile", "alpha"), [(0.1, 0.01), (0.5, 0.01), (0.5, 0.1), (0.9, 0.1), (0.8, 5.0)])
def test_it_has_the_optimum_of_the_linear_program(diabetes, quantile, alpha, fit_intercept):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    options = {"quantile": quantile, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = QuantileRegressor(**options, tol=1e-7, max_iter=100_000).fit(X, y, weight)
    theirs = SklearnQuantile(**options, solver="highs").fit(X, y, weight)
    optimum = objective(theirs, X, y, weight)
    assert ours.certificate_.primal == pytest.approx(objective(ours, X, y, weight), rel=1e-10)
    assert ours.certificate_.primal == pytest.approx(optimum, rel=2e-7)
    assert ours.certificate_.dual <= optimum * (1 + 1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.05)


def test_the_share_of_targets_below_is_the_quantile(diabetes):
    X, y = diabetes
    for quantile in (0.1, 0.5, 0.9):
        model = QuantileRegressor(quantile=quantile, alpha=0.01, tol=1e-5).fit(X, y)
        assert np.mean(y < model.predict(X)) == pytest.approx(quantile, abs=0.02)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_the_certificate_is_confirmed(diabetes, storage, dtype):
    X, y = diabetes
    X = X.astype(dtype)
    model = QuantileRegressor(quantile=0.7, alpha=0.1).fit(storage(X), y)
    assert model.certificate_.status is Status.CERTIFIED
    assert model.coef_.dtype == dtype
    assert 0 <= model.certificate_.verify(X, y).relative_gap <= 1e-3
    assert model.certificate_.primal == pytest.approx(objective(model, X, y), rel=1e-7)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, y + 1.0 * (np.arange(y.size) % 2))


@pytest.mark.parametrize(
    "wrong", [{"quantile": 0.0}, {"quantile": 1.0}, {"quantile": -0.5}, {"quantile": np.nan}, {"alpha": 0.0}]
)
def test_wrong_parameters(diabetes, wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        QuantileRegressor(**wrong).fit(*diabetes)

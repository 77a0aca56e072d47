"""ElasticNet: scikit-learn's objective and solution, with a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import Ridge

from minorant import ElasticNet, InputError, Status


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0) + 1.0, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.1, 0.5), (1.0, 0.9), (2.0, 1.0)])
def test_it_is_that_of_scikit_learn(diabetes, alpha, l1_ratio, fit_intercept):
    X, y = diabetes
    options = {"alpha": alpha, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept}
    ours = ElasticNet(**options, tol=1e-12, max_iter=100_000).fit(X, y)
    theirs = SklearnElasticNet(**options, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)


def test_without_l1_it_is_ridge_regression(diabetes):
    X, y = diabetes
    ours = ElasticNet(alpha=0.3, l1_ratio=0.0, tol=1e-12, max_iter=50_000).fit(X, y)
    theirs = Ridge(alpha=0.3 * y.size).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
def test_the_certificate_is_confirmed(diabetes, l1_ratio):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = ElasticNet(alpha=0.5, l1_ratio=l1_ratio).fit(sp.csr_array(X), y, weight)
    assert model.certificate_.status is Status.CERTIFIED
    assert 0 <= model.certificate_.verify(X, y).relative_gap <= 1e-3
    w = np.abs(model.coef_)
    squares = np.average((X @ model.coef_ + model.intercept_ - y) ** 2, weights=weight)
    J = squares + 2 * 0.5 * (l1_ratio * w.sum() + (1 - l1_ratio) / 2 * w @ w)
    assert model.certificate_.primal == pytest.approx(J, rel=1e-12)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, y + 1.0 * (np.arange(y.size) % 2))


def test_warm_start(diabetes):
    X, y = diabetes
    model = ElasticNet(alpha=0.5, warm_start=True, tol=1e-6).fit(X, y)
    model.fit(X, y)
    assert model.n_iter_ == 0

"""LogisticRegression: scikit-learn's objective and solution, with a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.preprocessing import StandardScaler

from minorant import InputError, LogisticRegression, Status


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_l2_is_that_of_scikit_learn(cancer):
    X, y = cancer
    ours = LogisticRegression(C=0.1, tol=1e-8).fit(X, y)
    theirs = SklearnLogistic(C=0.1, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), atol=1e-14)


@pytest.mark.parametrize(("penalty", "l1_ratio"), [("l1", 1.0), ("elasticnet", 0.5)])
def test_sparse_penalties_are_those_of_scikit_learn(cancer, penalty, l1_ratio):
    X, y = cancer
    ours = LogisticRegression(C=0.1, penalty=penalty, tol=1e-8, max_iter=50_000).fit(X, y)
    theirs = SklearnLogistic(C=0.1, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=20_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert (np.abs(ours.coef_) < 1e-6).sum() >= 10
    assert ours.certificate_.verify(X, y).relative_gap <= 1.01e-8


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_certificate_is_confirmed(cancer, penalty, fit_intercept):
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = LogisticRegression(penalty=penalty, fit_intercept=fit_intercept).fit(sp.csr_array(X), y, weight)
    assert model.certificate_.status is Status.CERTIFIED
    verdict = model.certificate_.verify(X, y)
    assert 0 <= verdict.relative_gap <= 1e-3
    scores = X @ model.coef_[0] + model.intercept_[0]
    signs = np.where(y == 1, 1, -1)
    lam = 1 / weight.sum()
    w = np.abs(model.coef_[0])
    size = {"l2": w @ w / 2, "l1": w.sum(), "elasticnet": 0.5 * w.sum() + 0.25 * w @ w}[penalty]
    J = lam * size + np.average(np.logaddexp(0, -signs * scores), weights=weight)
    assert model.certificate_.primal == pytest.approx(J, rel=1e-12)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X * 1.01, y)

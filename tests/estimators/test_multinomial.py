"""LogisticRegression of more than two classes: scikit-learn's objective and solution, with one certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.preprocessing import StandardScaler

from minorant import InputError, LogisticRegression, Status, checker_multiclass


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150] / 16, y[:150]


def iris():
    return load_iris(return_X_y=True)


def distance(model):
    """How far coef_ can be from the optimum: J is λ-strongly convex in W, so (λ/2)‖W - W*‖² ≤ gap, up to rounding."""
    proof = model.certificate_
    return np.sqrt(2 * (proof.gap + np.finfo(float).eps * proof.primal) / proof.lam)


def agree(ours, theirs, X, atol):
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ - theirs.intercept_.mean(), atol=atol)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=atol)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("data", [iris, wine, digits])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l2_is_that_of_scikit_learn(data, fit_intercept):
    """A gap of 1e-8 proves the coefficients to its root only, but the last step of Newton's method goes farther."""
    X, y = data()
    theirs = SklearnLogistic(fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000).fit(X, y)
    ours = LogisticRegression(fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    agree(ours, theirs, X, 1e-4)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= distance(ours) + 1e-5


@pytest.mark.parametrize(("penalty", "l1_ratio"), [("l1", 1.0), ("elasticnet", 0.5)])
@pytest.mark.parametrize("data", [iris, wine])
def test_sparse_penalties_are_those_of_scikit_learn(data, penalty, l1_ratio):
    X, y = data()
    ours = LogisticRegression(C=0.5, penalty=penalty, tol=1e-8).fit(X, y)
    theirs = SklearnLogistic(C=0.5, l1_ratio=l1_ratio, solver="saga", tol=1e-8, max_iter=100_000, random_state=0)
    agree(ours, theirs.fit(X, y), X, 1e-4)
    assert (np.abs(ours.coef_) < 1e-6).any()
    assert ours.certificate_.verify(X, y).relative_gap <= 1.01e-8


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_certificate_is_confirmed(penalty, fit_intercept):
    X, y = wine()
    names = np.array(["barbera", "grignolino", "barolo"])[y]
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = LogisticRegression(penalty=penalty, fit_intercept=fit_intercept).fit(sp.csr_array(X), names, weight)
    proof = model.certificate_
    assert proof.status is Status.CERTIFIED
    assert proof.alpha.shape == (y.size, 3)
    assert np.abs(proof.alpha.sum(axis=1)).max() <= 1e-15
    assert not fit_intercept or np.abs(proof.alpha.sum(axis=0)).max() <= 1e-15
    assert 0 <= proof.verify(X, names).relative_gap <= 1e-3
    assert list(model.classes_) == sorted(set(names))
    own = np.log(model.predict_proba(X))[np.arange(y.size), np.searchsorted(model.classes_, names)]
    W = np.abs(model.coef_)
    size = {"l2": (W**2).sum() / 2, "l1": W.sum(), "elasticnet": 0.5 * W.sum() + 0.25 * (W**2).sum()}[penalty]
    assert proof.primal == pytest.approx(size / weight.sum() - np.average(own, weights=weight), rel=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), atol=1e-12)
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X * 1.01, names)
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X, np.roll(names, 1))
    with pytest.raises(InputError, match="the label 'merlot'"):
        proof.verify(X, np.where(y == 0, "merlot", names))
    with pytest.raises(InputError, match="shape"):
        proof.verify(X[1:], names[1:])


@pytest.mark.parametrize("part", [0, 1])
def test_a_wrong_formula_is_caught(part, monkeypatch):
    X, y = wine()
    proof = LogisticRegression().fit(X, y).certificate_
    wrong = list(checker_multiclass.LOSSES["multinomial"])
    wrong[part] = checker_multiclass.LOSSES["crammer_singer"][part]
    monkeypatch.setitem(checker_multiclass.LOSSES, "multinomial", tuple(wrong))
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X, y)


def test_float32_is_certified_as_returned():
    X, y = wine()
    X = X.astype(np.float32)
    model = LogisticRegression(tol=1e-4).fit(X, y)
    assert model.coef_.dtype == model.intercept_.dtype == model.predict_proba(X).dtype == np.float32
    assert model.certificate_.status is Status.CERTIFIED
    assert model.certificate_.verify(X, y).relative_gap <= 1e-4
    assert model.certificate_.verify(sp.csr_array(X), y).relative_gap <= 1e-4


def test_weights_are_repetitions_and_class_weights_are_weights():
    X, y = wine()
    times = np.random.default_rng(0).integers(0, 4, size=y.size)
    weighted = LogisticRegression(tol=1e-9).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(tol=1e-9).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.linalg.norm(weighted.coef_ - repeated.coef_) <= distance(weighted) + distance(repeated) + 1e-10
    by_class = LogisticRegression(class_weight={0: 3.0}).fit(X, y)
    by_sample = LogisticRegression().fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_sample.coef_)


def test_warm_start_goes_on_from_the_last_solution():
    X, y = wine()
    model = LogisticRegression(warm_start=True).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, first)
    model.set_params(C=1.1).fit(X, y)
    model.certificate_.verify(X, y)
    model.fit(X[1:], y[1:])  # other rows: the dual point does not fit, the primal one does
    assert model.certificate_.relative_gap <= 1e-3
    two = y > 0
    model.fit(X, two)  # one row, and a certificate of another kind
    assert model.coef_.shape == (1, X.shape[1])
    model.certificate_.verify(X, two)
    model.fit(X, y)
    model.certificate_.verify(X, y)


def test_a_warm_start_saves_products():
    """Of data that are not so small that every fit goes to rounding."""
    X, y = load_digits(return_X_y=True)
    warm = LogisticRegression(warm_start=True).fit(X / 16, y).set_params(C=1.1).fit(X / 16, y)
    cold = LogisticRegression(C=1.1).fit(X / 16, y)
    assert warm.trace_[-1].products < 0.5 * cold.trace_[-1].products


def test_dual_coef_rebuilds_the_solution():
    X, y = wine()
    model = LogisticRegression(tol=1e-8).fit(X, y)
    assert model.dual_coef_.shape == (3, y.size)
    assert np.linalg.norm(model.dual_coef_ @ X - model.coef_) <= 2 * distance(model)

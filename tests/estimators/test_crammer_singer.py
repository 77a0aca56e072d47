"""LinearSVC(multi_class="crammer_singer"): all classes in one problem, with one certificate."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as SklearnLinearSVC

from minorant import InputError, LinearSVC, Status, checker_multiclass
from minorant.multiclass import JointCertificate


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def joint(**options):
    return LinearSVC(**{"multi_class": "crammer_singer", "C": 0.1, **options})


def interior_point(X, y, weight, C, penalty, bias):
    """The least J = penalty + C Σ weight_i loss_i, from its definition, and W, b there."""
    n, k = y.size, y.max() + 1
    W, b = cp.Variable((X.shape[1], k)), cp.Variable((1, k))
    scores = X @ W + (np.ones((n, 1)) @ b if bias else 0.0)
    E = np.eye(k)[y]
    each = cp.max(scores + (1 - E), axis=1) - cp.sum(cp.multiply(E, scores), axis=1)
    l1, l2 = cp.sum(cp.abs(W)), 0.5 * cp.sum_squares(W)
    omega = {"l2": l2, "l1": l1, "elasticnet": 0.5 * l1 + 0.5 * l2}[penalty]
    return cp.Problem(cp.Minimize(omega + C * weight @ each), [cp.sum(b) == 0]).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_optimum_of_an_interior_point_method(wine, penalty, fit_intercept):
    X, y = wine[0][::3] + 0.5, wine[1][::3]
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = joint(penalty=penalty, fit_intercept=fit_intercept, tol=1e-4).fit(sp.csr_array(X), y, weight)
    proof = model.certificate_
    J = interior_point(X, y, weight, 0.1, penalty, fit_intercept) / (0.1 * weight.sum())
    assert proof.status is Status.CERTIFIED
    assert proof.dual <= J * (1 + 1e-7)
    assert J * (1 - 1e-7) <= proof.primal <= J * (1 + 1.1e-4)
    verdict = proof.verify(X, y)
    assert 0 <= verdict.relative_gap <= 1e-4 * (1 + 1e-6)
    assert proof.alpha.shape == (y.size, 3)
    assert np.abs(proof.alpha.sum(axis=1)).max() <= 1e-15
    assert not fit_intercept or np.abs(proof.alpha.sum(axis=0)).max() <= 1e-14
    assert fit_intercept or not model.intercept_.any()
    # J at the attributes themselves
    S, W = X @ model.coef_.T + model.intercept_, np.abs(model.coef_)
    each = (S + 1 - np.eye(3)[y]).max(axis=1) - S[np.arange(y.size), y]
    size = {"l2": (W**2).sum() / 2, "l1": W.sum(), "elasticnet": 0.5 * W.sum() + 0.25 * (W**2).sum()}[penalty]
    assert proof.primal == pytest.approx((size / 0.1 + weight @ each) / weight.sum(), rel=1e-12)
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X * 1.01, y)


def test_without_bias_it_is_that_of_liblinear(wine):
    X, y = wine
    ours = joint(fit_intercept=False, tol=1e-6).fit(X, y)
    options = {"multi_class": "crammer_singer", "fit_intercept": False, "random_state": 0}
    theirs = SklearnLinearSVC(C=0.1, tol=1e-8, max_iter=100_000, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("part", [0, 1])
def test_a_wrong_formula_is_caught(wine, part, monkeypatch):
    X, y = wine
    proof = joint().fit(X, y).certificate_
    wrong = list(checker_multiclass.LOSSES["crammer_singer"])
    wrong[part] = checker_multiclass.LOSSES["multinomial"][part]
    monkeypatch.setitem(checker_multiclass.LOSSES, "crammer_singer", tuple(wrong))
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X, y)


def test_the_biases_are_free():
    """A shift of the data moves the biases and nothing else; the scores of liblinear's penalized biases it does."""
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    here, there = (joint(tol=1e-6).fit(X + shift, y) for shift in (0.0, 3.0))
    assert here.certificate_.primal == pytest.approx(there.certificate_.primal, rel=2e-6)
    distance = sum(np.sqrt(2 * m.certificate_.gap / m.certificate_.lam) for m in (here, there))
    assert np.linalg.norm(here.coef_ - there.coef_) <= distance
    assert np.abs(here.intercept_ - there.intercept_).max() > 0.5
    assert np.abs(here.intercept_.sum()) <= 1e-12


def test_two_classes_have_one_row(wine):
    """As in scikit-learn; with L2 it is the hinge at twice the C."""
    X, y = wine[0], np.where(wine[1] > 0, "b", "a")
    model, hinge = joint(tol=1e-6).fit(X, y), LinearSVC(C=0.2, tol=1e-6).fit(X, y)
    assert model.coef_.shape == (1, X.shape[1])
    assert model.dual_coef_.shape == (1, y.size)
    assert model.intercept_.shape == (1,)
    assert model.certificate_.coef.shape == (2, X.shape[1])
    np.testing.assert_allclose(model.coef_, hinge.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, hinge.intercept_, atol=5e-3)
    assert model.decision_function(X).shape == (y.size,)
    assert (model.predict(X) == hinge.predict(X)).all()
    model.certificate_.verify(X, y)


def test_warm_start_goes_on_from_the_last_solution_of_its_kind(wine):
    X, y = wine
    model = joint(warm_start=True).fit(X, y)
    first = model.coef_.copy()
    assert model.fit(X, y).n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, first)
    model.fit(X[1:], y[1:])  # other rows: the dual point does not fit, the primal one does
    assert model.certificate_.relative_gap <= 1e-3
    model.set_params(multi_class="ovr").fit(X, y)
    assert len(model.certificate_) == 3
    model.set_params(multi_class="crammer_singer").fit(X, y)
    assert isinstance(model.certificate_, JointCertificate)
    model.certificate_.verify(X, y)
    two = y > 0
    for multi_class in ("crammer_singer", "ovr", "crammer_singer"):
        model.set_params(multi_class=multi_class).fit(X, two)
        assert model.coef_.shape == (1, X.shape[1])
        model.certificate_.verify(X, two)


def test_float32_is_certified_as_returned(wine):
    X, y = wine[0].astype(np.float32), wine[1]
    model = joint(tol=1e-4).fit(X, y)
    assert model.coef_.dtype == model.intercept_.dtype == model.decision_function(X).dtype == np.float32
    assert model.certificate_.status is Status.CERTIFIED
    assert model.certificate_.verify(X, y).relative_gap <= 1e-4


def test_another_loss_is_refused(wine):
    with pytest.raises(InputError, match="a hinge loss of its own"):
        joint(loss="squared_hinge").fit(*wine)


def test_a_class_without_weight_is_refused(wine):
    X, y = wine
    with pytest.raises(InputError, match="every class needs an example of positive weight"):
        joint().fit(X, y, sample_weight=(y > 0).astype(float))
    model = joint(fit_intercept=False).fit(X, y, sample_weight=(y > 0).astype(float))
    model.certificate_.verify(X, y)

"""The choice of the strength by cross-validation: scikit-learn's scores and choice, every fit certified."""

import logging
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import ElasticNetCV as SklearnElasticNetCV
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.linear_model import LogisticRegressionCV as SklearnLogisticCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from minorant import (
    ElasticNet,
    ElasticNetCV,
    InputError,
    LinearSVC,
    LinearSVCCV,
    LogisticRegressionCV,
    NotCertified,
    Status,
    linear,
)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0) + 1.0, y


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("l1_ratio", "fit_intercept"), [(0.5, True), (1.0, True), (0.7, False)])
def test_the_elastic_net_is_that_of_scikit_learn(diabetes, l1_ratio, fit_intercept, weighted):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, size=y.size).astype(float) if weighted else None
    options = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "alphas": 12, "cv": 4}
    ours = ElasticNetCV(**options, tol=1e-9).fit(X, y, weight)
    theirs = SklearnElasticNetCV(**options, tol=1e-10, max_iter=100_000).fit(X, y, weight)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-12)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    assert ours.max_gap_path_.shape == (12, 4)
    assert ours.max_gap_path_.max() <= 1e-9
    assert ours.certificate_.verify(X, y).relative_gap <= 1.01e-9


def test_the_whole_path_of_the_diabetes_data():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = ElasticNetCV(tol=1e-6).fit(X, y), SklearnElasticNetCV(tol=1e-8, max_iter=10_000).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-12)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-3)


def test_alphas_are_sorted_and_the_model_is_fitted_to_all_data(diabetes):
    X, y = diabetes
    model = ElasticNetCV(alphas=[0.1, 10.0, 1.0], cv=KFold(3)).fit(sp.csr_array(X), y)
    assert model.alphas_.tolist() == [10.0, 1.0, 0.1]
    assert model.alpha_ == model.alphas_[model.mse_path_.mean(axis=1).argmin()]
    alone = ElasticNet(alpha=model.alpha_).fit(sp.csr_array(X), y)
    assert np.array_equal(model.coef_, alone.coef_)
    assert np.array_equal(model.predict(X), alone.predict(X))


@pytest.mark.parametrize(("penalty", "l1_ratio"), [("l2", 0.0), ("elasticnet", 0.5)])
def test_logistic_regression_is_that_of_scikit_learn(cancer, penalty, l1_ratio):
    X, y = cancer
    Cs = [0.3, 0.01, 0.03]
    ours = LogisticRegressionCV(Cs=Cs, penalty=penalty, cv=3, scoring="neg_log_loss", tol=1e-7).fit(X, y)
    theirs = SklearnLogisticCV(
        Cs=Cs, l1_ratios=(l1_ratio,), cv=3, solver="saga", scoring="neg_log_loss", tol=1e-7, max_iter=20_000,
        use_legacy_attributes=False,
    ).fit(X, y)  # fmt: skip
    assert ours.Cs_.tolist() == Cs
    np.testing.assert_allclose(ours.scores_, theirs.scores_[:, 0, :], atol=1e-4)
    assert ours.C_ == theirs.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    assert ours.certificate_.verify(X, y).relative_gap <= 1.01e-7
    np.testing.assert_allclose(ours.predict_proba(X[:5]).sum(axis=1), 1.0)


def test_scores_are_weighted(cancer):
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    folds = list(KFold(3).split(X))
    ours = LogisticRegressionCV(Cs=[0.01, 0.1], cv=folds, scoring="neg_log_loss", tol=1e-8).fit(X, y, weight)
    for fold, (train, test) in enumerate(folds):
        for i, C in enumerate(ours.Cs_):
            alone = SklearnLogistic(C=C, tol=1e-8, max_iter=1000).fit(X[train], y[train], weight[train])
            score = -log_loss(y[test], alone.predict_proba(X[test]), sample_weight=weight[test])
            assert ours.scores_[fold, i] == pytest.approx(score, abs=1e-4)


def test_a_scorer_of_three_arguments_is_called_with_three(cancer):
    X, y = cancer

    def score(model, X, y):
        return -abs(model.C - 0.1)

    model = LinearSVCCV(Cs=[0.01, 0.1, 1.0], scoring=score, cv=2).fit(X, y, np.ones(y.size))
    assert model.C_ == 0.1


def test_the_svm_is_that_of_a_grid_search():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    Cs = [10.0, 0.001, 0.1]
    ours = LinearSVCCV(Cs=Cs, tol=1e-5, loss="squared_hinge").fit(X, y)
    theirs = GridSearchCV(LinearSVC(tol=1e-5, loss="squared_hinge"), {"C": Cs}).fit(X, y)
    scores = np.stack([theirs.cv_results_[f"split{k}_test_score"] for k in range(5)])
    np.testing.assert_allclose(ours.scores_, scores, atol=0.04)  # one example on the other side of a boundary
    assert theirs.best_params_["C"] == ours.C_
    assert np.array_equal(ours.coef_, theirs.best_estimator_.coef_)
    assert ours.max_gap_path_.shape == (5, 3)
    assert ours.max_gap_path_.max() <= 1e-5
    assert all(c.status is Status.CERTIFIED for c in ours.certificate_)
    assert [c.verify(X, y).problems for c in ours.certificate_] == [[], [], []]
    train, _ = next(StratifiedKFold(5).split(X, y))
    first = LinearSVC(0.001, tol=1e-5, loss="squared_hinge").fit(X[train], y[train])
    assert ours.max_gap_path_[0, 1] == max(c.relative_gap for c in first.certificate_)


def test_each_point_starts_from_the_one_before_it(cancer, monkeypatch):
    iterations = {True: [], False: []}
    solve = linear.solve

    def spy(problem, *, start, **options):
        result = solve(problem, start=start, **options)
        iterations[start is not None].append(result.n_iter)
        return result

    X, y = cancer
    Cs = np.geomspace(0.01, 0.011, 10)
    monkeypatch.setattr(linear, "solve", spy)
    monkeypatch.setattr(linear, "whole_fit", lambda *_: None)  # a first point would not go through `solve`
    LinearSVCCV(Cs=Cs, cv=3, tol=1e-2).fit(X, y)
    assert (len(iterations[True]), len(iterations[False])) == (27, 4)  # a first point in each fold, and the last fit
    warm = sum(iterations[True])
    iterations[False].clear()
    for train, _ in KFold(3).split(X):
        for C in Cs[1:]:
            LinearSVC(C, tol=1e-2).fit(X[train], y[train])
    assert warm < 0.5 * sum(iterations[False])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model", [ElasticNetCV(alphas=5), LogisticRegressionCV(Cs=[0.1, 1.0]), LinearSVCCV(Cs=[0.1, 1.0])]
)
def test_sparse_data_have_the_path_of_dense_ones(cancer, model, dtype):
    X, y = cancer
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(dtype)
    name = "mse_path_" if isinstance(model, ElasticNetCV) else "scores_"
    dense = getattr(model.fit(X, y), name)
    assert model.coef_.dtype == dtype
    sparse = getattr(model.fit(sp.csr_array(X), y), name)
    np.testing.assert_allclose(sparse, dense, rtol=1e-2)


def test_open_gaps_are_warned_of_once(diabetes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ElasticNetCV(alphas=4, cv=3, tol=1e-12, max_iter=2, eps=1e-2, solver="agm-inf").fit(*diabetes)
    last, folds = caught  # of the fit of all data, and of those of the folds
    assert (last.category, folds.category) == (NotCertified, NotCertified)
    assert (last.filename, folds.filename) == (__file__, __file__)
    n_open = (model.max_gap_path_ > 1e-12).sum()
    assert n_open >= 9
    message = str(folds.message)
    assert f"in {n_open} fits of the cross-validation, of which this is the worst" in message
    assert f"the relative gap is {model.max_gap_path_.max():.2e}" in message


def test_progress_is_logged_where_asked_for(diabetes, caplog):
    with caplog.at_level(logging.INFO, logger="minorant"):
        ElasticNetCV(alphas=3, cv=2).fit(*diabetes)
        assert not caplog.messages
        ElasticNetCV(alphas=3, cv=2, verbose=1).fit(*diabetes)
    folds = [m for m in caplog.messages if m.startswith("fold")]
    assert len(folds) == 6
    assert folds[-1].startswith("fold 2 of 2, alpha = ")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ElasticNetCV(alphas=[]), "alphas"),
        (ElasticNetCV(alphas=[1.0, 0.0]), "alphas"),
        (ElasticNetCV(alphas=[1.0, np.nan]), "alphas"),
        (ElasticNetCV(alphas=[[1.0]]), "alphas"),
        (ElasticNetCV(alphas=0), "alphas"),
        (ElasticNetCV(eps=0.0), "eps"),
        (ElasticNetCV(l1_ratio=0.0), "pass a list as alphas"),
        (LogisticRegressionCV(Cs=[-1.0]), "Cs"),
        (LinearSVCCV(Cs=[np.inf]), "Cs"),
        (LinearSVCCV(Cs=["one"]), "Cs must be a number of points or a list of finite numbers > 0"),
        (LinearSVCCV(cv=1), "n_splits"),
        (LinearSVCCV(scoring="accurate"), "scoring"),
    ],
)
def test_wrong_parameters(cancer, model, reason):
    with pytest.raises(ValueError, match=reason):
        model.fit(*cancer)


def test_a_fold_without_weight_is_refused(diabetes):
    X, y = diabetes
    weight = np.r_[np.zeros(200), np.ones(y.size - 200)]
    with pytest.raises(InputError, match="fold 1 has no example of positive weight"):
        ElasticNetCV(alphas=3).fit(X, y, weight)


def test_constant_targets_have_a_grid(diabetes):
    X, y = diabetes
    model = ElasticNetCV(alphas=3).fit(X, np.full(y.size, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)


@pytest.mark.parametrize(
    "model", [LogisticRegressionCV(Cs=[0.1, 1.0]), LinearSVCCV(Cs=[0.1, 1.0], multi_class="crammer_singer")]
)
def test_classes_fitted_together_have_one_certificate(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.max_gap_path_.max() <= 1e-3
    assert model.certificate_.verify(X, y).relative_gap <= 1e-3

"""LinearSVC as its users meet it."""

import pickle

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as SklearnLinearSVC

from minorant import InputError, LinearSVC, NotCertified, Status, checker


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def objective(X, y, w, b, C):
    """½‖w‖² + C Σ hinge, from the definition."""
    return 0.5 * w @ w + C * np.maximum(0, 1 - np.where(y == y.max(), 1, -1) * (X @ w + b)).sum()


def test_certificate_has_the_promised_scale(cancer):
    X, y = cancer
    n, C = len(y), 0.1
    model = LinearSVC(C=C).fit(X, y)
    cert = model.certificate_
    assert cert.status is Status.CERTIFIED
    assert 0 <= cert.relative_gap <= 1e-3
    assert cert.gap == cert.primal - cert.dual
    assert cert.alpha.shape == (n,)
    assert cert.alpha.min() >= 0
    assert cert.alpha.max() <= 1 / n
    assert cert.n_products > 0
    J = objective(X, y, model.coef_[0], model.intercept_[0], C)
    assert cert.primal == pytest.approx(J / (C * n), rel=1e-12)
    signs = np.where(y == 1, 1.0, -1.0)
    D = cert.alpha.sum() - C * n / 2 * np.sum((X.T @ (signs * cert.alpha)) ** 2)
    assert cert.dual == pytest.approx(D, rel=1e-10)
    assert model.trace_[-1].products <= cert.n_products


def test_verify_confirms_the_fit_and_catches_other_data(cancer):
    X, y = cancer
    model = LinearSVC(C=0.1).fit(X, y)
    verdict = model.certificate_.verify(X, y)
    assert verdict.gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X + 0.1, y)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, 1 - y)
    with pytest.raises(InputError, match="shape"):
        model.certificate_.verify(X[:10], y[:10])


def test_free_bias_matches_svc_where_a_penalized_bias_does_not():
    # Farther from the origin SVC itself is wrong by more: it keeps its kernel in float32.
    X, y = make_blobs(n_samples=60, centers=[[5.0, 5.0], [7.0, 8.0]], cluster_std=1.0, random_state=1)
    ours = LinearSVC(C=1.0, tol=1e-7, max_iter=100_000, smoothing="none").fit(X, y)
    J = objective(X, y, ours.coef_[0], ours.intercept_[0], 1.0)
    svc = SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    assert pytest.approx(objective(X, y, svc.coef_[0], svc.intercept_[0], 1.0), rel=1e-6) == J
    penalized = SklearnLinearSVC(loss="hinge", C=1.0, tol=1e-6, max_iter=1_000_000).fit(X, y)
    assert objective(X, y, penalized.coef_[0], penalized.intercept_[0], 1.0) > 3 * J


def distance(model):
    """How far coef_ can be from the optimum: J is λ-strongly convex in w, so (λ/2)‖w - w*‖² ≤ gap."""
    return np.sqrt(2 * model.certificate_.gap / model.certificate_.lam)


@pytest.mark.parametrize(
    "kind", ["csr", "csr64", "unsorted", "csc", "coo", "fortran", "strided", "readonly", "pandas", "list"]
)
def test_every_container_gives_the_same_model(cancer, kind):
    X, y = cancer
    X = np.where(np.abs(X) > 0.5, X, 0.0)[:200]
    y = y[:200]
    reference = LinearSVC(C=0.1, tol=1e-6).fit(X, y)
    csr = sp.csr_array(X)
    if kind == "csr":
        data = csr
    elif kind == "csr64":
        data = sp.csr_matrix(X)
        data.indices, data.indptr = data.indices.astype(np.int64), data.indptr.astype(np.int64)
    elif kind == "unsorted":
        data = csr.copy()
        for i in range(data.shape[0]):
            row = slice(data.indptr[i], data.indptr[i + 1])
            data.indices[row], data.data[row] = data.indices[row][::-1].copy(), data.data[row][::-1].copy()
        data.has_sorted_indices = False
    elif kind in ("csc", "coo"):
        data = csr.asformat(kind)
    elif kind == "fortran":
        data = np.asfortranarray(X)
    elif kind == "strided":
        data = np.repeat(X, 2, axis=1)[:, ::2]
        assert not data.flags.c_contiguous
    elif kind == "readonly":
        data = X.copy()
        data.flags.writeable = False
    elif kind == "pandas":
        data = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    else:
        data = X.tolist()
    model = LinearSVC(C=0.1, tol=1e-6).fit(data, y)
    assert np.linalg.norm(model.coef_ - reference.coef_) <= distance(model) + distance(reference)
    assert (model.predict(data) == reference.predict(X)).all()
    if kind == "pandas":
        assert list(model.feature_names_in_) == list(data.columns)


def test_float32_stays_float32_and_is_certified_as_returned(cancer):
    X, y = cancer
    X32 = X.astype(np.float32)
    model = LinearSVC(C=0.1, tol=1e-4).fit(X32, y)
    assert model.coef_.dtype == model.intercept_.dtype == model.decision_function(X32).dtype == np.float32
    cert = model.certificate_
    assert cert.status is Status.CERTIFIED
    w, b = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    J = objective(X32.astype(np.float64), y, w, b, 0.1) / (0.1 * len(y))
    assert cert.primal == pytest.approx(J, rel=1e-12)
    cert.verify(X32, y)


def test_coef_and_gap_are_bit_identical_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = sp.random_array((30_000, 2_000), density=0.02, rng=rng, format="csr")
    y = (X @ rng.normal(size=2_000) > 0).astype(int)
    fits = [LinearSVC(n_jobs=k, tol=1e-6).fit(X, y) for k in (1, 2, 3, 4, 7)]
    for fit in fits[1:]:
        assert (fit.coef_ == fits[0].coef_).all()
        assert fit.intercept_ == fits[0].intercept_
        assert fit.certificate_.gap == fits[0].certificate_.gap


def test_one_vs_rest_has_a_certificate_for_each_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LinearSVC().fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names) > 0.9
    assert len(model.certificate_) == len(model.trace_) == 3
    for k, cert in enumerate(model.certificate_):
        assert cert.positive == model.classes_[k]
        assert cert.relative_gap <= 1e-3
        cert.verify(X, names)
        binary = LinearSVC().fit(X, names == cert.positive)
        np.testing.assert_allclose(binary.coef_[0], model.coef_[k], rtol=1e-10)


def test_weights_are_repetitions_and_class_weights_are_weights(cancer):
    X, y = cancer
    X, y = X[:150], y[:150]
    repeats = np.random.default_rng(0).integers(0, 4, size=150)
    weighted = LinearSVC(tol=1e-5, C=0.1).fit(X, y, sample_weight=repeats)
    repeated = LinearSVC(tol=1e-5, C=0.1).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-5)
    assert np.linalg.norm(weighted.coef_ - repeated.coef_) <= distance(weighted) + distance(repeated)
    weighted.certificate_.verify(X, y)
    by_class = LinearSVC(C=0.1, class_weight={0: 3.0}).fit(X, y)
    by_sample = LinearSVC(C=0.1).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_sample.coef_)


def test_dual_coef_rebuilds_the_solution(cancer):
    X, y = cancer
    model = LinearSVC(C=0.1, tol=1e-5, smoothing="none").fit(X, y)
    assert np.abs(model.dual_coef_).max() <= 0.1 * (1 + 1e-12)
    assert np.linalg.norm(model.dual_coef_ @ X - model.coef_) <= distance(model)


def test_warm_start_goes_on_from_the_last_solution(cancer):
    X, y = cancer
    model = LinearSVC(C=0.1, warm_start=True).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, first)
    model.set_params(C=0.11).fit(X, y)
    cold = LinearSVC(C=0.11).fit(X, y)
    assert model.certificate_.n_products < 0.7 * cold.certificate_.n_products
    model.fit(X[:300], y[:300])  # other rows: the dual point does not fit, the primal one does
    assert model.certificate_.relative_gap <= 1e-3


def test_grid_search_pipeline_clone_pickle(cancer):
    X, y = cancer
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.01, 0.1]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.95
    model = clone(LinearSVC(C=0.1)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert (again.predict(X) == model.predict(X)).all()
    again.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], None, "NaN"),
        ([[1.0], [np.inf]], [0, 1], None, "infinity"),
        ([[1.0], [2.0]], [1, 1], None, "one class"),
        (np.empty((0, 3)), [], None, "0 sample"),
        (np.empty((3, 0)), [0, 1, 0], None, "0 feature"),
        ([[1.0], [2.0]], [0, 1], [1.0, -1.0], "[Nn]egative"),
        ([[1.0], [2.0]], [0, 1], [0.0, 0.0], "zero"),
        ([[1.0], [2.0]], [0, 1], [1.0, 0.0], "both classes"),
        ([[1.0], [2.0]], [0, 1], [1.0, np.nan], "NaN"),
        ([[1.0], [2.0]], [0, 1], [1.0], "sample_weight"),
        ([[1.0], [2.0]], [0, 1, 1], None, "inconsistent"),
        ([[1e200], [-1e200]], [0, 1], None, "too large"),
        ([1.0, 2.0], [0, 1], None, "2D"),
    ],
)
def test_bad_input_is_an_input_error(X, y, weight, message):
    with pytest.raises(InputError, match=message):
        LinearSVC().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(60, 3), (400, 120), (30, 200)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_value_that_is_not_finite_is_found_on_every_way(kind, shape, dtype, bad):
    """The fit itself finds it: in sweeps, in Newton's method, with few rows, in float32, where its weight is 0."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape).astype(dtype)
    y = np.where(X[:, 0] + rng.standard_normal(shape[0]) > 0, 1.0, -1.0)
    weight = np.ones(shape[0])
    weight[0] = 0.0
    good = LinearSVC(warm_start=True).fit(kind(X), y)
    for row in (0, shape[0] - 1):
        spoiled = X.copy()
        spoiled[row, -1] = bad
        spoiled = kind(spoiled)
        for model in (LinearSVC(1e-4), LinearSVC(100.0, loss="squared_hinge"), LinearSVC(penalty="l1"), good):
            for labels in (y, np.where(y > 0, "a", "b"), np.arange(shape[0]) % 3):
                with pytest.raises(InputError, match=r"NaN|infinit"):
                    model.fit(spoiled, labels, sample_weight=weight)
                with pytest.raises(InputError, match=r"NaN|infinit"):
                    model.fit(spoiled, labels)


def test_a_column_index_out_of_range_is_an_error_not_a_crash():
    X = sp.csr_matrix(np.eye(4))
    X.indices[2] = 10**6
    with pytest.raises(InputError, match="column index 1000000 in row 2"):
        LinearSVC().fit(X, [0, 1, 0, 1])


def test_an_unfinished_fit_says_how_far_it_got():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(NotCertified, match=r"lower bound .* relative gap is .* max_iter") as caught:
        model = LinearSVC(max_iter=2, solver="agm-inf").fit(X, y)
    assert len(caught) == 1
    assert model.certificate_.status is Status.MAX_ITER
    assert model.certificate_.relative_gap > 1e-3
    model.certificate_.verify(X, y)  # open, but honest


def test_max_time_holds_for_the_whole_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 60))
    y = np.argmax(X[:, :3] + rng.standard_normal((3000, 3)), axis=1)
    with pytest.warns(NotCertified, match="max_time"):  # the default may be done by its first look at the clock
        model = LinearSVC(C=1e4, tol=1e-9, solver="agm-inf", max_time=1e-6).fit(X, y)
    assert [c.status for c in model.certificate_] == [Status.MAX_TIME] * 3


def test_verbose_logs_and_prints_nothing(cancer, caplog, capsys):
    X, y = cancer
    with caplog.at_level("INFO", logger="minorant"):
        LinearSVC(C=0.1, tol=1e-4, verbose=1).fit(X, y)
    assert "gap" in caplog.text
    assert capsys.readouterr() == ("", "")


def test_more_columns_than_memory_is_an_error_before_anything_is_allocated():
    X = sp.csr_matrix((np.ones(2), np.array([0, 2**31 - 2]), np.array([0, 1, 2])), shape=(2, 2**40))
    with pytest.raises(InputError, match="column index"):
        LinearSVC().fit(X, [0, 1])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_smooth_hinge_is_that_of_an_interior_point_method(cancer, fit_intercept):
    X, y = cancer[0][:80], np.where(cancer[1][:80] == 1, 1.0, -1.0)
    model = LinearSVC(loss="smooth_hinge", C=0.2, fit_intercept=fit_intercept, tol=1e-7).fit(X, y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    h = cp.pos(1 - cp.multiply(y, X @ w + (b if fit_intercept else 0)))
    # huber(x) is x² up to 1 and 2|x| - 1 from there on
    J = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.2 * cp.sum(cp.huber(h)) / 2)).solve(solver=cp.CLARABEL)
    scale = 0.2 * y.size
    assert model.certificate_.dual * scale <= J * (1 + 1e-7)
    assert model.certificate_.primal * scale == pytest.approx(J, rel=3e-7)
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-3)


@pytest.mark.parametrize("part", [0, 1])
def test_a_wrong_formula_of_the_smooth_hinge_is_caught(cancer, part, monkeypatch):
    X, y = cancer
    model = LinearSVC(loss="smooth_hinge", C=0.2).fit(X, y)
    assert model.certificate_.verify(X, y).relative_gap <= 1e-3
    wrong = list(checker.LOSSES["smooth_hinge"])
    wrong[part] = checker.LOSSES["hinge"][part]
    monkeypatch.setitem(checker.LOSSES, "smooth_hinge", tuple(wrong))
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, y)

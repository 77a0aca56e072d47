"""A classifier in one call: its certificate is that of the definitions, and the general way finds the same."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import LinearSVC, LogisticRegression, Problem, certify, kernels, solve
from minorant import linear as module
from minorant import whole_fit as core
from minorant.certificate import Status
from minorant.losses import Hinge, Logistic, SmoothHinge, SquaredHinge
from minorant.losses.base import normalized_weights
from minorant.operators import as_linear_map
from minorant.regularizers import L2
from minorant.solvers import linear as rule
from minorant.solvers.examples import Examples

pytestmark = pytest.mark.skipif(not kernels.native, reason="the core was not compiled")

LOSSES = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smooth_hinge": lambda y, **more: SmoothHinge(y, gamma=1.0, **more),
    "logistic": Logistic,
}


def draw(shape, *, sparse=False, seed=0, rare=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) + rng.normal(size=shape[1])
    if sparse:
        X *= rng.random(shape) < 0.3
    score = X @ rng.normal(size=shape[1]) + rng.normal(size=shape[0])
    y = np.where(score > np.quantile(score, 1 - rare), 1.0, -1.0)
    return (csr_array(X) if sparse else X), y


WAYS = {  # what a step of Newton's method costs, in sweeps, and from which curvature on it comes first
    "newton": (1.0, 0.0),
    "sweeps": (1e9, np.inf),
    "sweeps, then newton": (1e-9, np.inf),
}


def go(monkeypatch, way):
    rules, (step, curved) = core.sweep_rules, WAYS[way]
    monkeypatch.setattr(core, "sweep_rules", lambda e: (*rules(e)[:-4], step, *rules(e)[-3:-1], curved))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("rare", [0.5, 0.04])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_certificate_is_that_of_the_definitions(monkeypatch, way, loss, bias, sparse, C, rare, weighted):
    go(monkeypatch, way)
    X, y = draw((150, 9), sparse=sparse, rare=rare)
    lam, make = 1.0 / (C * y.size), LOSSES[loss]
    weight = np.random.default_rng(1).integers(0, 4, y.size).astype(float) if weighted else None
    c = None if weight is None else normalized_weights(weight, y.size)
    fit = core.whole_fit(as_linear_map(X), y, c, make(np.array([-1.0, 1.0]), bias=bias).scalar, lam, 1e-6)
    assert fit is not None
    primal, dual, alpha = fit.certificate.primal, fit.certificate.dual, fit.certificate.alpha
    problem = Problem(make(y, bias=bias, sample_weight=weight), X, L2(lam))
    claim = certify(problem, fit.w, alpha, tol=1e-6)
    np.testing.assert_array_equal(claim.alpha, alpha)  # in its domain as it is
    assert dual == pytest.approx(claim.dual, rel=1e-12)
    at_its_bias = problem.regularizer.value(fit.w) + problem.loss.value_at(problem.A @ fit.w, fit.intercept)
    assert primal == pytest.approx(at_its_bias, rel=1e-13)
    assert claim.primal <= primal * (1 + 1e-13)  # at the best bias
    assert primal - dual >= 0
    assert primal - dual <= 1e-6 * primal or (way == "sweeps" and C == 100.0)  # sweeps alone are slow there
    assert bias or fit.intercept == 0.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", LOSSES)
def test_finds_what_the_general_way_finds(monkeypatch, way, loss):
    go(monkeypatch, way)
    X, y = draw((120, 6))
    lam = 1.0 / y.size
    fit = core.whole_fit(as_linear_map(X), y, None, LOSSES[loss](np.array([-1.0, 1.0])).scalar, lam, 1e-9)
    reference = solve(Problem(LOSSES[loss](y), X, L2(lam)), tol=1e-9)
    np.testing.assert_allclose(fit.w, reference.w, atol=1e-3)
    assert fit.certificate.primal == pytest.approx(reference.certificate.primal, rel=2e-9)


# The other two begin at another bias, or step onto the hyperplane more than once.
@pytest.mark.parametrize(
    ("loss", "bias"), [*((loss, False) for loss in LOSSES), ("hinge", True), ("squared_hinge", True)]
)
@pytest.mark.parametrize(("C", "tol"), [(0.01, 1e-5), (1.0, 1e-3)])
def test_sweeps_are_those_of_the_general_way(monkeypatch, loss, bias, C, tol):
    go(monkeypatch, "sweeps")
    X, y = draw((700, 40), sparse=True, rare=0.3)
    lam = 1.0 / (C * y.size)
    fit = core.whole_fit(as_linear_map(X), y, None, LOSSES[loss](y, bias=bias).scalar, lam, tol)
    reference = solve(Problem(LOSSES[loss](y, bias=bias), X, L2(lam)), tol=tol, solver="dual-coordinates")
    assert fit.certificate.n_products == reference.certificate.n_products
    np.testing.assert_allclose(fit.w, reference.w, rtol=1e-6, atol=1e-8)


def text(seed):
    """Rows like texts: few words each, of length 1, and a class that is rare."""
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(1500, 1000))) * (rng.random((1500, 1000)) < 0.02)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    score = X @ rng.normal(size=1000)
    return csr_array(X), np.where(score > np.quantile(score, 0.9), 1.0, -1.0)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_look_is_enough(monkeypatch, seed):
    """It waits for a gap that is small beside J there, not beside J(0), which is 6 times as large."""
    go(monkeypatch, "sweeps")
    X, y = text(seed)
    lam, loss = 1.0 / y.size, SquaredHinge(y, bias=False)
    fit = core.whole_fit(as_linear_map(X), y, None, loss.scalar, lam, 1e-6)
    reference = solve(Problem(loss, X, L2(lam)), tol=1e-6, solver="dual-coordinates")
    assert fit.certificate.status is reference.certificate.status is Status.CERTIFIED
    assert fit.certificate.n_products == reference.certificate.n_products
    assert fit.certificate.n_products <= 24  # 11 sweeps and one look, not 13 and two


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_value_and_excess_are_the_objective(loss, bias):
    """J(w, b) = D(t) + excess where w = w(t), at any b, on the hyperplane or not."""
    X, y = draw((80, 7), sparse=True)
    problem = Problem(LOSSES[loss](y, bias=bias), X, L2(0.05))
    e = Examples.of(problem)
    rng = np.random.default_rng(2)
    t, b = rng.random(y.size), rng.normal() * bias
    alpha = e.scalar.c * t
    w = -(problem.A.T @ alpha) / e.lam
    r = problem.A @ w - e.scalar.offset + (b * e.scalar.direction if bias else 0.0)
    excess = kernels.excess(e.scalar.logistic, e.scalar.shape, r, alpha, e.scalar.c)
    at_b = problem.regularizer.value(w) + problem.loss.value_at(problem.A @ w, b)
    assert e.value(t, w, b) + excess == pytest.approx(at_b, rel=1e-12)


def fits(**options):
    return [LinearSVC(loss="squared_hinge", **options), LinearSVC(**options), LogisticRegression(**options)]


def test_estimators_take_it(monkeypatch):
    X, y = draw((200, 20))
    monkeypatch.setattr(module, "solve", None)  # the general way is closed
    for model in fits():
        model.fit(X, y)
        assert model.certificate_.relative_gap <= 1e-3
        assert model.certificate_.verify(X, y).gap == pytest.approx(model.certificate_.gap, rel=1e-6)
        assert model.n_iter_ == len(model.trace_) == 1
        assert model.trace_[0].primal == model.certificate_.primal


@pytest.mark.parametrize(
    "options", [{"solver": "newton"}, {"tol": 1e-13}, {"max_time": 0.5}], ids=["solver", "tol", "max_time"]
)
@pytest.mark.filterwarnings("ignore::minorant.NotCertified")
def test_what_needs_the_general_way_gets_it(monkeypatch, options):
    X, y = draw((200, 20))
    used, general = [], module.solve
    monkeypatch.setattr(module, "solve", lambda *a, **k: used.append(1) or general(*a, **k))
    for model in fits(**options):
        model.fit(X, y)
        assert model.certificate_.relative_gap <= max(model.tol, 1e-9)
    assert len(used) == 3


def test_too_many_sweeps_are_left_to_the_general_way(monkeypatch):
    X, y = draw((200, 20))
    go(monkeypatch, "sweeps")
    rules = core.sweep_rules
    monkeypatch.setattr(core, "sweep_rules", lambda e: (*rules(e)[:3], 5, *rules(e)[4:]))
    fit = core.whole_fit(as_linear_map(X), y, None, Hinge(y).scalar, 1.0 / (100.0 * y.size), 1e-8)
    assert fit.certificate.status is Status.OPEN
    model = LinearSVC(C=100.0, tol=1e-8).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-8


def test_a_callback_is_told_once():
    X, y = draw((200, 20))
    told = []
    fit = module.fit_classifier(X, y, run=module.Run(callback=lambda row, p: told.append((row, p))))
    assert told == [(0, fit.traces[0][0])]


def test_a_class_without_weight_is_refused_with_a_bias():
    X, y = draw((200, 20))
    with pytest.raises(ValueError, match="both classes need an example of positive weight"):
        LinearSVC().fit(X, y, sample_weight=(y > 0).astype(float))
    LinearSVC(fit_intercept=False).fit(X, y, sample_weight=(y > 0).astype(float))


def test_what_one_call_cannot_certify_goes_the_general_way(monkeypatch):
    X, y = draw((200, 20))
    monkeypatch.setattr(core, "_BUDGET", 0.0)
    fit = core.whole_fit(as_linear_map(X), y, None, Hinge(y).scalar, 1.0 / (100.0 * y.size), 1e-8)
    assert fit.certificate.status is Status.OPEN
    assert fit.certificate.relative_gap > 1e-8
    model = LinearSVC(C=100.0, tol=1e-8).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-8


def test_data_whose_squares_overflow_are_refused():
    X, y = draw((200, 20))
    with pytest.raises(ValueError, match="too large"):
        LinearSVC().fit(1e200 * X, y)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("make", [LinearSVC, partial(LinearSVC, loss="squared_hinge"), LogisticRegression])
def test_results_do_not_depend_on_threads(make, bias):
    X, y = draw((60000, 5))  # enough for threads in every pass
    one, two = (make(tol=1e-6, n_jobs=k, fit_intercept=bias).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.certificate_.alpha, two.certificate_.alpha)


@pytest.mark.parametrize(("seed", "C"), [(7, 0.003), (17, 0.03), (18, 0.003)])
def test_a_promise_that_the_bias_broke_is_kept_by_the_dual_point(monkeypatch, seed, C):
    """Slopes at their bounds prove the optimum before the bias of the sweeps has arrived."""
    rng, n, p = np.random.default_rng(seed), 600, 3000
    X = (rng.random((n, p)) < np.minimum(1.0, 8.0 / np.arange(1, p + 1))).astype(float)
    y = np.repeat([-1.0, 1.0], n // 2)
    X[y > 0, :40] *= rng.random((n // 2, 40)) < 0.7
    X /= np.linalg.norm(X, axis=1, keepdims=True) + 1e-9
    order = rng.permutation(n)
    A, y, rules = as_linear_map(csr_array(X[order])), y[order], core.sweep_rules
    products = []
    for surprise in (rules(_outline(A))[7], np.inf):
        monkeypatch.setattr(core, "sweep_rules", lambda e, s=surprise: (*rules(e)[:7], s, *rules(e)[8:-1], np.inf))
        fit = core.whole_fit(A, y, None, Hinge(np.array([-1.0, 1.0]), bias=True).scalar, 1.0 / (C * n), 1e-6)
        assert fit.certificate.status is Status.CERTIFIED
        products.append(fit.certificate.n_products)
    assert products[0] < 0.8 * products[1]


@pytest.mark.parametrize(("n", "first"), [(4799, False), (4800, True)])
def test_many_dense_examples_go_to_newtons_method_at_once(n, first):
    """It begins with a sample of them; fewer are swept first where the curvature is small."""
    assert (core.sweep_rules(_outline(as_linear_map(np.ones((n, 22)))))[-1] == 0) == first


def categories(n, fields, levels):
    """A column for each level of each field, of which a row has one."""
    rng = np.random.default_rng(n)
    columns = rng.integers(levels, size=(n, fields)) + levels * np.arange(fields)
    indptr = fields * np.arange(n + 1)
    return csr_array((np.ones(columns.size), columns.ravel(), indptr), shape=(n, fields * levels))


@pytest.mark.parametrize(
    ("loss", "n", "fields", "levels", "linked"),
    [
        (Logistic, 3000, 30, 10, True),
        (SquaredHinge, 3000, 30, 10, True),
        (Hinge, 3000, 30, 10, False),  # corners: steps are dearer
        (Logistic, 1199, 30, 10, False),  # few rows for so many columns
        (SquaredHinge, 1799, 30, 10, False),
        (Logistic, 6000, 10, 101, False),  # more columns
        (SquaredHinge, 3000, 50, 6, False),  # long rows
        (Logistic, 3000, 50, 6, True),
    ],
)
def test_rows_of_categories_go_to_newtons_method_where_c_is_not_small(loss, n, fields, levels, linked):
    curved = core.sweep_rules(_outline(as_linear_map(categories(n, fields, levels)), loss))[-1]
    assert curved == (10.0 if linked else np.inf)


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge])
@pytest.mark.parametrize(
    ("n", "fields", "levels", "curved"),
    [
        (5000, 8, 8, 0.0),  # its steps are cheap
        (27119, 14, 8, 0.3),
        (27120, 14, 8, 0.0),  # 24 times the 1130 examples of a sample for 113 unknowns
        (5000, 20, 6, np.inf),  # its steps are dear
    ],
)
def test_newtons_method_comes_first_in_sparse_data_where_it_is_cheap(loss, n, fields, levels, curved):
    assert core.sweep_rules(_outline(as_linear_map(categories(n, fields, levels)), loss))[-1] == curved


def test_rows_of_categories_take_fewer_products_so(monkeypatch):
    X = categories(3000, 30, 10)
    rng, A = np.random.default_rng(0), as_linear_map(X)
    score = X @ rng.normal(size=X.shape[1]) + 2 * rng.logistic(size=X.shape[0])
    y = np.where(score > np.median(score), 1.0, -1.0)
    like, lam = Logistic(np.array([-1.0, 1.0]), bias=True).scalar, 1.0 / y.size
    first = core.whole_fit(A, y, None, like, lam, 1e-6)
    go(monkeypatch, "sweeps")
    swept = core.whole_fit(A, y, None, like, lam, 1e-6)
    assert first.certificate.status is swept.certificate.status is Status.CERTIFIED
    assert first.certificate.n_products < 0.3 * swept.certificate.n_products


@pytest.mark.parametrize(("C", "tol", "most"), [(1.0, 1e-6, 16), (100.0, 1e-6, 19), (100.0, 1e-3, 22)])
@pytest.mark.parametrize("seed", range(3))
def test_sweeps_of_separable_rows_end_in_time(seed, C, tol, most):
    """J falls far below that of w = 0, and their excess counts beside it; a few direct steps do the rest."""
    X = categories(4000 + seed, 20, 4)
    score = X @ np.random.default_rng(seed).normal(size=80)
    keep = np.abs(score - np.median(score)) > 0.5 * score.std()
    model = LogisticRegression(C, tol=tol, fit_intercept=False)
    model.fit(csr_array(X[keep]), score[keep] > np.median(score))
    assert model.certificate_.n_products <= most


def test_sweeps_of_the_logistic_loss_go_on_where_there_is_little_curvature(monkeypatch):
    """Their rate keeps up there: what is left is not to be counted twice."""
    X = categories(4000, 20, 4)
    score = X @ np.random.default_rng(0).normal(size=80)
    y = score + score.std() * np.random.default_rng(1).normal(size=4000) > np.median(score)
    found = []
    for way in (None, "sweeps"):
        if way:
            go(monkeypatch, way)
        found.append(LogisticRegression(0.01, tol=1e-6, fit_intercept=False).fit(X, y))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def shared(shape, noise):
    """Rows of few values, all over some hundreds of columns."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=shape)) * (rng.random(shape) < 0.05)
    score = (X - X.mean(axis=0)) @ rng.normal(size=shape[1])
    score += noise * score.std() * rng.normal(size=shape[0])
    return csr_array(X), np.where(score > np.median(score), 1.0, -1.0)


def products(monkeypatch, way, X, y, loss, **constants):
    """Of a fit by the core, or by the general way, with other constants of the rule."""
    lam = 1.0 / (100.0 * y.size)
    with monkeypatch.context() as m:
        for name, value in constants.items():
            m.setattr(rule, name, value)
        if way == "core":
            found = core.whole_fit(as_linear_map(X), y, None, loss(y).scalar, lam, 1e-6)
        else:
            found = solve(Problem(loss(y), X, L2(lam)), tol=1e-6)
    assert found.certificate.status is Status.CERTIFIED
    return found.certificate.n_products


@pytest.mark.parametrize("way", ["core", "general"])
@pytest.mark.parametrize(("loss", "n"), [(Hinge, 3600), (SquaredHinge, 2300)])  # more would not be swept at all
def test_linked_rows_are_swept_once(monkeypatch, way, loss, n):
    """Several times as many slopes as columns: the first rates promise too much."""
    data = *shared((n, 400), 1.0), loss
    found = products(monkeypatch, way, *data)
    assert found == products(monkeypatch, way, *data, _PULLING=(0.0, 0.0))
    assert found < 0.95 * products(monkeypatch, way, *data, _LINKED=np.inf)


@pytest.mark.parametrize("way", ["core", "general"])
@pytest.mark.parametrize(("loss", "n"), [(Hinge, 3600), (SquaredHinge, 1000)])
def test_rows_that_can_be_separated_are_not_linked(monkeypatch, way, loss, n):
    data = *shared((n, 400), 0.0), loss
    found = products(monkeypatch, way, *data)
    assert found == products(monkeypatch, way, *data, _LINKED=np.inf)
    assert found != products(monkeypatch, way, *data, _PULLING=(0.0, 0.0))


def test_losses_with_corners_are_looked_at_later(monkeypatch):
    """Their last sweeps are of few rows and cost less than a look: one more is better than a look in vain."""
    go(monkeypatch, "sweeps")
    smooth, corners = rule._HOPE
    fits = [0, 0]
    for seed in range(12):
        X, y = text(seed)
        for k, hope in enumerate((smooth, corners)):
            monkeypatch.setattr(rule, "_HOPE", (smooth, hope))
            fit = core.whole_fit(as_linear_map(X), y, None, Hinge(y).scalar, 1.0 / y.size, 1e-3)
            fits[k] += fit.certificate.n_products
    assert fits[1] < fits[0]


def _outline(A, loss=Hinge):
    return core._Outline(*A.shape, A.shape[1] + 1, A, loss(np.array([-1.0, 1.0]), bias=True).scalar)

"""The solvers of linear models against the accelerated methods and against each other, on drawn problems.

Each proves its own gap; two gaps of 1e-9 leave no room for two optima.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import InputError, LinearSVC, NotCertified, Problem, Status, certify, kernels, solve
from minorant.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Maximum,
    MultinomialLogistic,
    Quantile,
    SmoothHinge,
    Squared,
    SquaredHinge,
)
from minorant.regularizers import L1, L2
from minorant.solvers.examples import Examples

LOSSES = {
    "Hinge": (Hinge, True),
    "SquaredHinge": (SquaredHinge, True),
    "SmoothHinge": (partial(SmoothHinge, gamma=0.4), True),
    "Logistic": (Logistic, True),
    "Squared": (Squared, False),
    "Huber": (partial(Huber, delta=0.8), False),
    "EpsilonInsensitive": (partial(EpsilonInsensitive, eps=0.3), False),
    "Quantile": (partial(Quantile, q=0.3), False),
}


def draw(seed, labels, scales=(-2, 3)):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 60)), int(rng.integers(1, 30))
    X = np.round(rng.standard_normal((n, p)), 1) * (rng.random((n, p)) < rng.choice([0.3, 1.0]))
    scores = X @ rng.standard_normal(p) + rng.standard_normal() + rng.choice([0.1, 1.0]) * rng.standard_normal(n)
    y = np.where(scores > np.median(scores), 1.0, -1.0) if labels else 10.0 ** rng.integers(*scales) * scores
    weight = rng.exponential(size=n) if rng.random() < 0.5 else None
    kind = rng.choice(["dense", "csr", "float32"])
    data = {"dense": X, "csr": csr_array(X), "float32": X.astype(np.float32)}[kind]
    return data, y, weight, bool(rng.random() < 0.5), 10.0 ** rng.uniform(-5, 1)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("solver", ["auto", "newton"])
def test_newton_reaches_the_optimum(name, solver):
    loss, labels = LOSSES[name]
    for seed in range(25):
        X, y, weight, bias, lam = draw(seed, labels)
        problem = Problem(loss(y, sample_weight=weight, bias=bias), X, L2(lam))
        fast = solve(problem, tol=1e-9, solver=solver)
        assert fast.certificate.status is Status.CERTIFIED, (seed, fast.certificate)
        slow = solve(problem, tol=1e-4, solver="agm-inf", max_iter=200)
        assert slow.certificate.dual <= fast.certificate.primal * (1 + 1e-12) + 1e-15, seed
        assert fast.certificate.dual <= slow.certificate.primal * (1 + 1e-12) + 1e-15, seed


@pytest.mark.parametrize("name", LOSSES)
def test_dual_coordinates_reach_the_optimum(name):
    loss, labels = LOSSES[name]
    for seed in range(15):
        X, y, weight, bias, lam = draw(seed, labels, (0, 1))
        problem = Problem(loss(y, sample_weight=weight, bias=bias), X, L2(max(lam, 1e-2)))
        slow = solve(problem, tol=1e-3, solver="dual-coordinates", max_iter=14)
        fast = solve(problem, tol=1e-9)
        assert slow.certificate.relative_gap <= 0.05, (seed, slow.certificate)
        assert slow.certificate.dual <= fast.certificate.primal * (1 + 1e-12) + 1e-15, seed
        assert fast.certificate.dual <= slow.certificate.primal * (1 + 1e-12) + 1e-15, seed


@pytest.mark.parametrize("bias", [False, True])
def test_newton_for_several_classes(bias):
    for seed in range(15):
        X, y, weight, _, lam = draw(seed, False, (0, 1))
        labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
        problem = Problem(MultinomialLogistic(labels, sample_weight=weight, bias=bias), X, L2(lam))
        fast = solve(problem, tol=1e-9)
        assert fast.certificate.status is Status.CERTIFIED, (seed, fast.certificate)
        assert fast.n_iter <= 40
        slow = solve(problem, tol=1e-4, solver="agm-inf", max_iter=200)
        assert slow.certificate.dual <= fast.certificate.primal * (1 + 1e-12), seed
        assert fast.certificate.dual <= slow.certificate.primal * (1 + 1e-12), seed


@pytest.mark.parametrize("name", ["Hinge", "Logistic"])
def test_a_warm_start_is_used(name):
    loss, labels = LOSSES[name]
    X, y, weight, _, _ = draw(3, labels)
    problem = Problem(loss(y, sample_weight=weight), X, L2(1e-2))
    first = solve(problem, tol=1e-8)
    again = solve(problem, tol=1e-6, start=(first.w, first.certificate.alpha))
    assert again.n_iter == 0
    assert again.certificate.status is Status.CERTIFIED


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 12))
    y = np.where(X[:, 0] + rng.standard_normal(20_000) > 0, 1.0, -1.0)
    one, two = (solve(Problem(Hinge(y, threads=k), X, L2(1e-3), threads=k), tol=1e-6) for k in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.certificate.dual == two.certificate.dual


def test_wide_data_go_by_conjugate_gradients():
    rng = np.random.default_rng(1)
    X = csr_array(rng.standard_normal((80, 4500)) * (rng.random((80, 4500)) < 0.02))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    for loss in (Hinge, SquaredHinge, Logistic):
        fast = solve(Problem(loss(y), X, L2(1e-3)), tol=1e-7, solver="newton")
        assert fast.certificate.status is Status.CERTIFIED
        coarse = solve(Problem(loss(y), X, L2(1e-3)), tol=1e-3).certificate
        assert fast.certificate.dual <= coarse.primal * (1 + 1e-12)


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.array([[1e-8], [0.0], [1e8], [1.0]]), np.ones((4, 3))])
@pytest.mark.parametrize("name", LOSSES)
def test_degenerate_data(X, name):
    y = np.array([1.0, 1.0, -1.0, -1.0])
    for bias in (False, True):
        result = solve(Problem(LOSSES[name][0](y, bias=bias), X, L2(0.1)), tol=1e-6)
        assert result.certificate.status is Status.CERTIFIED, result.certificate


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("target", [0.1, 7.3, -1e5])
def test_constant_targets(target, bias):
    """Their spread is rounding, which is no scale to begin with."""
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.full(30, target)
    for loss in (partial(EpsilonInsensitive, eps=0.0), partial(Quantile, q=0.3), partial(Huber, delta=0.8)):
        result = solve(Problem(loss(y, bias=bias), X, L2(0.1)), tol=1e-6, max_iter=60)
        assert result.certificate.status is Status.CERTIFIED, result.certificate


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("lam", [3e-5, 0.01, 1.0])
def test_sweeps_that_end_exactly_at_the_optimum(lam, bias):
    """Rows without a column in common: a sweep leaves nothing to do, and tol = 0 asks what is left."""
    X, y = csr_array(np.eye(300)), np.where(np.arange(300) % 2, 1.0, -1.0)
    result = solve(Problem(Hinge(y, bias=bias), X, L2(lam)), tol=0.0, max_iter=50)
    assert result.certificate.status is Status.STALLED
    assert result.certificate.relative_gap <= 1e-14


def test_other_problems_are_refused_with_the_reason():
    X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    with pytest.raises(InputError, match="'newton' is for a mean of losses of examples with L2"):
        solve(Problem(Hinge(y), X, L1(0.1)), solver="newton")
    with pytest.raises(InputError, match="got Maximum and L2"):
        solve(Problem(Maximum(3), X, L2(0.1)), solver="dual-coordinates")
    with pytest.raises(InputError, match="leave smoothing and mu out"):
        solve(Problem(Hinge(y), X, L2(0.1)), solver="newton", smoothing="dual")


@pytest.mark.parametrize("seed", range(6))
def test_the_lower_bound_is_that_of_the_point_returned(seed):
    """Columns of any scale, a bias, L1: a dual point a little off the hyperplane would prove too much."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 40)) * 10.0 ** rng.uniform(-3, 3, size=40)
    y = X @ rng.standard_normal(40) + rng.standard_normal(300)
    problem = Problem(Huber(y, delta=0.7), X, L1(3e-6))
    found = solve(problem, tol=1e-4, max_iter=200)
    again = certify(problem, found.w, found.certificate.alpha)
    assert found.certificate.dual == pytest.approx(again.dual, rel=1e-8)


@pytest.mark.parametrize("loss", [Hinge, partial(SmoothHinge, gamma=0.5)], ids=["hinge", "smooth hinge"])
@pytest.mark.parametrize("seed", range(12))
def test_few_wide_rows_of_unequal_columns(seed, loss):
    """Steps at sharp corners are tiny there; mu has to grow."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 42)) * 10.0 ** rng.uniform(-3, 3, size=42)
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
    result = solve(Problem(loss(y), X, L2(0.05)), tol=1e-5, max_iter=20)
    assert result.certificate.status is Status.CERTIFIED, result.certificate


def test_the_hyperplane_is_reached_where_it_costs_the_dual_the_least():
    rng = np.random.default_rng(3)
    X = rng.random((300, 200)) * (rng.random((300, 200)) < 0.1)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, :90].sum(axis=1) > X[:, 90:].sum(axis=1), 1.0, -1.0)
    problem = Problem(Hinge(y), X, L2(0.3))
    optimum = solve(problem, tol=1e-9)
    examples = Examples.of(problem)
    t, w = np.zeros(300), np.zeros(200)
    bias, _, _ = examples.sweeps(t, w, float(problem.loss.intercept(np.zeros(300))), 3, 0.0, 0, kernels.SweptRows())
    alpha = examples.on_plane(t, problem.A @ w, bias)
    nearest = problem.loss.project(problem.loss.c * t)
    assert abs(y @ alpha) <= 1e-12
    lost, lost_by_the_nearest = (optimum.certificate.primal - problem.dual(a) for a in (alpha, nearest))
    assert -1e-12 <= lost <= 0.1 * lost_by_the_nearest


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", [Hinge, SquaredHinge, Logistic])
def test_many_sweeps_have_conjugate_steps_between_them(loss, bias):
    """In calls of three there are none; in one call of 120 there are."""
    lam = 1e-4
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 60)) @ np.diag(0.9 ** np.arange(60))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(150) > 0.2, 1.0, -1.0)
    problem = Problem(loss(y, bias=bias), X, L2(lam))
    examples = Examples.of(problem)
    left = []
    for calls in (40, 1):
        t, w, b = np.full(150, 0.5 if loss is Logistic else 0.0), np.zeros(60), 0.0
        w -= problem.A.T @ (problem.loss.c * t) / lam
        for call in range(calls):
            b, excess, _ = examples.sweeps(t, w, b, 120 // calls, 0.0, call, kernels.SweptRows())
        np.testing.assert_allclose(w, -(problem.A.T @ (problem.loss.c * t)) / lam, rtol=1e-6, atol=1e-6)
        left.append(excess)
    assert left[1] < 0.1 * left[0]


@pytest.mark.parametrize("most", [3, 30])
def test_slopes_that_drift_together_reach_their_bounds(most):
    """Two examples on nearly the same spot, in two classes: sweeps alone move both slopes by 1/150, again and again."""
    X, y = np.array([[1.0, 0.0], [1.0, 0.03]]), np.array([1.0, -1.0])
    problem = np.full(2, 300.0), -np.ones(2), -y, np.square(X).sum(axis=1), 0.0
    t, w, count = np.zeros(2), np.zeros(2), 0
    while np.any(t < 1) and count < 2000:
        swept = kernels.SweptRows()
        count += kernels.dense_sweeps(X, False, (0.0, 0.0, 0.0, 1.0), *problem, most, 0.0, 1, t, w, 0.0, swept)[2]
    np.testing.assert_allclose(w, X.T @ (300 * y * t), atol=1e-9)
    assert count > 120 if most == 3 else count <= 30


@pytest.mark.parametrize(
    ("loss", "shape", "most"), [(Squared, (442, 64), 4), (Squared, (2600, 500), 50), (Logistic, (2600, 500), 50)]
)
def test_dense_data_without_jumps_of_curvature_need_no_sweeps(loss, shape, most):
    """Sweeps took 12, 66 and 124 products: with so little curvature the rule believed in them."""
    n, p = shape
    rng = np.random.default_rng(9)
    X = 0.6 * rng.standard_normal((n, p)) + 0.8 * rng.standard_normal((n, 1))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    result = solve(Problem(loss(y), X, L2(1.0 / (0.01 * y.size))), tol=1e-6)
    assert result.certificate.status is Status.CERTIFIED
    assert result.certificate.n_products <= most


def test_steps_that_rounding_makes_come_to_an_end():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((24, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(24) > 0, 1.0, -1.0)
    with pytest.warns(NotCertified, match="scale the columns"):
        model = LinearSVC(loss="squared_hinge", tol=1e-9).fit(X + 1e7, y)  # 20000 rounds of thousands of steps each
    assert model.certificate_.status is Status.STALLED
    assert model.certificate_.n_products < 20000
    assert model.certificate_.verify(X + 1e7, y)

"""A free bias costs little: few products more than none, in Newton's method and in sweeps, and α certifies as it is."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import Problem, _core, solve
from minorant.driver import _start
from minorant.kernels import _numpy
from minorant.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from minorant.regularizers import L2
from minorant.solvers.examples import Examples
from minorant.solvers.newton import newton, step_by_step

BOTH = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
LOSSES = {
    "hinge": Hinge,
    "squared hinge": SquaredHinge,
    "logistic": Logistic,
    "tube": lambda y, **more: EpsilonInsensitive(y, eps=0.2, **more),
}


def table(name, n=400, p=5, seed=0):
    """Few columns far from mean 0, and one class in ten."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2.0
    scores = X @ rng.standard_normal(p) + rng.standard_normal(n)
    scores -= np.quantile(scores, 0.9)
    return X, scores if name == "tube" else np.where(scores > 0, 1.0, -1.0)


def text(n=3000, p=2000, seed=0):
    """Sparse rows of norm 1, some words more frequent than others."""
    rng = np.random.default_rng(seed)
    words = (p * rng.random((n, 12)) ** 2).astype(int)
    counts = rng.random((n, 12)) + 0.5
    X = csr_array((counts.ravel(), (np.repeat(np.arange(n), 12), words.ravel())), shape=(n, p))
    X.sum_duplicates()
    X = csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    scores = X @ rng.standard_normal(p) + 0.1 * rng.standard_normal(n)
    return X, np.where(scores > np.quantile(scores, 0.7), 1.0, -1.0)


@pytest.mark.parametrize("steps", [newton, lambda e, best, tol: step_by_step(e, best)], ids=["compiled", "as it reads"])
@pytest.mark.parametrize("name", LOSSES)
def test_every_dual_point_of_newton_certifies_as_it_is(name, steps):
    X, y = table(name)
    problem = Problem(LOSSES[name](y, bias=True), X, L2(1e-3))
    best, e = _start(problem, None), Examples.of(problem)
    for candidates, _ in islice(steps(e, best, 1e-9), 12):
        ((alpha, image),) = candidates.dual
        assert abs(float(e.scalar.direction @ alpha)) <= 1e-14 * float(np.abs(alpha).sum()) + 1e-16
        np.testing.assert_allclose(image, problem.A.T @ alpha, rtol=1e-9, atol=1e-13)
        assert problem.dual(alpha, image) <= best.primal * (1 + 1e-13)
        best.offer(candidates)


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "logistic"])
def test_a_bias_takes_hardly_more_sweeps(name):
    products = {False: 0, True: 0}  # of some draws: looks come after whole blocks of sweeps
    for seed in range(4):
        X, y = text(seed=seed)
        for bias in (False, True):
            problem = Problem(LOSSES[name](y, bias=bias), X, L2(1e-4))
            result = solve(problem, tol=1e-5, solver="dual-coordinates")
            assert result.certificate.relative_gap <= 1e-5
            products[bias] += result.certificate.n_products
    assert products[True] <= 1.25 * products[False], products


@pytest.mark.parametrize(("share", "most"), [(0.499, 50), (0.3, 50), (0.05, 70)])
def test_a_bias_that_few_or_many_examples_decide_arrives_in_time(share, most):
    """With little curvature nearly all slopes are at a bound, and the bias is where the few that are not want it.

    At a pace that does not know how many they are, these took 93, 84 and 115 products in the mean.
    """
    X, _ = text()
    products = []
    for seed in range(3, 13):
        scores = X @ np.random.default_rng(seed).standard_normal(2000)
        y = np.where(scores > np.quantile(scores, 1 - share), 1.0, -1.0)
        result = solve(Problem(Hinge(y), X, L2(1 / (0.01 * y.size))), tol=1e-6, solver="dual-coordinates", max_iter=20)
        assert result.certificate.relative_gap <= 1e-6
        products.append(result.certificate.n_products)
    assert np.mean(products) <= most, products


def test_the_pace_of_a_bias_falls_with_the_number_of_free_examples():
    X, y = text(600, 300)
    for loss in (Hinge, SquaredHinge, Logistic):
        e = Examples.of(Problem(loss(y), X, L2(1e-4)))
        paces = [e.rho(np.where(np.arange(600) < free, 0.5, 0.0)) for free in (1, 60, 200, 600)]
        assert all(a > b > 0 for a, b in pairwise(paces)), paces
        assert paces[0] == pytest.approx(0.25)  # rows have norm 1: a bias is no more noise than a quarter of a row
        assert e.rho(np.zeros(600)) <= 0.25
    e = Examples.of(Problem(Hinge(y), X, L2(1e-2)))
    half = np.where(np.arange(600) < 300, 0.5, 1.0)
    assert e.rho(half) == pytest.approx(8.0 / 300 + 0.1 * e._mean_square)


@pytest.mark.parametrize("name", LOSSES)
def test_the_pace_of_a_bias_is_a_number_whatever_the_rows(name):
    X, y = table(name)
    X[::3], weight = 0.0, np.ones(400)
    weight[1::3] = 0.0
    for data in (X, 0.0 * X, 1e-100 * X):
        e = Examples.of(Problem(LOSSES[name](y, sample_weight=weight), data, L2(1e-2)))
        for t in (np.zeros(400), np.full(400, 0.5), np.ones(400)):
            assert 0 < e.rho(t) < np.inf
    e = Examples.of(Problem(LOSSES["tube"](y), X, L2(1e-2)))
    t = np.where(np.arange(400) < 40, 0.5, 0.0)  # those within the tube do not give way
    assert e.rho(t) == e.rho(np.where(t == 0.0, 1.0, t))


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube"])
def test_slopes_on_the_hyperplane_stay_there(name):
    """What else they have to gain, they would not gain all at once."""
    X, y = table(name)
    problem = Problem(LOSSES[name](y), X, L2(1e-2))
    e = Examples.of(problem)
    s = e.scalar.direction
    t = np.random.default_rng(4).choice([0.0, 0.3, 0.5, 1.0], 400)
    if name == "tube":
        t[1::2] = -t[::2]
    else:  # there are more negative examples
        t[y < 0] *= float(t[y > 0].sum() / t[y < 0].sum())
    w = np.random.default_rng(5).standard_normal(5)
    alpha = e.on_plane(t, problem.A @ w, 0.3)
    np.testing.assert_allclose(alpha, e.scalar.c * t, atol=1e-13)
    t[:5] = 0.9
    assert abs(float(s @ e.on_plane(t, problem.A @ w, 0.3))) <= 1e-12


def test_conjugate_gradients_do_not_see_the_means_of_the_columns():
    rng = np.random.default_rng(1)
    X, h, g = rng.standard_normal((300, 20)), rng.random(300), np.append(rng.standard_normal(20), 0.0)
    for kernels in (_core, _numpy):
        counts = []
        for shift in (0.0, 100.0):
            Z = np.hstack([X + shift, np.ones((300, 1))])
            M = Z.T @ (h[:, None] * Z) + np.diag(np.append(np.full(20, 0.01), 0.0))
            d, count, _ = kernels.dense_conjugate_gradients(X + shift, h, True, 0.01, g, 1 / np.diag(M), 1e-8, 200, 1)
            np.testing.assert_allclose(M @ d, g, atol=1e-5)
            counts.append(count)
        assert counts[1] <= counts[0] + 2


@BOTH
@pytest.mark.parametrize("n", [3, 60, 20_000])
def test_a_guess_of_the_hinge_bias_changes_nothing(kernels, n):
    rng = np.random.default_rng(n)
    u, y = rng.standard_normal(n), np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    c = rng.exponential(size=n) * (rng.random(n) < 0.9)
    value, bias = kernels.hinge(u, y, c / c.sum(), True, 1)
    for guess in (bias, bias + 0.03, bias - 0.049, bias + 1.0, -1e9, np.inf, np.nan):
        again = kernels.hinge(u, y, c / c.sum(), True, 1, guess)
        assert again == pytest.approx((value, bias), rel=1e-14)


@BOTH
def test_a_loose_search_ends_near_the_best_bias(kernels):
    rng = np.random.default_rng(2)
    r, s, c = rng.standard_normal(200), np.where(rng.random(200) < 0.3, 1.0, -1.0), np.full(200, 1 / 200)
    logistic = (True, (0.0, 0.0, 0.0, 1.0), 0.0, r, s, c)
    best = kernels.balance(*logistic, 3.0, 1)
    loose = kernels.balance(*logistic, 3.0, 1, 0.5)
    assert 0 < abs(loose - best) <= 0.1
    assert kernels.balance(*logistic, loose, 1) == pytest.approx(best, rel=1e-12)


def test_the_slopes_of_the_logistic_loss_reach_the_hyperplane_within_their_bounds():
    X, y = text(600, 300)
    problem = Problem(Logistic(y), X, L2(1e-2))
    e = Examples.of(problem)
    optimum = solve(problem, tol=1e-12).certificate.primal
    t, w = np.full(600, 0.1), np.zeros(300)
    e.sweeps(t, w, 0.0, 3, 0.0, 0, _core.SweptRows())
    for slopes in (t, np.full(600, 0.3), np.linspace(0.0, 1.0, 600)):
        alpha = e.on_plane(slopes, problem.A @ w, 0.0)
        assert abs(float(y @ alpha)) <= 1e-15
        assert (alpha >= 0).all()
        assert (alpha <= problem.loss.c).all()
    lost = [
        optimum - problem.dual(a) for a in (e.on_plane(t, problem.A @ w, 0.0), problem.loss.project(e.scalar.c * t))
    ]
    assert 0 < lost[0] <= 1.05 * lost[1], lost

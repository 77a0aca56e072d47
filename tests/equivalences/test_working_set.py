"""Working sets find the solution that the accelerated gradient method finds, whatever the loss, penalty and data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import InputError, Problem, Status, UnsupportedPair, certify, solve, solve_path
from minorant.losses import EpsilonInsensitive, Hinge, Huber, Logistic, SmoothHinge, Squared, SquaredHinge
from minorant.operators import Counting, Csr, Dense, stored
from minorant.regularizers import L1, L2, ElasticNet
from minorant.solvers import few_columns, working_set

LOSSES = {
    "squared": Squared,
    "logistic": Logistic,
    "squared hinge": SquaredHinge,
    "smooth hinge": lambda y, **options: SmoothHinge(y, 0.5, **options),
    "huber": lambda y, **options: Huber(y, 0.7, **options),
}
REAL = ("squared", "huber")
STORED = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "sparse": sp.csr_array,
    "float32": lambda X: np.asfortranarray(X, dtype=np.float32),
    "sparse float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


def draw(name, n=40, p=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.4) * rng.exponential(size=p)
    X = X.astype(np.float32).astype(np.float64)  # so that float32 holds the same data
    scores = X[:, :5] @ rng.standard_normal(5) + 0.5 + rng.standard_normal(n)
    return X, scores if name in REAL else np.where(scores > 0, 1.0, -1.0), rng.integers(0, 4, size=n).astype(float)


def loss_of(name, y, weight=None, bias=True):
    return LOSSES[name](y, sample_weight=weight, bias=bias)


def lam_max(loss, X):
    """The λ above which λ‖w‖₁ leaves no weight but 0."""
    return float(np.abs(X.T @ (loss.smoothed(np.zeros(X.shape[0]), 0.0).alpha * loss.direction)).max())


def omega(lam, ratio):
    return L1(lam) if ratio == 1 else ElasticNet(lam * (1 - ratio), ratio / (1 - ratio))


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_solutions_are_those_of_accelerated_gradients(name, bias, ratio):
    X, y, weight = draw(name)
    for weights, fraction in itertools.product([None, weight], [0.3, 0.05]):
        loss = loss_of(name, y, weights, bias)
        problem = Problem(loss, X, omega(fraction * lam_max(loss, X) / ratio, ratio))
        ours = solve(problem, tol=1e-10, solver="working-set")
        theirs = solve(problem, tol=1e-8, solver="agm-inf", smoothing="primal", max_iter=100_000)
        assert ours.certificate.status is Status.CERTIFIED
        assert ours.certificate.primal <= theirs.certificate.primal * (1 + 1e-12)
        assert ours.certificate.primal >= theirs.certificate.dual
        assert theirs.certificate.relative_gap <= 1e-7
        u, v = problem.A @ ours.w, problem.A @ theirs.w
        np.testing.assert_allclose(loss.smoothed(u, 0.0).alpha, loss.smoothed(v, 0.0).alpha, atol=2e-4)


@pytest.mark.parametrize("how", STORED)
@pytest.mark.parametrize("name", LOSSES)
def test_the_way_the_data_are_stored_does_not_matter(name, how):
    X, y, weight = draw(name, seed=1)
    for bias, ratio in itertools.product([True, False], [0.5, 1.0]):
        loss = loss_of(name, y, weight, bias)
        lam = 0.1 * lam_max(loss, X)
        plain = solve(Problem(loss, X, omega(lam, ratio)), tol=1e-11)
        other = solve(Problem(loss, STORED[how](X), omega(lam, ratio)), tol=1e-11)
        assert other.certificate.status is Status.CERTIFIED
        np.testing.assert_allclose(other.w, plain.w, atol=1e-4 * np.abs(plain.w).max())
        assert other.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-11)


@pytest.mark.parametrize("name", LOSSES)
def test_the_certificate_is_of_the_pair_returned(name):
    X, y, weight = draw(name, seed=2)
    loss = loss_of(name, y, weight)
    problem = Problem(loss, sp.csr_array(X), L1(0.05 * lam_max(loss, X)))
    r = solve(problem, tol=1e-6)
    again = certify(problem, r.w, r.certificate.alpha)
    assert again.primal == pytest.approx(r.certificate.primal, rel=1e-12)
    assert again.dual == pytest.approx(r.certificate.dual, rel=1e-9)
    assert 0 <= r.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_above_the_greatest_lambda_no_weight_is_needed(name, bias):
    X, y, _ = draw(name)
    loss = loss_of(name, y, bias=bias)
    for factor, empty in [(1.001, True), (0.98, False)]:
        r = solve(Problem(loss, X, L1(factor * lam_max(loss, X))), tol=1e-9)
        assert r.certificate.status is Status.CERTIFIED
        assert (not r.w.any()) is empty
        if empty:
            assert r.n_iter == 1


def degenerate():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 12))
    doubled = np.hstack([X, X, -X])
    constant = np.hstack([X, np.ones((30, 2)), np.zeros((30, 2)), np.full((30, 1), 1e3)])
    collinear = np.hstack([X, X @ rng.standard_normal((12, 20))])
    return {
        "duplicates": doubled,
        "constant and zero columns": constant,
        "collinear": collinear,
        "all zero": np.zeros((30, 4)),
        "one column": X[:, :1],
        "unequal scales": X * 10.0 ** rng.integers(-5, 5, size=12),
        "more columns than rows": rng.standard_normal((30, 400)),
    }


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("case", degenerate())
@pytest.mark.parametrize("name", LOSSES)
def test_degenerate_data(name, case, sparse):
    X = degenerate()[case]
    rng = np.random.default_rng(4)
    scores = X[:, 0] / max(X[:, 0].std(), 1e-3) + rng.standard_normal(X.shape[0])
    y = scores if name in REAL else np.where(scores > 0, 1.0, -1.0)
    for bias, fraction, ratio in itertools.product([True, False], [0.2, 0.01], [0.5, 1.0]):
        loss = loss_of(name, y, bias=bias)
        lam = fraction * max(lam_max(loss, X), 1e-2)
        r = solve(Problem(loss, sp.csr_array(X) if sparse else X, omega(lam, ratio)), tol=1e-7, max_iter=200)
        assert r.certificate.status is Status.CERTIFIED, (bias, fraction, ratio)
        still = (X[0] == X).all(axis=0) if bias else ~X.any(axis=0)
        assert not r.w[still].any()


@pytest.mark.parametrize("name", REAL)
def test_one_example(name):
    loss = LOSSES[name]([2.0], bias=False)
    r = solve(Problem(loss, np.array([[1.0, -3.0]]), L1(0.1)), tol=1e-10)
    assert r.certificate.status is Status.CERTIFIED
    assert r.w[0] == 0
    assert r.w[1] < 0
    assert solve(Problem(LOSSES[name]([2.0]), np.array([[1.0, -3.0]]), L1(0.1))).w.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["logistic", "squared hinge", "smooth hinge"])
def test_separable_data_and_hardly_any_penalty(name):
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 20)
    X = rng.standard_normal((40, 6)) + 3 * y[:, None]
    for lam in (1e-4, 1e-7):
        r = solve(Problem(LOSSES[name](y), X, L1(lam)), tol=1e-5, max_iter=500)
        assert r.certificate.status is Status.CERTIFIED


def test_rounding_ends_a_run():
    X, y, _ = draw("squared")
    r = solve(Problem(Squared(y), X, L1(0.05)), tol=0.0)
    assert r.certificate.status is Status.STALLED
    assert abs(r.certificate.relative_gap) < 1e-12
    assert r.n_iter < 50


def test_few_products_are_needed():
    X, y, _ = draw("squared", n=200, p=2000)
    r = solve(Problem(Squared(y), X, L1(0.1 * lam_max(Squared(y), X))), tol=1e-6)
    assert r.certificate.n_products <= 12


def test_it_is_the_default_where_it_serves():
    X, y, _ = draw("logistic")
    A = Problem(Logistic(y), X, L1(0.1)).A
    assert isinstance(A, Counting)
    assert isinstance(stored(A), Dense)
    yes = [Problem(loss, X, r) for loss in (Logistic(y), Squared(y)) for r in (L1(0.1), ElasticNet(0.1, 1.0))]
    no = [Problem(Logistic(y), X, r) for r in (L2(0.1), ElasticNet(0.1, 0.0))]
    no += [Problem(loss, X, L1(0.1)) for loss in (Hinge(y), EpsilonInsensitive(y, 0.1))]
    for problem, good in [*((p, True) for p in yes), *((p, False) for p in no)]:
        assert working_set.suits(problem) is good
        if good:
            auto, named = solve(problem, tol=1e-6), solve(problem, tol=1e-6, solver="working-set")
            assert auto.certificate.n_products == named.certificate.n_products
            np.testing.assert_array_equal(auto.w, named.w)
        else:
            with pytest.raises(UnsupportedPair, match="'working-set' is for L1 or ElasticNet"):
                solve(problem, solver="working-set")


@pytest.mark.parametrize("options", [{"smoothing": "primal"}, {"mu": 0.1}])
def test_it_smooths_nothing(options):
    X, y, _ = draw("squared")
    with pytest.raises(InputError, match="leave smoothing and mu out"):
        solve(Problem(Squared(y), X, L1(0.1)), solver="working-set", **options)


def test_paths_start_from_the_last_solution():
    X, y, _ = draw("squared", n=100, p=300)
    top = lam_max(Squared(y), X)
    lams = top * np.geomspace(0.5, 0.05, 8)
    path = solve_path(Problem(Squared(y), X, L1(top)), lams, tol=1e-6)
    cold = [solve(Problem(Squared(y), X, L1(lam)), tol=1e-6) for lam in lams]
    assert all(r.certificate.status is Status.CERTIFIED for r in path)
    assert sum(r.n_iter for r in path) < sum(r.n_iter for r in cold)
    for a, b in zip(path, cold, strict=True):
        assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-6)


def test_a_third_of_the_columns_of_a_tall_dense_matrix_are_all_of_them():
    rng = np.random.default_rng(0)
    w, score = np.where(np.arange(150) < 30, 1.0, 0.0), rng.random(150)
    data = {
        "tall": Dense(np.zeros((200, 150))),
        "wide": Dense(np.zeros((100, 150))),
        "sparse": Csr(sp.csr_matrix((200, 150))),
    }
    chosen = {name: working_set._choose(w, score, 0.0, working_set._most(X)) for name, X in data.items()}
    assert np.array_equal(chosen["tall"], np.arange(150))
    assert chosen["wide"].size == chosen["sparse"].size == 90  # three times those in use
    assert set(range(30)) <= set(chosen["wide"].tolist())


@pytest.mark.parametrize("how", ["rows", "columns", "float32"])
@pytest.mark.parametrize("name", ["squared", "logistic"])
def test_most_of_some_hundred_dense_columns_are_solved_for_by_their_products(name, how, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((1000, 180)).astype(np.float32).astype(np.float64)
    scores = X @ rng.standard_normal(180)
    y = scores if name in REAL else np.where(scores > 0, 1.0, -1.0)
    loss = loss_of(name, y)
    calls = []
    steps = few_columns.newton_steps
    monkeypatch.setattr(few_columns, "newton_steps", lambda *a: calls.append(a) or steps(*a))
    for fraction, products in ((0.5, False), (0.01, True)):
        calls.clear()
        problem = Problem(loss, STORED[how](X), L1(fraction * lam_max(loss, X)))
        r = solve(problem, tol=1e-8)
        assert bool(calls) is products
        monkeypatch.setattr(few_columns, "crowded", lambda *_, **__: False)
        other = solve(problem, tol=1e-8)
        monkeypatch.undo()
        monkeypatch.setattr(few_columns, "newton_steps", lambda *a: calls.append(a) or steps(*a))
        assert r.certificate.status is other.certificate.status is Status.CERTIFIED
        assert r.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-8)


def test_a_crowd_is_most_columns_or_half_of_large_data():
    def crowded(n, p, above, *, quadratic=True):
        return few_columns.crowded(Dense(np.broadcast_to(0.0, (n, p))), above, quadratic=quadratic)

    assert crowded(2000, 400, 340)
    assert not crowded(2000, 400, 339)
    assert not crowded(1999, 400, 400)
    assert crowded(6000, 400, 180)
    assert not crowded(6000, 601, 601)
    assert not crowded(6000, 400, 400, quadratic=False)
    assert crowded(6000, 300, 300, quadratic=False)


def test_a_crowd_of_sparse_columns_is_two_fifths_of_those_of_least_squares():
    def crowded(n, p, above, *, quadratic=True):
        return few_columns.crowded(Csr(sp.csr_matrix((n, p))), above, quadratic=quadratic)

    assert crowded(2000, 400, 160)
    assert not crowded(2000, 400, 159)
    assert not crowded(2000, 400, 400, quadratic=False)
    assert not crowded(1999, 400, 400)
    assert crowded(2500, 500, 500)
    assert not crowded(9999, 501, 501)


def categories(n, fields, levels, seed):
    """A column for each level: those of a field add up to 1, so columns depend on each other."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, levels, size=(n, fields)) + levels * np.arange(fields)
    pointer = np.arange(0, n * fields + 1, fields)
    X = sp.csr_array((np.ones(n * fields), columns.ravel(), pointer), shape=(n, fields * levels))
    y = X @ (rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.3))
    return X, y + rng.standard_normal(n)


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize(("levels", "rounds"), [(8, 3), (11, 7)])
def test_columns_that_depend_on_each_other_take_no_more_rounds(levels, rounds, ratio):
    # A Newton step there may be as long as rounding makes it; the slopes that it leads to prove what its end does not.
    for seed, bias in itertools.product(range(3), [False, True]):
        X, y = categories(2000, 45, levels, seed)
        loss = Squared(y, bias=bias)
        lam = 0.01 * lam_max(Squared(y - y.mean() if bias else y), X)
        r = solve(Problem(loss, X, omega(lam, ratio)), tol=1e-6)
        assert r.certificate.status is Status.CERTIFIED
        assert r.n_iter <= rounds, (seed, bias, r.n_iter)


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_step_as_long_as_rounding_makes_it_proves_nothing(seed):
    """Its bend is below 0 there, and would promise a gap that costs a round more than the crowd and its solution."""
    rng, (n, fields, levels) = np.random.default_rng(seed), (1500, 50, 5)
    columns = np.minimum(rng.geometric(0.4, size=(n, fields)) - 1, levels - 1) + levels * np.arange(fields)
    pointer = np.arange(0, columns.size + 1, fields)
    X = sp.csr_array((np.ones(columns.size), columns.ravel(), pointer), shape=(n, fields * levels))
    score = X @ rng.standard_normal(fields * levels)
    y = np.where(score > np.median(score), 1.0, -1.0)
    loss = Squared(y - y.mean(), bias=False)
    r = solve(Problem(loss, X, L1(0.001 * lam_max(loss, X))), tol=1e-6)
    assert r.certificate.status is Status.CERTIFIED
    assert r.n_iter == 2

"""The compiled Newton's method for the multinomial loss, against its definition and the method as it reads."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax

from minorant import LogisticRegression, Problem, Status, kernels, solve
from minorant.certificate import Best
from minorant.kernels import _numpy
from minorant.losses import MultinomialLogistic
from minorant.operators import as_linear_map
from minorant.regularizers import L2
from minorant.solvers.multinomial import step_by_step
from minorant.views import Candidates

pytestmark = pytest.mark.skipif(not kernels.native, reason="it is the compiled core that is tested")

KINDS = ("dense", "by columns", "float32", "csr", "csr float32")


def drawn(n, p, k, seed=0, scale=1.0):
    """Rows that tell the classes apart only in part, the classes of unequal size, some entries 0."""
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6) + 0.2
    scores = X @ rng.normal(size=(p, k)) / np.sqrt(p) + np.linspace(0, 1.5, k) + rng.gumbel(size=(n, k))
    y = scores.argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, rng.integers(0, 3, size=n) + (np.arange(n) < k)


def stored(X, kind):
    X = X.astype(np.float32) if "float32" in kind else X
    return sp.csr_matrix(X) if "csr" in kind else np.asfortranarray(X) if kind == "by columns" else X


def run(X, y, c, lam, *, bias, tol=1e-10, threads=1, budget=1e12, kind="dense"):
    """w, image, biases, alpha, dual image, and (gap, steps, products, feasible)."""
    A = as_linear_map(stored(X, kind), threads)
    n, p, k = *X.shape, int(y.max()) + 1
    w, image, b = np.zeros(p * k), np.zeros(n * k), np.zeros(k)
    alpha, v = np.empty(n * k), np.empty(p * k)
    done = A.multinomial(y.astype(np.int32), c, lam, bias, w, image, b, alpha, v, tol, budget)
    return w.reshape(p, k), image.reshape(n, k), b, alpha.reshape(n, k), v.reshape(p, k), done


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("k", [3, 8, 9, 17])
@pytest.mark.parametrize("kind", KINDS)
def test_what_it_returns_is_the_optimum_by_its_definition(kind, k, bias):
    X, y, weight = drawn(203, 7, k)
    X = X.astype(np.float32).astype(np.float64)
    c, lam = weight / weight.sum(), 0.01
    w, image, b, alpha, v, (gap, _, _, feasible) = run(X, y, c, lam, bias=bias, kind=kind)
    assert feasible
    np.testing.assert_allclose(image, X @ w, atol=1e-12)
    np.testing.assert_allclose(v, X.T @ alpha, atol=1e-12)
    P = softmax(X @ w + b, axis=1)
    np.testing.assert_allclose(alpha, c[:, None] * (P - np.eye(k)[y]), atol=1e-6)
    np.testing.assert_allclose(alpha.sum(axis=1), 0, atol=1e-15)
    if bias:
        np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-15)
    else:
        assert not b.any()
    J = lam / 2 * (w**2).sum() + c @ (logsumexp(X @ w + b, axis=1) - (X @ w + b)[np.arange(y.size), y])
    Q = np.divide(alpha, c[:, None], out=np.zeros_like(alpha), where=c[:, None] > 0) + np.eye(k)[y]
    D = -c @ (Q * np.log(np.where(Q > 0, Q, 1))).sum(axis=1) - (v**2).sum() / (2 * lam)
    assert gap <= 1e-10 * J
    assert -1e-13 <= J - D <= 1.1e-10 * J


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_it_ends_where_the_method_as_it_reads_does(bias, scale):
    X, y, weight = drawn(150, 5, 4, scale=scale)
    problem = Problem(MultinomialLogistic(y, sample_weight=weight, bias=bias), X, L2(1e-3))
    result = solve(problem, tol=1e-12)
    best = Best(problem)
    zeros = np.zeros(problem.A.shape[1]), np.zeros(problem.A.shape[0])
    start = problem.loss.start()
    best.offer(Candidates((zeros,), ((start, problem.A.T @ start),)))
    for _, found in zip(range(40), step_by_step(problem, best), strict=False):
        best.offer(found)
    assert result.certificate.status is Status.CERTIFIED
    np.testing.assert_allclose(result.w, best.w, atol=1e-5 * np.abs(best.w).max())
    assert result.certificate.primal == pytest.approx(best.primal, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_for_any_number_of_threads(kind):
    X, y, _ = drawn(3000, 300, 11)
    c = np.full(y.size, 1 / y.size)
    one, *others = (run(X, y, c, 1e-3, bias=True, tol=1e-4, threads=t, kind=kind)[:5] for t in (1, 2, 3))
    assert all(np.array_equal(a, b) for other in others for a, b in zip(one, other, strict=True))


def test_a_budget_ends_it_early_and_a_second_call_goes_on():
    X, y, _ = drawn(400, 12, 5)
    c, lam = np.full(y.size, 1 / y.size), 1e-4
    w, _, _, alpha, _, (gap, steps, products, _) = run(X, y, c, lam, bias=True, budget=1.0)
    assert (steps, products) == (0, 2)
    assert gap > 1e-3
    assert not w.any()
    np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-13)  # the biases have a long way to go
    fit = LogisticRegression(C=1 / (lam * y.size), tol=1e-9).fit(X, y)
    assert fit.certificate_.status is Status.CERTIFIED


def test_scores_far_apart_and_hopeless_accuracy_end():
    X, y, _ = drawn(60, 4, 3, scale=1e3)
    result = solve(Problem(MultinomialLogistic(y), X, L2(1e-9)), tol=1e-15, max_iter=2000)
    assert result.certificate.status in (Status.STALLED, Status.CERTIFIED)
    assert result.certificate.relative_gap <= 1e-6


def test_many_classes_and_rows_are_certified_to_the_checkers_rounding():
    """Sums of 26 classes, and over 6000 rows, have more rounding than those of a few."""
    X, y, _ = drawn(6000, 6, 26)
    model = LogisticRegression(C=0.1, tol=1e-4).fit(X, y)
    assert model.certificate_.verify(X, y).relative_gap <= 1e-4


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_softmax_sums_are_those_of_the_definition(temperature):
    rng = np.random.default_rng(3)
    V, b, c = 20 * rng.normal(size=(2500, 13)), rng.normal(size=13), rng.random(2500)
    value, sums, squares = kernels.softmax_sums(V, c, temperature, b)
    other = _numpy.softmax_sums(V, c, temperature, b)
    assert value == pytest.approx(other[0], rel=1e-13)
    np.testing.assert_allclose(sums, other[1], rtol=1e-12)
    np.testing.assert_allclose(squares, other[2], rtol=1e-11, atol=1e-14)

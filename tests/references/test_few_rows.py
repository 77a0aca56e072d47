"""Few rows with many columns, solved by their products with each other, against Newton's method on the columns."""

from __future__ import annotations

import importlib
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import LinearSVC, Problem, Status, certify, solve
from minorant.kernels import _numpy, csr_row_products, dense_row_products
from minorant.losses import EpsilonInsensitive, Hinge, Logistic, Quantile, Squared, SquaredHinge
from minorant.regularizers import L2
from minorant.solvers.examples import Examples
from minorant.solvers.few_rows import few_rows, newton_on_products
from minorant.solvers.linear import sweep_rules

core = importlib.import_module("minorant.whole_fit")

LOSSES = {
    "hinge": Hinge,
    "squared hinge": SquaredHinge,
    "logistic": Logistic,
    "squared": Squared,
    "epsilon": partial(EpsilonInsensitive, eps=0.1),
    "quantile": partial(Quantile, q=0.3),
}


def draw(seed, name, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    X = rng.standard_normal((n, 2 * n + int(rng.integers(0, 300)))) * 10.0 ** rng.uniform(-1, 1)
    if kind == "repeated rows":  # their products have no full rank
        X[n // 2 :] = X[: n - n // 2]
    y = rng.standard_normal(n)
    if name in ("hinge", "squared hinge", "logistic"):
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = {"csr": csr_array, "float32": lambda Z: Z.astype(np.float32)}.get(kind, np.asarray)(X)
    weight = rng.exponential(size=n) if seed % 2 else None
    loss = LOSSES[name](y, sample_weight=weight, bias=bool(seed % 3))
    return Problem(loss, X, L2(10.0 ** rng.uniform(-4, 0)))


@pytest.mark.parametrize("kind", ["dense", "csr", "float32", "repeated rows"])
@pytest.mark.parametrize("name", LOSSES)
def test_it_reaches_the_optimum_of_the_columns(name, kind):
    for seed in range(6):
        problem = draw(seed, name, kind)
        assert few_rows(Examples.of(problem))
        found = solve(problem, tol=1e-8)
        assert found.certificate.status is Status.CERTIFIED, (seed, found.certificate)
        other = solve(problem, tol=1e-8, solver="newton").certificate
        assert found.certificate.dual <= other.primal * (1 + 1e-12) + 1e-15
        assert other.dual <= found.certificate.primal * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("kind", ["dense", "csr", "repeated rows"])
@pytest.mark.parametrize("name", ["hinge", "squared hinge", "logistic"])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_classifier_takes_one_call_of_the_core(monkeypatch, name, kind, tol):
    monkeypatch.setattr(core, "sweep_rules", lambda e: (True, *sweep_rules(e)[1:]))  # small ones need no products
    for seed in range(8):
        problem = draw(seed, name, kind)
        e = Examples.of(problem)
        found = core.whole_fit(e.matrix, problem.loss.y, e.scalar.c if seed % 2 else None, e.scalar, e.lam, tol)
        assert found.certificate.status is Status.CERTIFIED, (seed, found.certificate)
        assert found.certificate.n_products <= 4
        proof = certify(problem, found.w, found.certificate.alpha, tol=tol)
        assert proof.primal == pytest.approx(found.certificate.primal, rel=1e-9)
        assert proof.dual == pytest.approx(found.certificate.dual, rel=1e-9)
        other = solve(problem, tol=1e-9, solver="newton").certificate
        assert found.certificate.dual <= other.primal * (1 + 1e-12)
        assert other.dual <= found.certificate.primal * (1 + 1e-12)


def test_a_wide_classifier_is_one_for_products():
    X, y = np.random.default_rng(0).standard_normal((40, 5000)), np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    assert sweep_rules(Examples.of(Problem(Hinge(y), X, L2(1e-3))))[0]
    for C in (1e-3, 1.0):
        model = LinearSVC(C, tol=1e-7).fit(X, y)
        assert model.certificate_.n_products <= 4
        assert model.certificate_.verify(X, y).gap <= 1e-7 * model.certificate_.primal
        finer = LinearSVC(C, tol=1e-10).fit(X, y).certificate_  # what the call does not reach goes on from there
        assert finer.status is Status.CERTIFIED


def test_the_data_are_read_a_few_times_only():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2000)), np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    assert solve(Problem(Hinge(y), X, L2(1e-3)), tol=1e-6).certificate.n_products <= 8


def test_rows_of_zeros_and_a_warm_start():
    X, y = np.zeros((6, 20)), np.array([1.0, -1.0] * 3)
    problem = Problem(SquaredHinge(y), X, L2(0.1))
    found = solve(problem, tol=1e-9)
    assert (found.certificate.status, found.certificate.primal) == (Status.CERTIFIED, 1.0)
    X = np.random.default_rng(1).standard_normal((6, 20))
    first = solve(Problem(SquaredHinge(y), X, L2(0.1)), tol=1e-9)
    again = solve(Problem(SquaredHinge(y), X, L2(0.11)), tol=1e-9, start=(first.w, first.certificate.alpha))
    assert again.certificate.status is Status.CERTIFIED


def test_products_that_overflow_are_left_to_other_methods():
    X = np.random.default_rng(2).standard_normal((4, 12)) * 1e153
    examples = Examples.of(Problem(Hinge(np.array([1.0, -1.0, 1.0, -1.0])), X, L2(1.0)))
    examples.matrix.rows *= 1e2
    assert list(newton_on_products(examples, None, 1e-3)) == []


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_products(dtype):
    X = np.random.default_rng(3).standard_normal((7, 25)).astype(dtype)
    sparse = csr_array(np.where(np.abs(X) > 0.5, X, 0).astype(dtype))
    parts = (sparse.data, sparse.indices, sparse.indptr, 25)
    np.testing.assert_allclose(dense_row_products(X, 25), _numpy.dense_row_products(X, 25), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(csr_row_products(*parts), _numpy.csr_row_products(*parts), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dense_row_products(X, 25), X.astype(np.float64) @ X.astype(np.float64).T, rtol=1e-10)

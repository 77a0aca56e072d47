"""Warm starts, and the price of a run: one product with A and one with Aᵀ per trial, whatever the scheme."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import Problem, Status, solve
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.solvers import AgmInf, AgmOne
from minorant.views import DualView, PrimalView

METHODS = [AgmInf(), AgmInf(adaptive=False), AgmOne(), AgmOne(adaptive=False), AgmInf(grow=3.0, shrink=2.0)]


def draw(lam=0.1, n=80, p=10, seed=0, bias=True):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.45, 1.0, -1.0)
    X = rng.standard_normal((n, p)) + 0.5 * y[:, None]
    return Problem(Hinge(y, bias=bias), X, L2(lam))


class Spy:
    """A solver that counts the trials of the one it wraps."""

    def __init__(self, method):
        self.method, self.trials, self.restart = method, 0, method.restart

    def init(self, view, start, L=None):
        return self.method.init(view, start, L)

    def step(self, view, state):
        state = self.method.step(view, state)
        self.trials += state.trials
        return state


@pytest.mark.parametrize("smoothing", ["auto", "primal", "dual", "none"])
def test_warm_start_from_the_solution(smoothing):
    first = solve(draw(), tol=1e-5, smoothing=smoothing)
    again = solve(draw(), tol=1e-5, smoothing=smoothing, start=(first.w, first.certificate.alpha))
    assert again.certificate.status is Status.CERTIFIED
    assert again.n_iter == 0
    assert again.trace == ()
    assert again.certificate.n_products == 2
    assert np.array_equal(again.w, first.w)
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=1e-12)
    assert again.intercept == pytest.approx(first.intercept, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("smoothing", ["primal", "dual", "none"])
def test_warm_start_from_another_lambda(smoothing):
    """Never worse than its start, and certified as from the cold."""
    first = solve(draw(0.1), tol=1e-3, smoothing=smoothing)
    second = draw(0.12)
    began = second.primal(first.w), second.dual(second.loss.project(first.certificate.alpha))
    warm = solve(second, tol=1e-5, smoothing=smoothing, start=(first.w, first.certificate.alpha))
    assert warm.certificate.status is Status.CERTIFIED
    assert warm.certificate.primal <= began[0]
    assert warm.certificate.dual >= began[1]
    cold = solve(draw(0.12), tol=1e-5, smoothing=smoothing)
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("smoothing", ["auto", "primal", "dual", "none"])
@pytest.mark.parametrize("bias", [False, True])
def test_one_product_of_each_kind_per_trial(smoothing, method, bias):
    """Through `solve`: one A and one Aᵀ per trial; the start, at 0, and the certificate cost nothing."""
    problem, spy = draw(bias=bias), Spy(method)
    result = solve(problem, tol=1e-4, solver=spy, smoothing=smoothing, max_iter=150)
    assert result.n_iter > 5
    assert problem.A.dots == problem.A.tdots == spy.trials
    assert result.certificate.n_products == 2 * spy.trials
    assert result.trace[-1].products == 2 * spy.trials
    if not method.adaptive:
        assert spy.trials == result.n_iter


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("view", [lambda p: PrimalView(p, 0.05), DualView, lambda p: DualView(p, 0.05)])
def test_one_product_of_each_kind_per_trial_by_hand(view, method):
    problem = draw()
    seen = view(problem)
    state = method.init(seen, seen.point(seen.start()), seen.lipschitz / 1e4)
    for _ in range(40):
        dots, tdots = problem.A.dots, problem.A.tdots
        state = method.step(seen, state)
        assert (problem.A.dots - dots, problem.A.tdots - tdots) == (state.trials, state.trials)
    assert not method.adaptive or problem.A.dots > 42  # some trials were rejected


def test_solving_does_not_change_the_problem():
    """A second run, on the same object, is the first again up to rounding of the smoothed bias."""
    problem = draw()
    first = solve(problem, tol=1e-5, smoothing="primal")
    second = solve(problem, tol=1e-5, smoothing="primal")
    assert first.certificate.n_products == pytest.approx(second.certificate.n_products, rel=0.05)
    assert np.allclose(first.w, second.w, atol=1e-4)


@pytest.mark.parametrize("smoothing", ["primal", "dual", "none"])
def test_a_run_does_not_depend_on_the_runs_before_it(smoothing):
    problem = draw()
    first, second = (solve(problem, tol=1e-4, smoothing=smoothing) for _ in range(2))
    assert np.array_equal(first.w, second.w)
    assert np.array_equal(first.certificate.alpha, second.certificate.alpha)
    assert first.certificate.gap == second.certificate.gap

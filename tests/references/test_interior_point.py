"""500 drawn support vector machines against Clarabel: the certificate tells the truth about every one of them.

For the optimum J* of the interior-point method:  dual ≤ J* ≤ primal,  primal - J* ≤ gap,  gap ≤ tol·primal.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from minorant import Problem, Status, solve
from minorant.losses import Hinge
from minorant.regularizers import L2

TOL = 1e-5
BATCHES, SIZE = 50, 10
SOLVERS = ["auto", "agm-1", "agm-inf"]


def problem_of(d):
    return Problem(Hinge(d.y, sample_weight=d.weight, bias=d.bias), d.X, L2(d.lam))


def check(d, problem, result, optimum, case):
    """What the certificate claims is true, whether or not the run came within tol."""
    c = result.certificate
    assert c.primal - optimum <= c.gap + 1e-9, case
    assert c.dual <= optimum + 1e-9, case
    assert c.primal >= optimum - 1e-9, case
    scores = d.X @ result.w + result.intercept
    by_hand = 0.5 * d.lam * float(result.w @ result.w) + float(problem.loss.c @ np.maximum(0, 1 - d.y * scores))
    assert by_hand == pytest.approx(c.primal, rel=1e-10, abs=1e-12), case


@pytest.mark.parametrize("batch", range(BATCHES))
def test_certificate(svm, batch):
    """Every problem is solved to tol by the default scheme, and the others tell the truth as far as they get."""
    for seed in range(batch * SIZE, (batch + 1) * SIZE):
        d = svm.draw(seed)
        problem = problem_of(d)
        optimum = svm.interior_point(d.X, d.y, problem.loss.c, d.lam, d.bias)
        result = solve(problem, tol=TOL, solver=SOLVERS[seed % 3], max_iter=20_000)
        check(d, problem, result, optimum, f"seed {seed}")
        assert result.certificate.status is Status.CERTIFIED, f"seed {seed}"
        assert result.certificate.primal - optimum <= TOL * result.certificate.primal + 1e-9, f"seed {seed}"
        other = solve(problem, tol=TOL, smoothing=("dual", "none")[seed % 2], solver=SOLVERS[seed % 3], max_iter=300)
        check(d, problem, other, optimum, f"seed {seed}, {seed % 2}")


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 6, 9])
def test_the_reference_is_the_model(svm, seed):
    """The quadratic program written by hand is what CVXPY makes of the definition."""
    d = svm.draw(seed)
    c = problem_of(d).loss.c
    w, b = cp.Variable(d.X.shape[1]), cp.Variable()
    scores = d.X @ w + (b if d.bias else 0.0)
    J = 0.5 * d.lam * cp.sum_squares(w) + c @ cp.pos(1 - cp.multiply(d.y, scores))
    value = cp.Problem(cp.Minimize(J)).solve(solver=cp.CLARABEL)
    assert svm.interior_point(d.X, d.y, c, d.lam, d.bias) == pytest.approx(value, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", [214, 310, 322, 450])
def test_dual_smoothing_ends(svm, seed):
    """J* is far below J at the start, and eps = tol·J with it: the smoothing has to follow, or the gap stays open."""
    result = solve(problem_of(svm.draw(seed)), tol=TOL, smoothing="dual", max_iter=1000)
    assert result.certificate.status is Status.CERTIFIED

"""Paths over λ: every point certified, none worse than its start, the products shared."""

import numpy as np
import pytest

from minorant import InputError, Problem, Status, solve, solve_path
from minorant.geometry import Entropy as EntropyGeometry
from minorant.losses import Hinge
from minorant.regularizers import L2, Entropy

LAMS = [1.0, 0.3, 0.1, 0.03]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, 1.0, -1.0)
    return Problem(Hinge(y), X, L2(1.0))


def test_every_point_is_the_solution_of_its_own_problem(problem):
    path = solve_path(problem, LAMS, tol=1e-6)
    for lam, result in zip(LAMS, path, strict=True):
        assert result.certificate.status is Status.CERTIFIED
        alone = solve(problem.with_regularizer(L2(lam)), tol=1e-6)
        assert result.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)


def test_a_point_starts_from_the_solution_before_it(problem):
    fine = np.geomspace(1.0, 0.5, 20)
    path = solve_path(problem, fine, tol=1e-2)
    cold = [solve(problem.with_regularizer(L2(lam)), tol=1e-2) for lam in fine]
    assert sum(r.n_iter for r in path) < 0.5 * sum(r.n_iter for r in cold)


def test_the_same_lambda_twice_costs_no_iteration(problem):
    _, again = solve_path(problem, [0.1, 0.1], tol=1e-4)
    assert again.n_iter == 0


def test_it_leaves_the_problem_as_it_was(problem):
    solve_path(problem, LAMS)
    assert problem.regularizer == L2(1.0)


def test_paths_of_other_geometries(problem):
    simplex = Problem(problem.loss, problem.A.base.base, Entropy(1.0), geometry=EntropyGeometry())
    for result in solve_path(simplex, LAMS, tol=1e-4):
        assert result.certificate.relative_gap <= 1e-4
        assert result.w.sum() == pytest.approx(1.0)


def test_what_has_no_lambda_has_no_path(problem):

    bare = problem.with_regularizer(object())
    with pytest.raises(InputError, match="no"):
        solve_path(bare, LAMS)
    with pytest.raises(InputError, match="starts"):
        solve_path(problem, LAMS, start=(np.zeros(6), np.zeros(80)))

"""Every regularizer against an interior-point method, 100 drawn problems each, with the hinge, with and without bias.

For the optimum J*:  dual ≤ J*,  primal - J* ≤ gap, gap ≤ tol·primal; J is evaluated again from its definition.
CVXPY states the models: the loss and the regularizer are written here a second time, from their definitions.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from minorant import Problem, Status, solve
from minorant.geometry import Entropy as EntropyGeometry
from minorant.losses import Hinge
from minorant.regularizers import (
    L1,
    Box,
    BoxPlane,
    CappedSimplex,
    ElasticNet,
    ElasticNetBall,
    Entropy,
    GroupL2,
    L1Ball,
    L1Inf,
    LogDet,
    Nuclear,
    Simplex,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from minorant.regularizers import Regularizer

TOL = 1e-4
COUNT = 100


@dataclass(frozen=True)
class Model:
    """A regularizer with random parameters for p columns, and the same in CVXPY: a penalty and constraints of w."""

    ours: Callable[[np.random.Generator, int], Regularizer]
    theirs: Callable[[Regularizer, cp.Variable], tuple[cp.Expression, list[cp.Constraint]]]
    columns: tuple[int, ...] = (2, 4, 7, 12)
    geometry: EntropyGeometry | None = None


def lam_of(rng):
    return float(10 ** rng.uniform(-2.0, -0.3))


def labels(rng, p):
    return rng.integers(0, max(1, p // 3), p)


def by_group(reg, w, norm):
    return sum(norm(w[np.flatnonzero(reg.groups == g)]) for g in np.unique(reg.groups))


def in_simplex(w, cap):
    return [w >= 0, w <= cap, cp.sum(w) == 1]


def matrix(w, shape):
    return cp.reshape(w, shape, order="C")


def log_det(reg, w):
    X = cp.Variable((reg.size, reg.size), symmetric=True)
    value = reg.lam * (cp.sum(cp.multiply(reg.covariance, X)) - cp.log_det(X))
    return value, [matrix(w, X.shape) == X, cp.lambda_max(X) <= reg.upper]


def kl(reg, w):
    return reg.lam * cp.sum(cp.rel_entr(w, reg.prior)), in_simplex(w, reg.cap)


def _cap(rng, p):
    return float(rng.uniform(1.05, max(1.2, 0.5 * p)) / p)


def _box_plane(rng, p):
    lower, normal = -rng.uniform(0.1, 1, p), rng.standard_normal(p)
    upper = lower + rng.uniform(0.1, 2, p)
    return BoxPlane(lower, upper, normal, float(normal @ rng.uniform(lower, upper)))


MODELS = {
    "L1": Model(lambda rng, p: L1(lam_of(rng)), lambda r, w: (r.lam * cp.norm1(w), [])),
    "ElasticNet": Model(
        lambda rng, p: ElasticNet(lam_of(rng), rng.uniform(0, 3)),
        lambda r, w: (r.lam * (r.gamma * cp.norm1(w) + 0.5 * cp.sum_squares(w)), []),
    ),
    "ElasticNetBall": Model(
        lambda rng, p: ElasticNetBall(rng.uniform(0.05, 2), rng.uniform(0, 3)),
        lambda r, w: (0.0, [r.gamma * cp.norm1(w) + 0.5 * cp.sum_squares(w) <= r.radius]),
    ),
    "L1Ball": Model(lambda rng, p: L1Ball(rng.uniform(0.1, 3)), lambda r, w: (0.0, [cp.norm1(w) <= r.radius])),
    "Box": Model(
        lambda rng, p: Box(-rng.uniform(0, 1, p), rng.uniform(0, 1, p)),
        lambda r, w: (0.0, [w >= r.lower, w <= r.upper]),
    ),
    "BoxPlane": Model(_box_plane, lambda r, w: (0.0, [w >= r.lower, w <= r.upper, r.normal @ w == r.offset])),
    "Simplex": Model(lambda rng, p: Simplex(), lambda r, w: (0.0, in_simplex(w, 1.0))),
    "CappedSimplex": Model(lambda rng, p: CappedSimplex(_cap(rng, p)), lambda r, w: (0.0, in_simplex(w, r.cap))),
    "CappedSimplex-entropic": Model(
        lambda rng, p: CappedSimplex(_cap(rng, p)),
        lambda r, w: (0.0, in_simplex(w, r.cap)),
        geometry=EntropyGeometry(),
    ),
    "Entropy": Model(
        lambda rng, p: Entropy(lam_of(rng), rng.dirichlet(np.full(p, 3.0)), _cap(rng, p)),
        kl,
        geometry=EntropyGeometry(),
    ),
    "GroupL2": Model(
        lambda rng, p: GroupL2(lam_of(rng), labels(rng, p)), lambda r, w: (r.lam * by_group(r, w, cp.norm2), [])
    ),
    "L1Inf": Model(
        lambda rng, p: L1Inf(lam_of(rng), labels(rng, p)), lambda r, w: (r.lam * by_group(r, w, cp.norm_inf), [])
    ),
    "Nuclear": Model(
        lambda rng, p: Nuclear(lam_of(rng), (2, p // 2)),
        lambda r, w: (r.lam * cp.normNuc(matrix(w, r.shape)), []),
        columns=(4, 6),
    ),
    "LogDet": Model(
        lambda rng, p: LogDet(lam_of(rng), round(p**0.5), rng.uniform(0.5, 9), covariance=np.eye(round(p**0.5))),
        log_det,
        columns=(4, 9),
    ),
}


def draw(name, seed):
    """A problem of its own for each seed, and its regularizer."""
    rng = np.random.default_rng([seed, *name.encode()])
    model = MODELS[name]
    n, p = int(rng.integers(3, 16)), int(rng.choice(model.columns))
    y = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, p)) + y[:, None] * rng.standard_normal(p) * rng.choice([0.0, 0.5])
    problem = Problem(Hinge(y, bias=bool(seed % 2)), X, model.ours(rng, p), geometry=model.geometry)
    return X, y, problem


def interior_point(name, X, y, problem):
    """The optimal value, by the definition of the model, and how far to trust it."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    penalty, constraints = MODELS[name].theirs(problem.regularizer, w)
    margins = cp.multiply(y, X @ w + (b if problem.loss.bias else 0.0))
    J = penalty + cp.sum(cp.pos(1 - margins)) / y.size
    program = cp.Problem(cp.Minimize(J), constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert program.status in ("optimal", "optimal_inaccurate")
    # The solver's own value: J at its w is infinite where rounding left the domain.
    return program.solution.opt_val, 1e-8 if program.status == "optimal" else 1e-6


@pytest.mark.parametrize("name", MODELS)
def test_certificate(name):
    for seed in range(COUNT):
        X, y, problem = draw(name, seed)
        optimum, trust = interior_point(name, X, y, problem)
        result = solve(problem, tol=TOL, max_iter=20_000)
        c, case = result.certificate, f"{name}, seed {seed}"
        assert c.dual <= optimum + trust, case
        assert c.primal - optimum <= c.gap + trust, case
        assert c.primal >= optimum - trust, case
        scores = X @ result.w + result.intercept
        by_hand = problem.regularizer.value(result.w) + float(np.maximum(0, 1 - y * scores).mean())
        assert by_hand == pytest.approx(c.primal, rel=1e-9, abs=1e-12), case
        assert c.status is Status.CERTIFIED, case
        assert c.primal - optimum <= TOL * abs(c.primal) + trust, case


@pytest.mark.parametrize("seed", range(15))
def test_l1_svm_is_a_linear_program(seed):
    """With a free bias, against the simplex method of HiGHS: min λ Σ(w⁺ + w⁻) + mean ξ."""
    X, y, problem = draw("L1", 2 * seed + 1)
    n, p = X.shape
    lam, Z = problem.regularizer.lam, y[:, None] * X
    cost = np.concatenate([np.full(2 * p, lam), [0.0], np.full(n, 1 / n)])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    rows = -np.hstack([Z, -Z, y[:, None], np.eye(n)])
    optimum = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs-ds").fun
    c = solve(problem, tol=1e-6).certificate
    assert c.status is Status.CERTIFIED
    assert c.dual - 1e-9 <= optimum <= c.primal + 1e-9
    assert c.primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_elastic_net_ball_is_the_penalty_at_its_multiplier(seed):
    """The constrained solution is the penalized one, for the λ that is the multiplier of the constraint."""
    X, _, free = draw("ElasticNet", seed)
    ball = ElasticNetBall(0.2, free.regularizer.gamma)
    constrained = solve(Problem(free.loss, X, ball), tol=1e-7)
    lam = ball.multiplier(-(free.A.T @ constrained.certificate.alpha))
    penalized = Problem(free.loss, X, ElasticNet(lam, ball.gamma))
    solution = solve(penalized, tol=1e-7)
    assert constrained.certificate.status is solution.certificate.status is Status.CERTIFIED
    assert penalized.primal(constrained.w) == pytest.approx(solution.certificate.primal, rel=1e-6)
    assert constrained.w == pytest.approx(solution.w, abs=5e-3)
    assert ball.size(solution.w) == pytest.approx(ball.radius, rel=1e-2)

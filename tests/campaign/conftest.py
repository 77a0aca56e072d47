"""Drawn problems of every loss with every regularizer, and the same problems for an interior-point method.

Each loss and each regularizer is written once more, from its definition, as a CVXPY expression; a problem is their sum.
The data are parameters, so that CVXPY compiles a pair once per shape and the rest is arithmetic.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING
from zlib import crc32

import cvxpy as cp
import numpy as np
import pytest

from minorant import Problem, losses, regularizers
from minorant.geometry import Entropy as EntropyGeometry

if TYPE_CHECKING:
    from collections.abc import Callable

    from minorant.geometry import Geometry
    from minorant.losses import Loss
    from minorant.regularizers import Regularizer

GAMMA, EPS, Q, DELTA = 0.4, 0.2, 0.3, 0.8  # of the losses that have a parameter
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


@dataclass(frozen=True)
class LossModel:
    """A loss of drawn data, and its sum for CVXPY: weights c, and residuals r as the loss defines them."""

    kind: str  # what y is: "labels", "targets", "classes", or "none" where the scores are all there is
    ours: Callable[..., Loss]
    theirs: Callable[[cp.Parameter, cp.Variable], cp.Expression]
    bias: bool = True


def crammer_singer(smoothing):
    return LossModel(
        "classes",
        lambda y, k, **kw: losses.CrammerSinger(y, k, smoothing=smoothing, **kw),
        lambda c, R: c @ cp.max(R, axis=1),
        bias=False,
    )


LOSSES = {
    "Hinge": LossModel("labels", losses.Hinge, lambda c, r: c @ cp.pos(1 + r)),
    "SquaredHinge": LossModel("labels", losses.SquaredHinge, lambda c, r: c @ cp.square(cp.pos(1 + r))),
    "SmoothHinge": LossModel(
        "labels",
        lambda y, **kw: losses.SmoothHinge(y, GAMMA, **kw),
        lambda c, r: c @ cp.huber(cp.pos(1 + r), GAMMA) / (2 * GAMMA),  # huber(x, M) is x² up to M
    ),
    "Logistic": LossModel("labels", losses.Logistic, lambda c, r: c @ cp.logistic(r)),
    "Squared": LossModel("targets", losses.Squared, lambda c, r: c @ cp.square(r)),
    "Huber": LossModel(
        "targets", lambda y, **kw: losses.Huber(y, DELTA, **kw), lambda c, r: c @ cp.huber(r, DELTA) / 2
    ),
    "EpsilonInsensitive": LossModel(
        "targets",
        lambda y, **kw: losses.EpsilonInsensitive(y, EPS, **kw),
        lambda c, r: c @ cp.pos(cp.abs(r) - EPS),
    ),
    "Quantile": LossModel(
        "targets",
        lambda y, **kw: losses.Quantile(y, Q, **kw),
        lambda c, r: c @ (Q * cp.neg(r) + (1 - Q) * cp.pos(r)),
    ),
    "MultinomialLogistic": LossModel("classes", losses.MultinomialLogistic, lambda c, R: c @ cp.log_sum_exp(R, axis=1)),
    "CrammerSinger-entropy": crammer_singer("entropy"),
    "CrammerSinger-euclidean": crammer_singer("euclidean"),
    "Maximum": LossModel("none", losses.Maximum, lambda c, r: cp.max(r), bias=False),
}


@dataclass(frozen=True)
class RegularizerModel:
    """A drawn regularizer of d coordinates, its parameters for CVXPY, and with these a penalty and constraints."""

    ours: Callable[[np.random.Generator, tuple[int, int]], Regularizer]
    parameters: Callable[[Regularizer], dict[str, np.ndarray | float]]
    theirs: Callable[[SimpleNamespace, cp.Variable, tuple[int, int]], tuple[cp.Expression | float, list[cp.Constraint]]]
    geometry: Geometry | None = None
    matrix: bool = False  # w is a matrix, also where the loss has one score per example


def lam_of(rng):
    return float(10 ** rng.uniform(-1.5, -0.3))


def groups_of(d):
    return np.arange(d) // 2


def cap_of(rng, d):
    return float(rng.uniform(1.1, max(1.3, 0.6 * d)) / d)


def box_plane(rng, shape):
    d = shape[0] * shape[1]
    lower, normal = -rng.uniform(0.1, 1, d), rng.standard_normal(d)
    upper = lower + rng.uniform(0.1, 2, d)
    return regularizers.BoxPlane(lower, upper, normal, float(normal @ rng.uniform(lower, upper)))


def simplex(w, cap):
    return [w >= 0, w <= cap, cp.sum(w) == 1]


def kl(rng, shape):
    d = shape[0] * shape[1]
    return regularizers.Entropy(lam_of(rng), rng.dirichlet(np.full(d, 3.0)), cap_of(rng, d))


def log_det(rng, shape):
    m = shape[0]
    C = rng.standard_normal((m, m + 2))
    return regularizers.LogDet(lam_of(rng), m, float(rng.uniform(1, 6)), covariance=C @ C.T / (m + 2))


def log_det_theirs(q, w, shape):
    X = cp.Variable(shape, symmetric=True)
    value = cp.sum(cp.multiply(q.lam_c, X)) - q.lam * cp.log_det(X)
    return value, [cp.reshape(w, shape, order="C") == X, cp.lambda_max(X) <= q.upper]


def capped(geometry):
    return RegularizerModel(
        lambda rng, s: regularizers.CappedSimplex(cap_of(rng, s[0] * s[1])),
        lambda r: {"cap": r.cap},
        lambda q, w, s: (0.0, simplex(w, q.cap)),
        geometry,
    )


def whole(geometry):
    return RegularizerModel(
        lambda rng, s: regularizers.Simplex(), lambda r: {}, lambda q, w, s: (0.0, simplex(w, 1.0)), geometry
    )


def by_group(norm, w):
    groups = groups_of(w.size)
    return sum(norm(w[np.flatnonzero(groups == g)]) for g in np.unique(groups))


def only_lam(r):
    return {"lam": r.lam}


REGULARIZERS = {
    "L2": RegularizerModel(
        lambda rng, s: regularizers.L2(lam_of(rng)), only_lam, lambda q, w, s: (0.5 * q.lam * cp.sum_squares(w), [])
    ),
    "ElasticNet": RegularizerModel(
        lambda rng, s: regularizers.ElasticNet(lam_of(rng), float(rng.uniform(0, 2))),
        lambda r: {"lam": r.lam, "lam_1": r.lam * r.gamma},
        lambda q, w, s: (q.lam_1 * cp.norm1(w) + 0.5 * q.lam * cp.sum_squares(w), []),
    ),
    "Entropy": RegularizerModel(
        kl,
        lambda r: {"lam": r.lam, "tilt": r.lam * np.log(r.prior), "cap": r.cap},
        lambda q, w, s: (-q.lam * cp.sum(cp.entr(w)) - q.tilt @ w, simplex(w, q.cap)),
        EntropyGeometry(),
    ),
    "LogDet": RegularizerModel(
        log_det,
        lambda r: {"lam": r.lam, "lam_c": r.lam * r.covariance, "upper": r.upper},
        log_det_theirs,
        matrix=True,
    ),
    "L1": RegularizerModel(
        lambda rng, s: regularizers.L1(lam_of(rng)), only_lam, lambda q, w, s: (q.lam * cp.norm1(w), [])
    ),
    "GroupL2": RegularizerModel(
        lambda rng, s: regularizers.GroupL2(lam_of(rng), groups_of(s[0] * s[1])),
        only_lam,
        lambda q, w, s: (q.lam * by_group(cp.norm2, w), []),
    ),
    "L1Inf": RegularizerModel(
        lambda rng, s: regularizers.L1Inf(lam_of(rng), groups_of(s[0] * s[1])),
        only_lam,
        lambda q, w, s: (q.lam * by_group(cp.norm_inf, w), []),
    ),
    "Nuclear": RegularizerModel(
        lambda rng, s: regularizers.Nuclear(lam_of(rng), s),
        only_lam,
        lambda q, w, s: (q.lam * cp.normNuc(cp.reshape(w, s, order="C")), []),
        matrix=True,
    ),
    "L1Ball": RegularizerModel(
        lambda rng, s: regularizers.L1Ball(float(rng.uniform(0.1, 2))),
        lambda r: {"radius": r.radius},
        lambda q, w, s: (0.0, [cp.norm1(w) <= q.radius]),
    ),
    "ElasticNetBall": RegularizerModel(
        lambda rng, s: regularizers.ElasticNetBall(float(rng.uniform(0.05, 2)), float(rng.uniform(0, 2))),
        lambda r: {"radius": r.radius, "gamma": r.gamma},
        lambda q, w, s: (0.0, [q.gamma * cp.norm1(w) + 0.5 * cp.sum_squares(w) <= q.radius]),
    ),
    "Box": RegularizerModel(
        lambda rng, s: regularizers.Box(-rng.uniform(0, 1, s[0] * s[1]), rng.uniform(0.1, 1, s[0] * s[1])),
        lambda r: {"lower": r.lower, "upper": r.upper},
        lambda q, w, s: (0.0, [w >= q.lower, w <= q.upper]),
    ),
    "BoxPlane": RegularizerModel(
        box_plane,
        lambda r: {"lower": r.lower, "upper": r.upper, "normal": r.normal, "offset": r.offset},
        lambda q, w, s: (0.0, [w >= q.lower, w <= q.upper, q.normal @ w == q.offset]),
    ),
    "Simplex": whole(None),
    "Simplex-entropic": whole(EntropyGeometry()),
    "CappedSimplex": capped(None),
    "CappedSimplex-entropic": capped(EntropyGeometry()),
}
NORMS = ("L1", "GroupL2", "L1Inf", "Nuclear")
STRONG = ("L2", "ElasticNet", "Entropy", "LogDet")


@dataclass(frozen=True)
class Drawn:
    """A problem, and what the interior-point method needs to know of it."""

    problem: Problem
    X: np.ndarray
    y: np.ndarray | None
    shape: tuple[int, int]
    bias: bool


SIZES = ((5, 2), (8, 3), (10, 4), (12, 5))  # examples and columns


def shape_of(kind, regularizer, p, seed):
    """The shape of w: a column, or a matrix where the loss has several scores or the regularizer takes matrices."""
    if regularizer == "LogDet":
        m = 3 if seed % 4 == 3 else 2
        return m, m
    if kind == "classes":
        return min(p, 4), 2 + seed % 2
    return (2, 2 + (p > 3)) if REGULARIZERS[regularizer].matrix else (p, 1)


def draw(loss, regularizer, seed):
    """A problem of its own for each seed: data, noise, weights, bias and every parameter are drawn."""
    rng = np.random.default_rng([seed, crc32(f"{loss}/{regularizer}".encode())])
    model, n = LOSSES[loss], SIZES[seed % 4][0]
    shape = shape_of(model.kind, regularizer, SIZES[seed % 4][1], seed)
    columns = shape[0] if model.kind == "classes" else shape[0] * shape[1]
    ours = REGULARIZERS[regularizer].ours(rng, shape)
    X = rng.standard_normal((n, columns)) + rng.choice([0.0, 0.5])
    X[1] = X[0]  # and their labels or targets differ: no w has a loss of 0, and tol·|J| is within reach
    bias = model.bias and bool(seed // 4 % 2)
    options = {"sample_weight": rng.uniform(0.2, 3.0, n) if seed % 3 == 0 else None}
    if model.bias:
        options["bias"] = bias
    y = None
    if model.kind == "none":
        X = rng.uniform(-1.0, 0.3, X.shape)
        X[:, 0] = -rng.uniform(0.2, 1.0, n)  # a learner that is always right: the least maximum is not 0, at w = 0
        it = model.ours(n)
    elif model.kind == "classes":
        k = shape[1]
        y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
        X[2:] += rng.choice([0.0, 1.0]) * rng.standard_normal((k, columns))[y[2:]]
        it = model.ours(y, k, **options)
    else:
        scores = X @ rng.standard_normal(columns) + rng.choice([0.3, 2.0]) * rng.standard_normal(n)
        y = np.where(scores > np.median(scores), 1.0, -1.0) if model.kind == "labels" else scores
        y[:2] = 1.0, -1.0
        it = model.ours(y, **options)
    problem = Problem(it, X, ours, geometry=REGULARIZERS[regularizer].geometry)
    return Drawn(problem, X, y, shape, bias)


@cache
def compiled(loss, regularizer, n, shape, bias):
    """The program of a pair for one shape of the data, with parameters to be set."""
    kind, (rows, k) = LOSSES[loss].kind, shape
    classes, d = kind == "classes", shape[0] * shape[1]
    w = cp.Variable(d)
    p = SimpleNamespace(c=cp.Parameter(n, nonneg=True), A=cp.Parameter((n, rows if classes else d)))
    if classes:
        R, own, p.offset = cp.Variable((n, k)), cp.Parameter((n, k), nonneg=True), cp.Parameter((n, k))
        p.own = own
        b = cp.Variable((1, k))
        shift = np.ones((n, 1)) @ b if bias else 0.0
        rules = [p.A @ cp.reshape(w, shape, order="C") + shift + p.offset == R, cp.sum(b) == 0]
        risk = LOSSES[loss].theirs(p.c, R) - cp.sum(cp.multiply(own, R))
    else:
        r, b, p.offset, p.direction = cp.Variable(n), cp.Variable(), cp.Parameter(n), cp.Parameter(n)
        rules = [p.A @ w + (cp.multiply(p.direction, b) if bias else 0.0) + p.offset == r]
        risk = LOSSES[loss].theirs(p.c, r)
    model = REGULARIZERS[regularizer]
    example = model.parameters(model.ours(np.random.default_rng(0), shape))
    signed = ("tilt", "lam_c", "lower", "upper", "normal", "offset")
    q = SimpleNamespace(**{name: cp.Parameter(np.shape(v), nonneg=name not in signed) for name, v in example.items()})
    penalty, constraints = model.theirs(q, w, shape)
    program = cp.Problem(cp.Minimize(risk + penalty), rules + constraints)
    assert program.is_dcp(dpp=True)
    return program, p, q


def interior_point(loss, regularizer, drawn):
    """The optimal value, by the definitions of the two, and how far to trust it."""
    it, kind = drawn.problem.loss, LOSSES[loss].kind
    n = drawn.X.shape[0]
    program, p, q = compiled(loss, regularizer, n, drawn.shape, drawn.bias)
    p.A.value = drawn.X if it.signs is None else it.signs[:, None] * drawn.X
    p.c.value = np.ones(n) if kind == "none" else it.c
    if kind == "classes":
        E = np.eye(drawn.shape[1])[drawn.y]
        p.own.value = it.c[:, None] * E
        p.offset.value = 1 - E if loss.startswith("CrammerSinger") else 0 * E
    else:
        p.offset.value = -drawn.y if kind == "targets" else np.zeros(n)
        p.direction.value = -drawn.y if kind == "labels" else np.ones(n)
    for name, value in REGULARIZERS[regularizer].parameters(drawn.problem.regularizer).items():
        getattr(q, name).value = value
    trust = 1e-8
    with warnings.catch_warnings():
        # Where 1e-10 is out of reach Clarabel says so, and how far it is trusted below takes that into account.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        try:
            program.solve(solver=cp.CLARABEL, **TIGHT)
        except cp.SolverError:
            trust = 1e-6
            try:
                program.solve(solver=cp.CLARABEL)
            except cp.SolverError:  # it gives up on a few: another method, of first order
                program.solve(solver=cp.SCS, eps_abs=1e-10, eps_rel=1e-10, max_iters=1_000_000)
    assert program.status in ("optimal", "optimal_inaccurate"), program.status
    # The solver's own value: J at its w is infinite where rounding left the domain.
    value = program.solution.opt_val
    return value, (trust if program.status == "optimal" else 1e-6) * max(1.0, abs(value))


PAIRS = [(a, b) for a in LOSSES for b in REGULARIZERS if not (a == "Maximum" and b in NORMS)]


@pytest.fixture(scope="session")
def models():
    """The pairs that have a minimum, and how to draw and to solve them."""
    return SimpleNamespace(
        norms=NORMS, strong=STRONG, draw=draw, interior_point=interior_point, regularizers=REGULARIZERS
    )


def pytest_generate_tests(metafunc):
    if "pair" in metafunc.fixturenames and "seed" not in metafunc.fixturenames:
        metafunc.parametrize("pair", PAIRS, ids="/".join)
    if "weak" in metafunc.fixturenames:
        metafunc.parametrize("weak", [r for r in REGULARIZERS if r not in STRONG])


@pytest.fixture(scope="session")
def seeds(request):
    first, end = request.config.getoption("--problems").split(":")
    return range(int(first), int(end))

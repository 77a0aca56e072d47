"""The objectives, evaluated in float64 by NumPy and SciPy alone: nothing here is taken from a solver.

    J(w, b) = (1/n) Σ loss(s_i, y_i) + λ (r‖w‖₁ + (1-r)/2 ‖w‖²) [+ λ/2 b² where the bias is penalized],  s = Xw + b

The names say C = 1/(nλ) for the L2 penalty (½‖w‖² + C Σ loss) and λ/λmax for the others. Every loss is a maximum of
affine functions: loss(s, y) ≥ gain(t, y) - t o s for the slopes t that it can have, o = y for labels, -1 for targets.
So with v = (1/n) Σ t_i o_i x_i, any slopes prove J ≥ D(t) = (1/n) Σ gain(t_i, y_i) - Ω*(v) - |b| |(1/n) Σ t_i o_i|.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from scipy.special import entr, expit

ROUNDING = 1e-9  # relative: what two orders of summation may differ by


@dataclass(frozen=True)
class Family:
    loss: str
    ratio: float  # share of the L1 norm
    biases: tuple[str, ...]
    strengths: tuple[float, ...]
    task: str  # "labels": two classes; "targets": regression sets, and labels as targets where the set says so


CS, RATIOS = (1.0, 100.0, 0.01), (0.1, 0.01)
FAMILIES = {
    "hinge": Family("hinge", 0.0, ("none", "free"), CS, "labels"),
    "squared_hinge": Family("squared_hinge", 0.0, ("none", "free"), CS, "labels"),
    "logistic": Family("logistic", 0.0, ("free", "none"), CS, "labels"),
    "l1_logistic": Family("logistic", 1.0, ("none",), RATIOS, "labels"),
    "lasso": Family("squared", 1.0, ("none",), RATIOS, "targets"),
    "enet": Family("squared", 0.5, ("none",), RATIOS, "targets"),
    "ridge": Family("squared", 0.0, ("free",), CS, "targets"),
}


@dataclass(frozen=True)
class Cell:
    """One row of the tables: a set, a family, a strength and what becomes of the bias."""

    set: str
    family: str
    strength: float
    bias: str  # "none", "free", or "penalized": the objective of peers that know no other

    @property
    def key(self) -> str:
        return f"{self.family}|{self.set}|{self.strength:g}|{self.bias}"


@dataclass(frozen=True)
class Problem:
    """A cell with its numbers."""

    cell: Cell
    n: int
    lam: float

    @property
    def loss(self) -> str:
        return FAMILIES[self.cell.family].loss

    @property
    def ratio(self) -> float:
        return FAMILIES[self.cell.family].ratio

    @property
    def bias(self) -> str:
        return self.cell.bias

    @property
    def C(self) -> float:
        return 1.0 / (self.n * self.lam)


def problem(cell, X, y):
    n, family = y.size, FAMILIES[cell.family]
    if family.ratio == 0:
        return Problem(cell, n, 1.0 / (cell.strength * n))
    slope = 0.5 * y if family.loss == "logistic" else y  # of the loss at w = 0
    return Problem(cell, n, cell.strength * float(np.abs(X.T @ slope).max()) / (n * family.ratio))


LOSSES = {  # loss(s, y); gain(t, y); the slopes; the slope at s
    "hinge": (lambda s, y: np.maximum(0, 1 - y * s), lambda t, _: t, (0, 1), None),
    "squared_hinge": (
        lambda s, y: np.maximum(0, 1 - y * s) ** 2,
        lambda t, _: t - t * t / 4,
        (0, inf),
        lambda s, y: 2 * np.maximum(0, 1 - y * s),
    ),
    "logistic": (
        lambda s, y: np.logaddexp(0, -y * s),
        lambda t, _: entr(t) + entr(1 - t),
        (0, 1),
        lambda s, y: expit(-y * s),
    ),
    "squared": (lambda s, y: 0.5 * (s - y) ** 2, lambda t, y: -t * y - 0.5 * t * t, (-inf, inf), lambda s, y: s - y),
}


def primal(problem, X, y, w, b):
    loss, r = LOSSES[problem.loss][0], problem.ratio
    omega = r * np.abs(w).sum() + (1 - r) / 2 * (w @ w) + (b * b / 2 if problem.bias == "penalized" else 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value = float(np.mean(loss(X @ w + b, y)) + problem.lam * omega)
    return value if isfinite(value) else inf


def dual(problem, X, y, slopes, *, primal=inf, shrink=False):
    """D(slopes), or -inf where they prove nothing; `shrink` scales them into the dual ball of the L1 norm first."""
    _, gain, (low, high), _ = LOSSES[problem.loss]
    t, lam, r, n = np.clip(slopes, low, high), problem.lam, problem.ratio, y.size
    toward = t * (-1.0 if problem.loss == "squared" else y) / n
    v = X.T @ toward
    if r == 1:
        largest = float(np.abs(v).max())
        if shrink and largest > lam:
            t, toward, largest = t * (lam / largest), toward * (lam / largest), lam
        conjugate = 0.0 if largest <= lam * (1 + ROUNDING) else inf
    else:
        conjugate = float((np.maximum(0, np.abs(v) - lam * r) ** 2).sum()) / (2 * lam * (1 - r))
    off = float(toward.sum())
    if problem.bias == "penalized":
        conjugate += off * off / (2 * lam)
    elif problem.bias == "free":
        conjugate += abs(off) * _largest_bias(problem, X, y, primal)
    return float(np.mean(gain(t, y)) - conjugate)


def _largest_bias(problem, X, y, value):
    """A bound of |b| at the optimum: the mean loss of each class (or of all targets) is at most J over its share."""
    if not isfinite(value):
        return inf
    size = np.sqrt(2 * value / problem.lam)  # of w, for the L2 penalty: the only one that comes with a free bias
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if hasattr(X, "multiply") else (X * X).sum(axis=1)
    score = float(np.sqrt(squares.max())) * size
    if problem.loss == "squared":
        return score + abs(float(y.mean())) + np.sqrt(2 * value)
    margin = np.sqrt if problem.loss == "squared_hinge" else (lambda x: x)
    return score + 1 + float(margin(value / min((y > 0).mean(), (y < 0).mean())))


def bound(problem, X, y, w, b, slopes=None):
    """The best lower bound that a primal solution (or a dual one, where a peer gives it) proves."""
    slope = LOSSES[problem.loss][3]
    if slopes is None:
        if slope is None:
            return -inf
        slopes = slope(X @ w + b, y)
    if problem.bias == "free" and problem.loss != "squared":
        slopes = _balanced(slopes, y)
    value = primal(problem, X, y, w, b)
    return dual(problem, X, y, slopes, primal=value, shrink=True)


def _balanced(slopes, y):
    """Scale the slopes of the heavier class down, so that Σ t_i y_i = 0."""
    up, down = slopes[y > 0].sum(), slopes[y < 0].sum()
    if min(up, down) <= 0:
        return np.zeros_like(slopes)
    return slopes * np.where(y > 0, min(1.0, down / up), min(1.0, up / down))


def wrong(problem, X, y, w, b, claim, tol):
    """What is false in a claim {primal, dual, slopes, certified}: nothing, or sentences."""
    low, high = LOSSES[problem.loss][2]
    t = claim["slopes"]
    value = primal(problem, X, y, w, b)
    lower = dual(problem, X, y, t, primal=value)
    found = []
    if max(float((t - high).max()), float((low - t).max())) > ROUNDING:
        found.append("slopes outside of their interval")
    if abs(value - claim["primal"]) > ROUNDING * abs(value):
        found.append(f"J is {value!r}, claimed {claim['primal']!r}")
    if not lower >= claim["dual"] - ROUNDING * abs(value):
        found.append(f"D is {lower!r}, claimed {claim['dual']!r}")
    if claim["certified"] and value - lower > (tol + 2 * ROUNDING) * value:
        found.append(f"the gap is {(value - lower) / value:.3g}, {tol:g} was certified")
    return found

"""Free biases of several scores: the k multipliers b that give sums over the examples their prescribed values.

    balance            Σ_i c_i softmax((v_i + b)/T) = target      minimizes Σ c_i T log Σ exp((v_i + b)/T) - ⟨target, b⟩
    project_with_sums  Σ_i [v_i + b - τ_i]_+ = target             the nearest point with given row and column sums
    nearest_with_sums  Σ_i c_i P_i = target                       P_i nearest in the simplex to center_i + (v_i + b)/mu
    best_biases        the limit mu → 0                           minimizes Σ c_i max(v_i + b) - ⟨target, b⟩

All but the last are the equation ∇φ(b) = 0 of a smooth convex φ that is constant along (1, ..., 1), in as many unknowns
as classes: Newton's method with the Hessian raised by a multiple of ‖∇φ‖, which takes it to the solution from anywhere,
also where φ is almost linear, and leaves it as fast as ever close by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.kernels import dot, softmax_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

__all__ = ["balance", "best_biases", "nearest_with_sums", "project_with_sums", "simplex_rows"]

_EPS = float(np.finfo(np.float64).eps)
_STEPS = 300  # a handful will do, unless nearly every softmax is a vertex


@dataclass(frozen=True)
class _At:
    """φ and ∇φ at a point b, and how to get ∇²φ."""

    b: Vector
    value: float
    residual: Vector
    hessian: Callable[[], Matrix]

    @property
    def size(self) -> float:
        return float(np.abs(self.residual).sum())


def balance(V: Matrix, c: Vector, target: Vector, temperature: float, start: Vector) -> Vector:
    """The b with Σ_i c_i softmax((v_i + b)/T) = target, for a positive target; its mean is 0."""

    def at(b: Vector) -> _At:
        value, sums, squares = softmax_sums(V, c, temperature, b)
        return _At(b, value - dot(target, b), sums - target, lambda: (np.diag(sums) - squares) / temperature)

    V = np.ascontiguousarray(V)
    return _root(at, start, rounding=_rounding(c)).b


def project_with_sums(X: Matrix, c: Vector, target: Vector) -> Matrix:
    """The nearest point to X that is not negative and has the row sums c and the column sums `target`."""

    def rows(b: Vector) -> Matrix:
        return simplex_rows(X + b, c)

    def at(b: Vector) -> _At:
        Y = rows(b)
        free = (Y > 0).astype(np.float64)
        share = free / np.maximum(free.sum(axis=1, keepdims=True), 1.0)
        value = float((Y * (X + b - 0.5 * Y)).sum()) - dot(target, b)

        def hessian() -> Matrix:
            return np.asarray(np.diag(free.sum(axis=0)) - np.einsum("iy,iz->yz", share, free))

        return _At(b, value, Y.sum(axis=0) - target, hessian)

    return rows(_root(at, np.zeros(X.shape[1]), rounding=_rounding(c)).b)


def nearest_with_sums(
    V: Matrix, c: Vector, target: Vector, mu: float, center: Matrix, start: Vector
) -> tuple[Matrix, Vector]:
    """The rows P_i in the simplex with Σ c_i P_i = target where Σ c_i (⟨v_i, P_i⟩ - (mu/2)‖P_i - center_i‖²) is
    greatest, and the b with P_i the nearest to center_i + (v_i + b)/mu; b has mean 0.
    """
    b = start - start.mean()
    spread = float(np.ptp(V, axis=1).max()) + float(np.ptp(b))
    noise = 8.0 * _EPS * spread  # of v + b

    def solve(b: Vector, width: float) -> Vector | None:
        R = _from_the_largest(V + b)
        enough = noise / width + (4.0 * _EPS if width == mu else 1e-6)
        found = _root(_weighted(R, c, target, width, center), np.zeros(b.size), enough, 20)
        return None if found.size > max(enough, 1e-11) else b + found.b

    near = solve(b, mu)
    if near is None:  # too far away to see: come from a wider smoothing, along b, which is piecewise linear in mu
        width, ratio, slope = max(spread, mu), 0.1, np.zeros(b.size)
        near = solve(b, width)
        while width > mu and ratio < 0.99:
            b = b if near is None else near
            narrower = max(ratio * width, mu)
            near = solve(b + (narrower - width) * slope, narrower)
            if near is None:
                ratio, slope = np.sqrt(ratio), 0.0 * slope
            else:
                width, slope = narrower, (near - b) / (narrower - width)
    b = b if near is None else near
    R = _from_the_largest(V + b)
    for _ in range(2):  # these find what the rounding of v + b hid beside a small mu
        step = _root(_weighted(R, c, target, mu, center), np.zeros(b.size), steps=20).b
        if not step.any():
            break
        b, R = b + step, _from_the_largest(R + step)
    return simplex_rows(center + R / mu), b - b.mean()


def _from_the_largest(V: Matrix) -> Matrix:
    return np.asarray(V - V.max(axis=1, keepdims=True))


def _weighted(V: Matrix, c: Vector, target: Vector, mu: float, center: Matrix) -> Callable[[Vector], _At]:
    def at(b: Vector) -> _At:
        P = simplex_rows(center + (V + b) / mu)
        free = (P > 0).astype(np.float64)
        share = free / free.sum(axis=1, keepdims=True)
        away = P - center
        value = dot(c, (P * (V + b)).sum(axis=1) - (0.5 * mu) * (away * away).sum(axis=1)) - dot(target, b)

        def hessian() -> Matrix:
            weighted = c[:, None] * free
            return np.asarray((np.diag(weighted.sum(axis=0)) - np.einsum("iy,iz->yz", weighted, share)) / mu)

        return _At(b, value, np.einsum("i,iy->y", c, P) - target, hessian)

    return at


def best_biases(V: Matrix, c: Vector, target: Vector, center: Matrix, start: Vector) -> tuple[Matrix, Vector]:
    """The b that minimizes Σ c_i max(v_i + b) - ⟨target, b⟩, and the P of its dual, a transportation problem.

    The proximal point method on the dual: a linear program, so that it ends after finitely many steps.
    """
    spread = float(np.ptp(V, axis=1).max())
    if spread == 0.0:
        return center, np.zeros(start.size)
    P, b, mu = center, start, 1e-2 * spread
    best, at_best = np.inf, b
    for _ in range(50):
        P, b = nearest_with_sums(V, c, target, mu, P, b)
        R = V + b
        top = R.max(axis=1, keepdims=True)
        gap = dot(c, ((top - R) * P).sum(axis=1))
        value = dot(c, top[:, 0]) - dot(target, b)
        if value < best:
            best, at_best = value, b
        if gap <= 4.0 * _EPS * float(np.abs(R).max()):
            break
        mu = max(0.1 * mu, 1e-9 * spread)
    return P, at_best


def simplex_rows(V: Matrix, mass: Vector | None = None) -> Matrix:
    """The nearest point of the simplex, of the given mass or 1, to each row."""
    total = np.ones((V.shape[0], 1)) if mass is None else mass[:, None]
    V = V - V.max(axis=1, keepdims=True)  # then the entries that stay positive are no larger than the mass
    falling = -np.sort(-V, axis=1)
    excess = np.cumsum(falling, axis=1) - total
    count = np.maximum((falling * np.arange(1, V.shape[1] + 1) > excess).sum(axis=1, keepdims=True), 1)
    Y = np.maximum(V - np.take_along_axis(excess, count - 1, axis=1) / count, 0.0)
    lost = (Y.sum(axis=1, keepdims=True) - total) / count  # many classes have long sums: their rounding is evened out
    return np.asarray(np.where(Y > 0.0, np.maximum(Y - lost, 0.0), 0.0))


def _root(
    at: Callable[[Vector], _At], start: Vector, enough: float = 4.0 * _EPS, steps: int = _STEPS, rounding: float = 1e-13
) -> _At:
    """The b with ∇φ = 0 to `enough`, or to the rounding of sums over the examples."""
    here, damping = at(start - start.mean()), 1.0
    for _ in range(steps):
        if here.size <= enough:
            break
        step = _step(here, damping * here.size)
        there = at(here.b + step)
        lower = there.value < here.value + 1e-4 * dot(here.residual, step)
        same = there.value - here.value <= 1e-13 * (1.0 + abs(here.value))  # close by, rounding hides that φ is lower
        if lower or (same and there.size <= 0.5 * here.size):
            here, damping = there, max(0.25 * damping, 1e-12)
        elif here.size <= rounding:
            break
        else:
            damping *= 4.0
    return here


def _rounding(c: Vector) -> float:
    """Of sums over so many examples, one after another, that add up to 1."""
    return max(1e-13, c.size * _EPS)


def _step(here: _At, damping: float) -> Vector:
    """-(∇²φ + damping)⁻¹ ∇φ, of mean 0."""
    H = here.hessian()
    H += np.trace(H) / H.size  # φ is constant along (1, ..., 1), and nothing else may be divided by its curvature there
    curvature, directions = np.linalg.eigh(H)
    along = np.einsum("ye,y->e", directions, here.residual) / (np.maximum(curvature, 0.0) + damping)
    step = np.einsum("ye,e->y", directions, along)
    return np.asarray(step.mean() - step)

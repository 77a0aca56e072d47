"""Free biases of several scores: the k multipliers b that give sums over the examples their prescribed values.

    balance            Σ_i c_i softmax((v_i + b)/T) = target      minimizes Σ c_i T log Σ exp((v_i + b)/T) - ⟨target, b⟩
    project_with_sums  Σ_i [v_i + b - τ_i]_+ = target             the nearest point with given row and column sums

Both are the equation ∇φ(b) = 0 of a smooth convex φ that is constant along (1, ..., 1), in as many unknowns as classes:
Newton's method, and where that does not bring b closer a step that always does (Sinkhorn's, or a gradient step).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

__all__ = ["balance", "project_with_sums", "simplex_rows"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _At:
    """∇φ at a point b, how to get ∇²φ, and a step that brings b closer from anywhere."""

    b: Vector
    residual: Vector
    hessian: Callable[[], Matrix]
    safe: Callable[[], Vector]

    @property
    def size(self) -> float:
        return float(np.abs(self.residual).sum())


def balance(V: Matrix, c: Vector, target: Vector, temperature: float, start: Vector) -> Vector:
    """The b with Σ_i c_i softmax((v_i + b)/T) = target, for a positive target; its mean is 0."""

    def at(b: Vector) -> _At:
        Z = (V + b) / temperature
        Z -= Z.max(axis=1, keepdims=True)
        P = np.exp(Z)
        total = P.sum(axis=1, keepdims=True)
        P /= total
        sums = np.einsum("i,iy->y", c, P)

        def hessian() -> Matrix:
            return np.asarray((np.diag(sums) - np.einsum("iy,iz->yz", c[:, None] * P, P)) / temperature)

        def safe() -> Vector:  # Sinkhorn's step, with logarithms of sums that may underflow
            logs = Z - np.log(total)
            top = logs[c > 0].max(axis=0)
            log_sums = top + np.log(np.einsum("i,iy->y", c, np.exp(np.minimum(logs - top, 0.0))))
            return np.asarray(temperature * (np.log(target) - log_sums))

        return _At(b, sums - target, hessian, safe)

    return _root(at, start)


def project_with_sums(X: Matrix, c: Vector, target: Vector) -> Matrix:
    """The nearest point to X that is not negative and has the row sums c and the column sums `target`."""

    def rows(b: Vector) -> Matrix:
        return simplex_rows(X + b, c)

    def at(b: Vector) -> _At:
        Y = rows(b)
        free = (Y > 0).astype(np.float64)
        share = free / np.maximum(free.sum(axis=1, keepdims=True), 1.0)

        def hessian() -> Matrix:
            return np.asarray(np.diag(free.sum(axis=0)) - np.einsum("iy,iz->yz", share, free))

        residual = Y.sum(axis=0) - target
        return _At(b, residual, hessian, lambda: -residual / c.size)  # each row moves no farther than b does

    return rows(_root(at, np.zeros(X.shape[1])))


def simplex_rows(V: Matrix, mass: Vector | None = None) -> Matrix:
    """The nearest point of the simplex, of the given mass or 1, to each row."""
    total = np.ones((V.shape[0], 1)) if mass is None else mass[:, None]
    V = V - V.max(axis=1, keepdims=True)  # then the entries that stay positive are no larger than the mass
    falling = -np.sort(-V, axis=1)
    excess = np.cumsum(falling, axis=1) - total
    count = np.maximum((falling * np.arange(1, V.shape[1] + 1) > excess).sum(axis=1, keepdims=True), 1)
    return np.asarray(np.maximum(V - np.take_along_axis(excess, count - 1, axis=1) / count, 0.0))


def _root(at: Callable[[Vector], _At], start: Vector) -> Vector:
    here = at(start - start.mean())
    for _ in range(200):
        if here.size <= 4.0 * _EPS:
            break
        step = _newton(here)
        for t in (1.0, 0.5, 0.25, 0.125):
            there = at(here.b + t * step)
            if there.size <= (1.0 - 0.25 * t) * here.size:
                break
        else:
            if here.size <= 1e-13:  # rounding
                break
            safe = here.safe()
            there = at(here.b + (safe - safe.mean()))
        here = there
    return here.b


def _newton(here: _At) -> Vector:
    """-∇²φ⁺ ∇φ: φ is constant along (1, ..., 1), and may be almost so along other directions."""
    curvature, directions = np.linalg.eigh(here.hessian())
    along = np.einsum("ye,y->e", directions, here.residual)
    known = curvature > 1e-12 * max(curvature[-1], np.finfo(np.float64).tiny)
    scaled = np.divide(along, curvature, out=np.zeros_like(along), where=known)
    return np.asarray(-np.einsum("ye,e->y", directions, scaled))

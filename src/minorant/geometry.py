"""Prox-functions d: how a solver measures distance.

    Δ(x, y) = d(x) - d(y) - ⟨∇d(y), x - y⟩  ≥  (σ/2) ‖x - y‖²

| geometry             | d(x)             | norm             | σ      | ∇d(x)     |
|----------------------|------------------|------------------|--------|-----------|
| Euclidean            | ½ Σ x²           | L2               | 1      | x         |
| WeightedEuclidean(b) | ½ Σ b x²         | (Σ b v²)^½       | 1      | b x       |
| Entropy(m)           | Σ x log x        | L1               | 1/m    | 1 + log x |
| BlockEntropy(c, E)   | Σ c_i P_i log P_i| (Σ ‖v_i‖₁²/c_i)^½| 1      | 1 + log P |

Entropy lives on {x ≥ 0, Σ x = m}, BlockEntropy on the blocks x_i = c_i (P_i - E_i) with P_i in the simplex. There
x underflows to an exact 0 long before ∇d(x) loses its meaning, so whoever computes a point by a formula in ∇d keeps
both: `mirror` below is ∇d(y) where it is known better than from y.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.kernels import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["BlockEntropy", "Entropy", "Euclidean", "Geometry", "WeightedEuclidean"]


class Geometry(ABC):
    """A prox-function d, σ-strongly convex with respect to its norm."""

    sigma: float = 1.0

    @abstractmethod
    def value(self, x: Vector) -> float:
        """The prox-function d(x)."""

    @abstractmethod
    def gradient(self, x: Vector) -> Vector:
        """Its gradient ∇d(x)."""

    @abstractmethod
    def norm(self, v: Vector) -> float:
        """The norm in which d is σ-strongly convex."""

    @abstractmethod
    def divergence(self, x: Vector, y: Vector, mirror: Vector | None = None) -> float:
        """Δ(x, y), evaluated without cancellation; `mirror` is ∇d(y)."""

    def dual_norm(self, v: Vector) -> float:
        """A bound of the dual norm, max ⟨v, x⟩ over ‖x‖ ≤ 1: inf where no better one is known."""
        return np.inf


@dataclass(frozen=True)
class Euclidean(Geometry):
    """d(x) = ½‖x‖²."""

    def value(self, x: Vector) -> float:
        return 0.5 * dot(x, x)

    def gradient(self, x: Vector) -> Vector:
        return x

    def norm(self, v: Vector) -> float:
        return sqrt(dot(v, v))

    def dual_norm(self, v: Vector) -> float:
        return self.norm(v)

    def divergence(self, x: Vector, y: Vector, mirror: Vector | None = None) -> float:
        return self.value(x - y)


@dataclass(frozen=True, eq=False)
class WeightedEuclidean(Geometry):
    """d(x) = ½ Σ b_i x_i². A coordinate with b_i = 0 is one that stays 0 in every point it is used on."""

    b: Vector

    def __post_init__(self) -> None:
        if not (np.isfinite(self.b).all() and (self.b >= 0).all()):
            raise InputError(f"the weights of a geometry must be finite and ≥ 0; the least is {self.b.min()}")

    @cached_property
    def inverse(self) -> Vector:
        """1/b_i, and 0 for the coordinates that stay 0."""
        return np.divide(1.0, self.b, out=np.zeros_like(self.b), where=self.b > 0)

    def value(self, x: Vector) -> float:
        return 0.5 * dot(x, self.b * x)

    def gradient(self, x: Vector) -> Vector:
        return self.b * x

    def norm(self, v: Vector) -> float:
        return sqrt(dot(v, self.b * v))

    def dual_norm(self, v: Vector) -> float:
        return sqrt(dot(v, self.inverse * v))

    def divergence(self, x: Vector, y: Vector, mirror: Vector | None = None) -> float:
        return self.value(x - y)


@dataclass(frozen=True)
class Entropy(Geometry):
    """d(x) = Σ x_i log x_i on the simplex of mass m."""

    mass: float = 1.0

    @property
    def sigma(self) -> float:  # type: ignore[override]
        """1/m: on the simplex of mass m, Δ(x, y) ≥ ‖x - y‖₁² / 2m (Pinsker)."""
        return 1.0 / self.mass

    def value(self, x: Vector) -> float:
        return dot(x, np.log(np.where(x > 0, x, 1.0)))

    def gradient(self, x: Vector) -> Vector:
        return np.asarray(1.0 + np.log(np.maximum(x, np.finfo(np.float64).tiny)))

    def norm(self, v: Vector) -> float:
        return float(np.abs(v).sum())

    def dual_norm(self, v: Vector) -> float:
        return float(np.abs(v).max())

    def divergence(self, x: Vector, y: Vector, mirror: Vector | None = None) -> float:
        log_y = (self.gradient(y) if mirror is None else mirror) - 1.0
        rise = x - y
        near = np.abs(rise) <= 0.5 * y  # there log x - log y cancels, and log1p does not
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(near, np.log1p(rise / y), np.log(x) - log_y)
        terms = x * np.where(x > 0, ratio, 0.0) - rise
        return float(terms.sum())


@dataclass(frozen=True, eq=False)
class BlockEntropy(Geometry):
    """d(x) = Σ_i c_i Σ_y P_iy log P_iy for x_i = c_i (P_i - E_i), every P_i in the simplex; x is flattened row by row.

    A block with c_i = 0 stays 0 and counts for nothing.
    """

    c: Vector
    offset: NDArray[np.float64]

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            inverse = np.divide(1.0, self.c, out=np.zeros_like(self.c), where=self.c > 0)
        return np.asarray(np.minimum(inverse, 1e300)[:, None])

    @cached_property
    def _least(self) -> NDArray[np.float64]:
        """The least P_iy that is told from 0: where E_iy = 1, rounding hides what is smaller than it."""
        info = np.finfo(np.float64)
        return np.where(self.offset == 0.0, info.tiny, 0.5 * info.eps)

    def probabilities(self, x: Vector) -> NDArray[np.float64]:
        """P_i = E_i + x_i / c_i, one row for each block."""
        return np.asarray(self.offset + self._blocks(x))

    def _blocks(self, x: Vector) -> NDArray[np.float64]:
        return np.asarray(x.reshape(self.offset.shape) * self._inverse)

    def value(self, x: Vector) -> float:
        P = self.probabilities(x)
        return dot(self.c, (P * np.log(np.where(P > 0, P, 1.0))).sum(axis=1))

    def gradient(self, x: Vector) -> Vector:
        return np.asarray(1.0 + np.log(np.maximum(self.probabilities(x), self._least))).ravel()

    def norm(self, v: Vector) -> float:
        blocks = np.abs(v.reshape(self.offset.shape)).sum(axis=1)
        return sqrt(dot(blocks, blocks * self._inverse[:, 0]))

    def dual_norm(self, v: Vector) -> float:
        largest = np.abs(v.reshape(self.offset.shape)).max(axis=1)
        return sqrt(dot(self.c, largest * largest))

    def divergence(self, x: Vector, y: Vector, mirror: Vector | None = None) -> float:
        log_q = (self.gradient(y) if mirror is None else mirror).reshape(self.offset.shape) - 1.0
        P, Q, rise = self.probabilities(x), self.probabilities(y), self._blocks(x - y)
        near = np.abs(rise) <= 0.5 * Q  # there log P - log Q cancels, and log1p does not
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(near, np.log1p(rise / Q), np.log(P) - log_q)
        terms = P * np.where(P > 0, ratio, 0.0) - rise
        return dot(self.c, terms.sum(axis=1))

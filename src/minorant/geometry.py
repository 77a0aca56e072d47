"""Prox-functions d: how a solver measures distance.

    Δ(x, y) = d(x) - d(y) - ⟨∇d(y), x - y⟩  ≥  (σ/2) ‖x - y‖²

| geometry             | d(x)             | norm             | σ      | ∇d(x)     |
|----------------------|------------------|------------------|--------|-----------|
| Euclidean            | ½ Σ x²           | L2               | 1      | x         |
| WeightedEuclidean(b) | ½ Σ b x²         | (Σ b v²)^½       | 1      | b x       |
| Entropy(m)           | Σ x log x        | L1               | 1/m    | 1 + log x |

Entropy lives on {x ≥ 0, Σ x = m}. There x underflows to an exact 0 long before ∇d(x) loses its meaning, so whoever
computes a point by a formula in ∇d keeps both: `mirror` below is ∇d(y) where it is known better than from y.
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

__all__ = ["Entropy", "Euclidean", "Geometry", "WeightedEuclidean"]


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

"""The squared Euclidean norm.

Ω(w) = (λ/2)‖w‖²,   Ω*(v) = ‖v‖²/(2λ),   ∇Ω*(v) = v/λ

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  =  -s / (t b + weight λ)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot
from minorant.regularizers.base import Regularizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["L2"]


@dataclass(frozen=True)
class L2(Regularizer):
    """(λ/2)‖w‖² for λ > 0."""

    lam: float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        if not 0 < self.lam < inf:
            raise InputError(f"L2 needs a finite lam > 0; got {self.lam}")

    def value(self, x: Vector) -> float:
        return 0.5 * self.lam * dot(x, x)

    def conjugate(self, v: Vector) -> float:
        return dot(v, v) / (2.0 * self.lam)

    def maximizer(self, v: Vector) -> Vector:
        return v / self.lam

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        if isinstance(geometry, Euclidean):
            x = s * (-1.0 / (t + weight * self.lam))
            return x, x
        if isinstance(geometry, WeightedEuclidean):
            x = -s / (t * geometry.b + weight * self.lam)
            return x, geometry.b * x
        raise self.unsupported(geometry)

    def strong_convexity(self, geometry: Geometry) -> float:
        if isinstance(geometry, Euclidean):
            return self.lam
        if isinstance(geometry, WeightedEuclidean):
            return self.lam / float(geometry.b.max())
        raise self.unsupported(geometry)

    def conjugate_divergence(self, p: Vector, q: Vector) -> float:
        return self.conjugate(p - q)

    def start(self, size: int) -> Vector:
        return np.zeros(size)

"""The L1 norm.

Ω(w) = λ‖w‖₁,   dual norm ‖v‖_∞

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  =  soft(-s, weight λ) / (t b),    soft(v, k) = sign(v) [|v| - k]_+
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.regularizers.base import positive
from minorant.regularizers.norm import Norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["L1", "soft"]


def soft(v: Vector, threshold: float) -> Vector:
    """sign(v) [|v| - threshold]_+."""
    return np.asarray(v - np.clip(v, -threshold, threshold))


@dataclass(frozen=True)
class L1(Norm):
    """λ‖w‖₁ for λ > 0."""

    lam: float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        positive(self, lam=self.lam)

    def norm(self, x: Vector) -> float:
        return float(np.abs(x).sum())

    def dual_norm(self, v: Vector) -> float:
        return float(np.abs(v).max())

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        x = soft(-s, weight * self.lam) / (t * b)
        return x, b * x

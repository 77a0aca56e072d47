"""The L1 ball.

Ω(w) = 0 where ‖w‖₁ ≤ r, inf elsewhere,   Ω*(v) = r‖v‖_∞, attained by r sign(v_i) at the largest |v_i|

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  projects m = -s / (t b):  m itself inside the ball, elsewhere with the signs
of m the projection of |m| onto the simplex of mass r, in the weights b
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import project_capped_simplex
from minorant.regularizers.base import FEASIBLE, Regularizer, positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["L1Ball"]


@dataclass(frozen=True)
class L1Ball(Regularizer):
    """The indicator of ‖w‖₁ ≤ radius, for a radius > 0."""

    radius: float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        positive(self, radius=self.radius)

    def value(self, x: Vector) -> float:
        return 0.0 if float(np.abs(x).sum()) <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, v: Vector) -> float:
        return self.radius * float(np.abs(v).max())

    def maximizer(self, v: Vector) -> Vector:
        w = np.zeros_like(v)
        i = int(np.abs(v).argmax())
        w[i] = np.copysign(self.radius, v[i])
        return w

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        x = s / (-t * b)
        size = np.abs(x)
        if size.sum() > self.radius:
            x = np.copysign(project_capped_simplex(size, np.inf, self.radius, b).x, x)
        return x, b * x

    def strong_convexity(self, geometry: Geometry) -> float:
        self.quadratic(geometry)
        return 0.0

    def start(self, size: int) -> Vector:
        return np.zeros(size)

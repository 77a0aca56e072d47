"""The ball of the elastic net.

Ω(w) = 0 where γ‖w‖₁ + ½‖w‖² ≤ r, inf elsewhere                                                   (r, not λ: ERRATUM 33)
Ω*(v) = ⟨v, w⟩ at w = soft(v, ηγ)/η,   η = (Σ v_i² / (2r + mγ²))^½ over the m entries with |v_i| > ηγ

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  projects m = -s / (t b): m itself inside the ball, elsewhere

    w = soft(b m, ηγ) / (b + η)   with the η > 0 that puts w on the sphere; in closed form for b = 1 (ERRATUM 34)

η, `multiplier(v)` at the solution v = -Aᵀα, is the λ for which the penalty λ(γ‖w‖₁ + ½‖w‖²) has the same solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot, project_elastic_net_ball
from minorant.regularizers.base import FEASIBLE, Regularizer, positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["ElasticNetBall"]


@dataclass(frozen=True)
class ElasticNetBall(Regularizer):
    """The indicator of γ‖w‖₁ + ½‖w‖² ≤ radius, for a radius > 0 and γ ≥ 0."""

    radius: float
    gamma: float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        positive(self, radius=self.radius)
        if not (np.isfinite(self.gamma) and self.gamma >= 0):
            raise InputError(f"ElasticNetBall needs a finite gamma ≥ 0; got {self.gamma}")

    def size(self, x: Vector) -> float:
        """γ‖w‖₁ + ½‖w‖²."""
        return self.gamma * float(np.abs(x).sum()) + 0.5 * dot(x, x)

    def value(self, x: Vector) -> float:
        return 0.0 if self.size(x) <= self.radius * (1.0 + FEASIBLE) else np.inf

    def conjugate(self, v: Vector) -> float:
        return dot(v, self.maximizer(v))

    def maximizer(self, v: Vector) -> Vector:
        top = float(np.abs(v).max())
        if top == 0:
            return np.zeros_like(v)
        below = (top - np.abs(v)) / top  # |w| = |v|/η - γ, but that cancels where r is small
        return np.copysign(np.maximum((1.0 - below) * self._largest(v) - self.gamma * below, 0.0), v)

    def multiplier(self, v: Vector) -> float:
        """η, the multiplier of the constraint γ‖w‖₁ + ½‖w‖² ≤ r where ⟨v, w⟩ is greatest."""
        top = float(np.abs(v).max())
        return top / (self._largest(v) + self.gamma) if top > 0 else 0.0

    def _largest(self, v: Vector) -> float:
        """The largest entry τ of the maximizer; with q = |v|/max|v|, (γ + τ)² Σ q² = 2r + mγ² gives η = max|v|/(γ + τ).

        An entry is active as long as it lowers τ.
        """
        a = np.sort(np.abs(v))[::-1]
        q, below = a / a[0], (a[0] - a) / a[0]
        c = (2.0 * self.radius + self.gamma**2 * np.cumsum(below * (1.0 + q))) / np.cumsum(q * q)
        return float((c / (self.gamma + np.sqrt(self.gamma**2 + c))).min())

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        center = s / (-t * b)
        x = project_elastic_net_ball(center, self.radius, self.gamma, None if isinstance(b, float) else b).x
        return x, b * x

    def strong_convexity(self, geometry: Geometry) -> float:
        self.quadratic(geometry)
        return 0.0

    def start(self, size: int) -> Vector:
        return np.zeros(size)

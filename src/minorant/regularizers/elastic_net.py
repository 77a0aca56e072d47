"""The elastic net.

Ω(w) = λ (γ‖w‖₁ + ½‖w‖²),   Ω*(v) = Σ [|v_i| - λγ]_+² / (2λ),   ∇Ω*(v) = soft(v, λγ)/λ

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  =  soft(-s, weight λγ) / (t b + weight λ)           (ERRATUM 27)

In the terms of scikit-learn's elastic net, where the loss is the mean of ½ (residual)²:  λ = alpha (1 - l1_ratio)  and
λγ = alpha·l1_ratio;  for the mean of (residual)² both are twice that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot
from minorant.regularizers.base import Regularizer, positive
from minorant.regularizers.l1 import soft

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["ElasticNet"]


@dataclass(frozen=True)
class ElasticNet(Regularizer):
    """λ (γ‖w‖₁ + ½‖w‖²) for λ > 0 and γ ≥ 0."""

    lam: float
    gamma: float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        positive(self, lam=self.lam)
        if not (np.isfinite(self.gamma) and self.gamma >= 0):
            raise InputError(f"ElasticNet needs a finite gamma ≥ 0; got {self.gamma}")

    def value(self, x: Vector) -> float:
        return self.lam * (self.gamma * float(np.abs(x).sum()) + 0.5 * dot(x, x))

    def conjugate(self, v: Vector) -> float:
        w = soft(v, self.lam * self.gamma)
        return dot(w, w) / (2.0 * self.lam)

    def maximizer(self, v: Vector) -> Vector:
        return soft(v, self.lam * self.gamma) / self.lam

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        x = soft(-s, weight * self.lam * self.gamma) / (t * b + weight * self.lam)
        return x, b * x

    def strong_convexity(self, geometry: Geometry) -> float:
        return self.lam / float(np.max(self.quadratic(geometry)))

    def conjugate_divergence(self, p: Vector, q: Vector) -> float:
        # With r = soft(p) - soft(q), both terms of ½ r² + soft(q)·(clip(q) - clip(p)) are ≥ 0: nothing cancels.
        k = self.lam * self.gamma
        clip_p, clip_q = np.clip(p, -k, k), np.clip(q, -k, k)
        rise = (p - q) - (clip_p - clip_q)
        return (0.5 * dot(rise, rise) + dot(q - clip_q, clip_q - clip_p)) / self.lam

    def start(self, size: int) -> Vector:
        return np.zeros(size)

"""The L1,∞ norm: groups that are zero or of one size.

Ω(w) = λ Σ_g ‖w_g‖_∞,   dual norm max_g ‖v_g‖₁

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w), with m = -s/h, h = t b, clips every group at one level:

    w_i = sign(m_i) min(|m_i|, θ_g),   where θ_g ≥ 0 solves  Σ_{i in g} h_i [|m_i| - θ_g]_+ = weight λ,  or is 0

The level of any set of entries, (Σ h|m| - weight λ) / Σ h, is at most θ; dropping the entries below it raises it, and
once none is dropped it is θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.regularizers.group_l2 import Grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.geometry import Geometry

    Vector = NDArray[np.float64]

__all__ = ["L1Inf"]


@dataclass(frozen=True, eq=False)
class L1Inf(Grouped):
    """λ Σ_g ‖w_g‖_∞ for λ > 0."""

    def norm(self, x: Vector) -> float:
        largest = np.zeros(self.count)
        np.maximum.at(largest, self.member, np.abs(x))
        return float(largest.sum())

    def dual_norm(self, v: Vector) -> float:
        return float(self.total(np.abs(v)).max())

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        h = np.broadcast_to(t * b, s.shape)
        m = -s / h
        level = self._level(np.abs(m), h, weight * self.lam)[self.member]
        x = np.clip(m, -level, level)
        return x, b * x

    def _level(self, a: Vector, h: Vector, k: float) -> Vector:
        """θ of every group."""
        level, count = np.zeros(self.count), 0
        above = np.ones(a.size, dtype=bool)
        while above.sum() != count:
            count = int(above.sum())
            weights = self.total(np.where(above, h, 0.0))
            excess = self.total(np.where(above, h * a, 0.0)) - k
            level = np.divide(excess, weights, out=np.zeros_like(level), where=weights > 0)
            above &= a > level[self.member]
        return np.maximum(level, 0.0)

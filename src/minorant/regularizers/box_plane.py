"""A box and a hyperplane.

Ω(w) = 0 where lower ≤ w ≤ upper and ⟨a, w⟩ = z, inf elsewhere
Ω*(v) = max of ⟨v, w⟩ over that set: from the corner where ⟨a, w⟩ is least, coordinates cross the box in the descending
        order of v_i/a_i until ⟨a, w⟩ = z; the last of them stops on its way

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  projects -s / (t b) in the weights b, in linear time
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import project_box_plane
from minorant.regularizers.base import FEASIBLE
from minorant.regularizers.box import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["BoxPlane", "fill"]


@dataclass(frozen=True, eq=False)
class BoxPlane(Box):
    """The indicator of lower ≤ w ≤ upper, ⟨normal, w⟩ = offset; normal and the finite bounds are numbers or vectors."""

    normal: Vector | float
    offset: float = 0.0
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.normal).all() and np.any(self.normal) and np.isfinite(self.offset)):
            raise InputError("the normal of a hyperplane must be finite and not 0, and its offset finite")

    def value(self, x: Vector) -> float:
        reach = np.abs(self.normal) * np.maximum(np.abs(self.lower), np.abs(self.upper))
        off = abs(float((self.normal * x).sum()) - self.offset)
        return super().value(x) if off <= FEASIBLE * float(np.broadcast_to(reach, x.shape).sum()) else np.inf

    def maximizer(self, v: Vector) -> Vector:
        return fill(v, self.lower, self.upper, self.normal, self.offset)

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        x = project_box_plane(s / (-t * b), self.lower, self.upper, self.normal, self.offset, b).x
        return x, b * x

    def start(self, size: int) -> Vector:
        return project_box_plane(super().start(size), self.lower, self.upper, self.normal, self.offset).x


def fill(v: Vector, lower: Vector | float, upper: Vector | float, normal: Vector | float, offset: float) -> Vector:
    """The w with the greatest ⟨v, w⟩ among lower ≤ w ≤ upper, ⟨normal, w⟩ = offset."""
    low, high, a = (np.broadcast_to(np.asarray(x, dtype=np.float64), v.shape) for x in (lower, upper, normal))
    w = np.where(a > 0, low, high)
    w = np.where(a == 0, np.where(v > 0, high, low), w)
    ratio = np.divide(v, a, out=np.full(v.shape, -np.inf), where=a != 0)
    order = np.argsort(-ratio, kind="stable")[: np.count_nonzero(a)]
    cross = (np.abs(a) * (high - low))[order]
    before = np.concatenate(([0.0], np.cumsum(cross)[:-1]))
    part = np.divide(offset - float((a * w).sum()) - before, cross, out=np.zeros_like(cross), where=cross > 0)
    w[order] += np.clip(part, 0.0, 1.0) * np.where(a > 0, high - low, low - high)[order]
    return w

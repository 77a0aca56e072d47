"""A box.

Ω(w) = 0 where lower ≤ w ≤ upper, inf elsewhere,   Ω*(v) = Σ max(lower_i v_i, upper_i v_i)

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w)  =  clip(-s / (t b), lower, upper)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot
from minorant.regularizers.base import FEASIBLE, Regularizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Box", "in_box"]


@dataclass(frozen=True, eq=False)
class Box(Regularizer):
    """The indicator of lower ≤ w ≤ upper; the bounds are numbers or vectors, and finite."""

    lower: Vector | float
    upper: Vector | float
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            raise InputError(
                "the bounds of a box must be finite: where w is unbounded there is no duality gap to certify"
            )
        if lower.ndim and upper.ndim and lower.shape != upper.shape:
            raise InputError(f"lower and upper must have one shape; got {lower.shape} and {upper.shape}")
        if not (lower <= upper).all():
            i = int(np.flatnonzero(np.ravel(lower > upper))[0])
            raise InputError(f"the box is empty: a lower bound exceeds its upper bound, first at entry {i}")

    def value(self, x: Vector) -> float:
        return 0.0 if in_box(x, self.lower, self.upper) else np.inf

    def conjugate(self, v: Vector) -> float:
        return dot(v, self.maximizer(v))

    def maximizer(self, v: Vector) -> Vector:
        return np.where(v > 0, self.upper, self.lower)

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b = self.quadratic(geometry)
        x = np.clip(s / (-t * b), self.lower, self.upper)
        return x, b * x

    def strong_convexity(self, geometry: Geometry) -> float:
        self.quadratic(geometry)
        return 0.0

    def start(self, size: int) -> Vector:
        return np.clip(np.zeros(size), self.lower, self.upper)


def in_box(x: Vector, lower: Vector | float, upper: Vector | float) -> bool:
    """Whether lower ≤ x ≤ upper, up to the rounding of a convex combination."""
    slack = FEASIBLE * max(float(np.max(np.abs(lower))), float(np.max(np.abs(upper))))
    return bool((x >= lower - slack).all() and (x <= upper + slack).all())

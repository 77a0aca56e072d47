"""The simplex, whole or capped.

Ω(w) = 0 on {0 ≤ w ≤ ν, Σ w = 1}, inf elsewhere; it is empty for ν < 1/n and the whole simplex for ν ≥ 1
Ω*(v) = ⟨v, w⟩, where w puts ν on the largest v_i, one after the other, until the mass is spent

argmin ⟨s, w⟩ + t·d(w) + weight·Ω(w)  projects: -s / (t b) in the weights b where d(w) = ½ Σ b w², and exp(-s/t) in
relative entropy where d(w) = Σ w log w. With a relative entropy in Ω as well see the regularizer Entropy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Entropy, Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot, entropic_capped_simplex, project_capped_simplex
from minorant.regularizers.base import FEASIBLE, Regularizer
from minorant.regularizers.box_plane import fill

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["CappedSimplex", "Simplex", "check_cap", "in_simplex"]


@dataclass(frozen=True)
class CappedSimplex(Regularizer):
    """The indicator of 0 ≤ w ≤ cap, Σ w = 1, for a cap of at least 1/n."""

    cap: float
    geometries = (Euclidean, WeightedEuclidean, Entropy)

    def __post_init__(self) -> None:
        if not self.cap > 0:
            raise InputError(f"{type(self).__name__} needs a cap > 0; got {self.cap}")

    def value(self, x: Vector) -> float:
        return 0.0 if in_simplex(x, self.cap) else np.inf

    def conjugate(self, v: Vector) -> float:
        return dot(v, self.maximizer(v))

    def maximizer(self, v: Vector) -> Vector:
        check_cap(self.cap, v.size)
        return fill(v, 0.0, min(self.cap, 1.0), 1.0, 1.0)

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        if isinstance(geometry, Entropy) and geometry.mass == 1.0:
            point = entropic_capped_simplex(s / -t, self.cap)
            return point.x, 1.0 + point.log_x
        b = self.quadratic(geometry)
        x = project_capped_simplex(s / (-t * b), self.cap, 1.0, b).x
        return x, b * x

    def strong_convexity(self, geometry: Geometry) -> float:
        if not (isinstance(geometry, Entropy) and geometry.mass == 1.0):
            self.quadratic(geometry)
        return 0.0

    def start(self, size: int) -> Vector:
        check_cap(self.cap, size)
        return np.full(size, 1.0 / size)


@dataclass(frozen=True)
class Simplex(CappedSimplex):
    """The indicator of w ≥ 0, Σ w = 1."""

    cap: float = 1.0


def in_simplex(x: Vector, cap: float) -> bool:
    """Whether 0 ≤ x ≤ cap and Σ x = 1, up to the rounding of a convex combination."""
    return bool(x.min() >= -1e-12 and x.max() <= cap * (1.0 + FEASIBLE) and abs(float(x.sum()) - 1.0) <= FEASIBLE)


def check_cap(cap: float, size: int) -> None:
    """Raise an error where size entries of at most cap cannot sum to 1."""
    if not cap * size >= 1.0 - 1e-12:
        raise InputError(f"{size} entries of at most {cap} cannot sum to 1: the cap must be at least 1/{size}")

"""The group lasso.

Ω(w) = λ Σ_g ‖w_g‖₂,   dual norm max_g ‖v_g‖₂

argmin ⟨s, w⟩ + (t/2) Σ b w² + weight·Ω(w), with v = -s, h = t b, k = weight λ: w_g = 0 where ‖v_g‖ ≤ k, elsewhere

    w_i = v_i ρ / (h_i ρ + k),   where ρ = ‖w_g‖ solves  Σ_{i in g} v_i² / (h_i ρ + k)² = 1

which is w_g = v_g [1 - k/‖v_g‖] / h for equal weights. (Σ ...)^-½ is a concave increasing function of ρ, so Newton's
method from below rises to the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry, WeightedEuclidean
from minorant.regularizers.base import positive
from minorant.regularizers.norm import Norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["GroupL2", "Grouped"]


@dataclass(frozen=True, eq=False)
class Grouped(Norm):
    """A norm that is a sum over groups; `groups` has the label of each coordinate's group, any integers."""

    lam: float
    groups: ArrayLike
    geometries = (Euclidean, WeightedEuclidean)

    def __post_init__(self) -> None:
        positive(self, lam=self.lam)
        groups = np.asarray(self.groups)
        if groups.ndim != 1 or groups.size == 0 or groups.dtype.kind not in "iu":
            raise InputError(
                f"groups must be a vector with the integer label of each column's group; got shape {groups.shape} "
                f"of {groups.dtype}"
            )

    @cached_property
    def member(self) -> NDArray[np.intp]:
        """The group of each coordinate, from 0 on."""
        return np.asarray(np.unique(np.asarray(self.groups), return_inverse=True)[1], dtype=np.intp)

    @cached_property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.member.max()) + 1

    def total(self, x: Vector) -> Vector:
        """The sum of x over each group."""
        return np.bincount(self.member, weights=x).astype(np.float64, copy=False)

    def start(self, size: int) -> Vector:
        if size != self.member.size:
            raise InputError(f"groups has {self.member.size} labels, but there are {size} columns")
        return np.zeros(size)


@dataclass(frozen=True, eq=False)
class GroupL2(Grouped):
    """λ Σ_g ‖w_g‖₂ for λ > 0."""

    def norm(self, x: Vector) -> float:
        return float(np.sqrt(self.total(x * x)).sum())

    def dual_norm(self, v: Vector) -> float:
        return float(np.sqrt(self.total(v * v).max()))

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        b, k = self.quadratic(geometry), weight * self.lam
        if isinstance(b, float):
            size = np.sqrt(self.total(s * s))
            shrink = np.maximum(size - k, 0.0) / np.where(size > 0, size, 1.0)
            x = s * (shrink[self.member] / -t)
            return x, x
        rho = self._radius(s, t * b, k)[self.member]
        x = -s * rho / np.where(rho > 0, t * b * rho + k, 1.0)
        return x, b * x

    def _radius(self, v: Vector, h: Vector, k: float) -> Vector:
        """ρ of every group, 0 where the group is."""
        size = np.sqrt(self.total(v * v))
        widest = np.zeros_like(size)
        np.maximum.at(widest, self.member, h)
        rho = np.maximum(size - k, 0.0) / widest  # below the root, exact for equal weights
        alive = rho > 0
        for _ in range(100):
            scale = np.where(alive[self.member], h * rho[self.member] + k, 1.0)
            p = v / scale
            f = np.where(alive, self.total(p * p), 1.0)
            slope = np.where(alive, self.total(p * p * h / scale), 1.0)  # -½ f'
            step = (np.sqrt(f) - 1.0) * f / slope
            rho = rho + np.where(alive, step, 0.0)
            if (np.abs(step[alive]) <= 4e-16 * rho[alive]).all():
                break
        return rho

"""The nuclear norm: matrices of low rank.

Ω(W) = λ Σ σ_i(W), the sum of the singular values,   dual norm σ_max(V);   w is the matrix W, flattened row by row

argmin ⟨S, W⟩ + (t/2)‖W‖² + weight·Ω(W)  =  U diag([σ - weight λ/t]_+) Vᵀ,   where  -S/t = U diag(σ) Vᵀ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry
from minorant.regularizers.base import positive
from minorant.regularizers.norm import Norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Nuclear"]


@dataclass(frozen=True)
class Nuclear(Norm):
    """λ times the sum of the singular values of the matrix of the given shape, for λ > 0."""

    lam: float
    shape: tuple[int, int]
    geometries = (Euclidean,)

    def __post_init__(self) -> None:
        positive(self, lam=self.lam)
        if len(self.shape) != 2 or min(self.shape) < 1:
            raise InputError(f"Nuclear needs the shape (rows, columns) of a matrix; got {self.shape}")

    def norm(self, x: Vector) -> float:
        return float(self._singular_values(x).sum())

    def dual_norm(self, v: Vector) -> float:
        return float(self._singular_values(v).max())

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        self.quadratic(geometry)
        left, values, right = np.linalg.svd(s.reshape(self.shape) / -t, full_matrices=False)
        values = np.maximum(values - weight * self.lam / t, 0.0)
        x = np.ascontiguousarray((left * values) @ right).ravel()
        return x, x

    def start(self, size: int) -> Vector:
        if size != self.shape[0] * self.shape[1]:
            raise InputError(f"a matrix of shape {self.shape} has not {size} entries, the number of columns of X")
        return np.zeros(size)

    def _singular_values(self, x: Vector) -> Vector:
        return np.asarray(np.linalg.svd(x.reshape(self.shape), compute_uv=False))

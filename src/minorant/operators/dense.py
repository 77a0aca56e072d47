"""A dense matrix, row by row in memory, float32 or float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minorant import kernels
from minorant.operators.base import RowMatrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Dense"]


class Dense(RowMatrix):
    """X as a C-contiguous array; products are summed in float64 and bit-identical for any number of threads."""

    def __init__(self, X: NDArray[Any], threads: int = 1) -> None:
        dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
        self.X = np.ascontiguousarray(X, dtype=dtype)
        self.shape = (X.shape[0], X.shape[1])
        self.threads = threads

    def dot(self, w: Vector) -> Vector:
        return kernels.dense_dot(self.X, w, self.threads)

    def tdot(self, alpha: Vector) -> Vector:
        return kernels.dense_tdot(self.X, alpha, self.threads)

    def row_norms(self) -> Vector:
        return kernels.dense_row_norms(self.X, self.threads)

    def column_norms(self, weights: Vector) -> Vector:
        return np.asarray(np.sqrt(weights @ np.square(self.X, dtype=np.float64)))

    def largest(self) -> float:
        return float(max(self.X.max(initial=0.0), -self.X.min(initial=0.0)))

    @property
    def volume(self) -> int:
        return self.X.size

    def cholesky(self, h: Vector, bordered: bool, lam: float, g: Vector) -> Vector:
        return kernels.dense_cholesky(self.X, h, bordered, lam, g, self.threads)

    def conjugate_gradients(
        self, h: Vector, bordered: bool, lam: float, g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
    ) -> tuple[Vector, int, float]:
        return kernels.dense_conjugate_gradients(
            self.X, h, bordered, lam, g, inverse_diagonal, accuracy, most, self.threads
        )

    def sweeps(self, *arguments: Any) -> tuple[float, float, int]:
        return kernels.dense_sweeps(self.X, *arguments)

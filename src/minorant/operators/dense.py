"""A dense matrix, row by row or column by column in memory, float32 or float64."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant import kernels
from minorant.operators.base import RowMatrix
from minorant.operators.column_access import DenseColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Dense"]


class Dense(RowMatrix):
    """X as it is in memory, if contiguous; products are summed in float64, the same for any number of threads.

    `rows` holds X where it is stored row by row, else Xᵀ, whose products are those of X the other way round.
    """

    def __init__(self, X: NDArray[Any], threads: int = 1) -> None:
        dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
        self.by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
        self.rows = np.ascontiguousarray(X.T if self.by_columns else X, dtype=dtype)
        self.shape = (X.shape[0], X.shape[1])
        self.threads, self.volume = threads, self.rows.size

    @property
    def X(self) -> NDArray[Any]:
        """X row by row: a copy where it is stored the other way."""
        return self._copy if self.by_columns else self.rows

    @cached_property
    def _copy(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.rows.T)

    def dot(self, w: Vector) -> Vector:
        return (kernels.dense_tdot if self.by_columns else kernels.dense_dot)(self.rows, w, self.threads)

    def tdot(self, alpha: Vector) -> Vector:
        return (kernels.dense_dot if self.by_columns else kernels.dense_tdot)(self.rows, alpha, self.threads)

    def add_rows(self, base: Vector, rows: NDArray[np.int32], values: Vector) -> Vector:
        if self.by_columns:
            return super().add_rows(base, rows, values)
        return kernels.dense_add_rows(self.rows, rows, values, base)

    def row_norms(self) -> Vector:
        if self.by_columns:
            return np.asarray(np.sqrt(np.einsum("ji,ji->i", self.rows, self.rows, dtype=np.float64)))
        return kernels.dense_row_norms(self.rows, self.threads)

    def column_norms(self, weights: Vector) -> Vector:
        return kernels.dense_column_norms(self.rows, self.by_columns, weights, self.threads)

    def largest(self) -> float:
        return float(max(self.rows.max(initial=0.0), -self.rows.min(initial=0.0)))

    def part(self, rows: NDArray[Any]) -> Dense:
        return Dense(self.rows[:, rows].T if self.by_columns else self.rows[rows], self.threads)

    @property
    def values(self) -> NDArray[Any]:
        return self.rows.ravel()

    def cholesky(self, h: Vector, bordered: bool, lam: float, g: Vector) -> Vector:
        return kernels.dense_cholesky(self.X, h, bordered, lam, g, self.threads)

    def conjugate_gradients(
        self, h: Vector, bordered: bool, lam: float, g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
    ) -> tuple[Vector, int, float]:
        return kernels.dense_conjugate_gradients(
            self.X, h, bordered, lam, g, inverse_diagonal, accuracy, most, self.threads
        )

    def newton(self, *arguments: Any) -> tuple[float, int, int]:
        return kernels.dense_newton(self.X, *arguments, self.threads)

    def whole_fit(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        return kernels.dense_whole_fit(self.X, self.shape[1], y, *arguments, self.threads)

    def least_squares(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        return kernels.dense_least_squares(self.X, self.shape[1], y, *arguments, self.threads)

    def multinomial(self, *arguments: Any) -> tuple[float, int, int, bool]:
        return kernels.dense_multinomial(self.X, *arguments, self.threads)

    def row_products(self) -> NDArray[np.float64]:
        return kernels.dense_row_products(self.X, self.shape[1])

    def sweeps(self, *arguments: Any) -> tuple[float, float, int]:
        return kernels.dense_sweeps(self.X, *arguments)

    def row_newton(self, *problem: Any) -> tuple[Vector, Vector, Vector, Vector]:
        return kernels.dense_row_newton(self.rows, self.by_columns, *problem)

    def column_access(self) -> DenseColumns:
        """The columns, for solvers that work on some of them."""
        return DenseColumns(self.rows, by_columns=self.by_columns)

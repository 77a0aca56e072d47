"""A sparse matrix in compressed rows, float32 or float64 values, 32- or 64-bit indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from minorant import kernels
from minorant.operators.base import RowMatrix
from minorant.operators.column_access import SparseColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Csr"]


class Csr(RowMatrix):
    """X as a SciPy CSR matrix, shared and never densified; its indices are checked once, here."""

    def __init__(self, X: Any, threads: int = 1) -> None:
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        indices, indptr = np.ascontiguousarray(X.indices), np.ascontiguousarray(X.indptr)
        kernels.check_csr(indices, indptr, *self.shape)
        # Two values in one place have a sum, and norms are those of the sum; the order of columns matters to nobody.
        if not X.has_canonical_format and kernels.csr_has_duplicates(indices, indptr, self.shape[1]):
            X = X.copy()
            X.sum_duplicates()
        dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
        self.data = np.ascontiguousarray(X.data, dtype=dtype)
        self.indices = np.ascontiguousarray(X.indices)
        self.indptr = np.ascontiguousarray(X.indptr)
        self.threads, self.volume = threads, self.data.size
        self._arrays = (self.data, self.indices, self.indptr)

    def dot(self, w: Vector) -> Vector:
        return kernels.csr_dot(*self._arrays, w, self.threads)

    def tdot(self, alpha: Vector) -> Vector:
        return kernels.csr_tdot(*self._arrays, alpha, self.shape[1], self.threads)

    def add_rows(self, base: Vector, rows: NDArray[np.int32], values: Vector) -> Vector:
        return kernels.csr_add_rows(*self._arrays, rows, values, base)

    def row_norms(self) -> Vector:
        return kernels.csr_row_norms(*self._arrays, self.threads)

    def column_norms(self, weights: Vector) -> Vector:
        return kernels.csr_column_norms(*self._arrays, weights, self.shape[1], self.threads)

    def largest(self) -> float:
        return float(max(self.data.max(initial=0.0), -self.data.min(initial=0.0)))

    def column_access(self) -> SparseColumns:
        """The columns, for solvers that work on some of them."""
        return SparseColumns(self.data, self.indices, self.indptr, self.shape)

    def part(self, rows: NDArray[Any]) -> Csr:
        return Csr(csr_array(self._arrays, shape=self.shape)[rows], self.threads)

    @property
    def values(self) -> NDArray[Any]:
        return self.data

    def cholesky(self, h: Vector, bordered: bool, lam: float, g: Vector) -> Vector:
        return kernels.csr_cholesky(*self._arrays, h, bordered, lam, g, self.threads)

    def conjugate_gradients(
        self, h: Vector, bordered: bool, lam: float, g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
    ) -> tuple[Vector, int, float]:
        return kernels.csr_conjugate_gradients(
            *self._arrays, h, bordered, lam, g, inverse_diagonal, accuracy, most, self.threads
        )

    def newton(self, *arguments: Any) -> tuple[float, int, int]:
        return kernels.csr_newton(*self._arrays, *arguments, self.threads)

    def whole_fit(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        return kernels.csr_whole_fit(*self._arrays, self.shape[1], y, *arguments, self.threads)

    def least_squares(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        return kernels.csr_least_squares(*self._arrays, self.shape[1], y, *arguments, self.threads)

    def multinomial(self, *arguments: Any) -> tuple[float, int, int, bool]:
        return kernels.csr_multinomial(*self._arrays, *arguments, self.threads)

    def row_products(self) -> NDArray[np.float64]:
        return kernels.csr_row_products(*self._arrays, self.shape[1])

    def sweeps(self, *arguments: Any) -> tuple[float, float, int]:
        return kernels.csr_sweeps(*self._arrays, *arguments)

    def row_newton(self, *problem: Any) -> tuple[Vector, Vector, Vector, Vector]:
        return kernels.csr_row_newton(*self._arrays, *problem)

    def columns_newton(self, columns: NDArray[np.int64], *problem: Any) -> tuple[Vector, Vector, Vector, Vector]:
        return kernels.csr_columns_newton(*self._arrays, self.shape[1], columns, *problem)

"""Access to single columns of the data, for the solvers that work on some of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from minorant import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Index = NDArray[np.int64]

__all__ = ["ColumnAccess", "DenseColumns", "SparseColumns"]


class ColumnAccess(Protocol):
    """What a map must have for a solver that works on columns."""

    def solve(self, columns: Index, *problem: Any) -> tuple[Vector, Vector, Vector]:
        """The weights of these columns that solve `problem`, their scores, those of the dual point: see `kernels`."""
        ...


class DenseColumns:
    """A matrix stored row by row, whose columns are copied, or column by column, where they are used as they are."""

    def __init__(self, rows: NDArray[Any], *, by_columns: bool) -> None:
        self._rows, self._by_columns = rows, by_columns

    def solve(self, columns: Index, *problem: Any) -> tuple[Vector, Vector, Vector]:
        if self._by_columns:
            return kernels.solve_dense_columns(self._rows, columns, *problem)
        block = kernels.gather_dense(self._rows, columns)
        return kernels.solve_dense_columns(block, np.arange(columns.size), *problem)


class SparseColumns:
    """Compressed rows; a column is gathered when it is first asked for, and kept."""

    def __init__(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
        self._rows = data, indices, indptr
        store = kernels.SparseStore32 if data.dtype == np.float32 else kernels.SparseStore64
        self._store = store(*shape)

    def solve(self, columns: Index, *problem: Any) -> tuple[Vector, Vector, Vector]:
        self._store.gather(*self._rows, columns)
        return self._store.solve(columns, *problem)

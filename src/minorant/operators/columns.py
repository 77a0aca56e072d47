"""Several scores per example: one column of weights for each, and the same data for all.

    W in R^{p×k}  ↦  U = X W in R^{n×k},     both as vectors, row by row: the map X ⊗ I_k

It is k copies of X, so its norm is that of X, not k times it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.operators.base import LinearMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Columns"]


class Columns(LinearMap):
    """X W for W of k columns; w is W, and the scores are U, each flattened row by row."""

    def __init__(self, base: LinearMap, k: int) -> None:
        self.base, self.k = base, k
        self.shape = (base.shape[0] * k, base.shape[1] * k)

    def dot(self, w: Vector) -> Vector:
        return self._each(self.base.dot, w)

    def tdot(self, alpha: Vector) -> Vector:
        return self._each(self.base.tdot, alpha)

    def row_norms(self) -> Vector:
        return np.repeat(self.base.row_norms(), self.k)

    def column_norms(self, weights: Vector) -> Vector:
        return self._each(self.base.column_norms, weights)

    def largest(self) -> float:
        return self.base.largest()

    def bound(self, rows: Vector, columns: Vector | None = None) -> float:
        # ‖diag(r)^½ (X ⊗ I) diag(s)^½‖ grows with r and s: with the largest of each block it is that of X.
        return self.base.bound(self._most(rows), None if columns is None else self._most(columns))

    def _each(self, f: Callable[[Vector], Vector], v: Vector) -> Vector:
        return np.stack([f(column) for column in np.ascontiguousarray(v.reshape(-1, self.k).T)], axis=1).ravel()

    def _most(self, weights: Vector) -> Vector:
        return np.asarray(weights.reshape(-1, self.k).max(axis=1))

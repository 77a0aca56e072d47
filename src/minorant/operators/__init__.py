"""Linear maps, one file for each way the data are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from minorant.errors import InputError
from minorant.operators.base import Counting, LinearMap, RowMatrix, Rows, bound_norm, stored
from minorant.operators.column_access import ColumnAccess
from minorant.operators.columns import Columns
from minorant.operators.csr import Csr
from minorant.operators.dense import Dense

__all__ = [
    "ColumnAccess",
    "Columns",
    "Counting",
    "Csr",
    "Dense",
    "LinearMap",
    "RowMatrix",
    "Rows",
    "as_linear_map",
    "bound_norm",
    "stored",
]


def as_linear_map(X: Any, threads: int = 1) -> LinearMap:
    """The linear map of a matrix: a LinearMap as it is, a SciPy sparse matrix, or what NumPy takes as an array."""
    if isinstance(X, LinearMap):
        return X
    if issparse(X):
        sparse = X if X.format == "csr" else X.tocsr()
        _check_finite(sparse.data)
        return Csr(sparse, threads)
    dense = np.asarray(X)
    if dense.ndim != 2 or dense.dtype.kind not in "fiub":
        raise InputError(f"expected a matrix of numbers; got shape {dense.shape}, type {dense.dtype}")
    _check_finite(dense)
    return Dense(dense, threads)


def _check_finite(values: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values, dtype=np.float64)  # one pass, no temporary; finite unless something is not
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise InputError("the data have a value that is NaN or infinite; remove or impute it")

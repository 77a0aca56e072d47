"""Linear maps, one file for each way the data are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from minorant import kernels
from minorant.errors import InputError
from minorant.operators.base import Counting, LinearMap, RowMatrix, Rows, bound_norm, stored
from minorant.operators.column_access import ColumnAccess
from minorant.operators.columns import Columns
from minorant.operators.csr import Csr
from minorant.operators.dense import Dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        _check_finite(sparse.data, threads)
        return Csr(sparse, threads)
    dense = np.asarray(X)
    if dense.ndim != 2 or dense.dtype.kind not in "fiub":
        raise InputError(f"expected a matrix of numbers; got shape {dense.shape}, type {dense.dtype}")
    _check_finite(dense, threads)
    return Dense(dense, threads)


def _check_finite(values: NDArray[Any], threads: int) -> None:
    if values.dtype in (np.float32, np.float64) and values.flags.forc:
        finite = kernels.all_finite(values.ravel(order="K"), threads)
    else:
        finite = bool(np.isfinite(values).all())
    if not finite:
        raise InputError("the data have a value that is NaN or infinite; remove or impute it")

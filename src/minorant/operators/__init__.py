"""Linear maps, one file for each way the data are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from minorant import kernels
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
    "check_finite",
    "stored",
]


def as_linear_map(X: Any, threads: int = 1, *, finite: bool = True) -> LinearMap:
    """The linear map of a matrix: a LinearMap as it is, a SciPy sparse matrix, or what NumPy takes as an array.

    Without `finite`, whoever asks for it has to look for values that are not.
    """
    if isinstance(X, LinearMap):
        return X
    A: Csr | Dense
    if issparse(X):
        A = Csr(X if X.format == "csr" else X.tocsr(), threads)
    else:
        dense = np.asarray(X)
        if dense.ndim != 2 or dense.dtype.kind not in "fiub":
            raise InputError(f"expected a matrix of numbers; got shape {dense.shape}, type {dense.dtype}")
        A = Dense(dense, threads)
    if finite:
        check_finite(A)
    return A


def check_finite(A: LinearMap) -> None:
    """Refuse data with a value that is NaN or infinite; what another kind of map holds is its own business."""
    if isinstance(A, RowMatrix) and not kernels.all_finite(A.values, A.threads):
        raise InputError("the data have a value that is NaN or infinite; remove or impute it")

"""A data set by its path, whatever its form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scipy.sparse import csr_array

from minorant.errors import InputError
from minorant.io.cache import load_cache
from minorant.io.svmlight import load_svmlight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from minorant.io.svmlight import ZeroBased

__all__ = ["load_data"]


def load_data(
    path: str | os.PathLike[str], *, n_features: int | None = None, zero_based: ZeroBased = "auto"
) -> tuple[csr_array, NDArray[np.float64]]:
    """Read a data set: a directory is a cache (`load_cache`), any other path is text (`load_svmlight`).

    `n_features` fixes the number of columns of both: missing ones are zero, a larger index is an InputError.
    """
    if not os.path.isdir(path):
        return load_svmlight(path, n_features=n_features, zero_based=zero_based)
    X, y = load_cache(path)
    if n_features is None or X.shape[1] == n_features:
        return X, y
    if X.shape[1] > n_features:
        raise InputError(f"{os.fspath(path)}: {X.shape[1]} features; expected at most n_features={n_features}")
    return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features), copy=False), y

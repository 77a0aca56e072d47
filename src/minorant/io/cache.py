"""A sparse data set as memory-mapped arrays: a directory that opens in milliseconds.

    DIR/manifest.json            format, shape, types, and what the arrays were built from
    DIR/csr-a/ or DIR/csr-b/     data.npy, indices.npy, indptr.npy, labels.npy

The manifest names the half in use. A save writes the other half and then replaces the manifest in one step,
so a killed writer leaves the old data set whole and at most one stray half, which the next save replaces.
Readers and writers take turns by a lock on DIR; a mapped array outlives the removal of its file.
"""

from __future__ import annotations

import json
import os
import shutil
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from minorant.errors import InputError
from minorant.io._atomic import directory_lock, replace_locked, sync_directory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["load_cache", "save_cache"]

FORMAT = 1
_MANIFEST = "manifest.json"
_HALVES = ("csr-a", "csr-b")
_OURS = {_MANIFEST, f".{_MANIFEST}.tmp", *_HALVES}
# What NumPy raises on a damaged .npy file: its header is a Python literal.
_BAD_ARRAY = (ValueError, TypeError, ArithmeticError, SyntaxError, TokenError, MemoryError, RecursionError)


def save_cache(
    path: str | os.PathLike[str], X: Any, y: ArrayLike, *, source: dict[str, Any] | None = None
) -> None:
    """Write a data set as a cache directory.

    Parameters
    ----------
    path : path
        A new or empty directory, or a cache to replace.
    X : sparse or dense matrix of shape (n_rows, n_features)
        float32 stays float32; any other type is stored as float64.
    y : array of shape (n_rows,)
        Numbers; stored as float64.
    source : dict, optional
        What the data set was built from, as JSON; `load_svmlight` compares it.

    Raises
    ------
    InputError
        If X is no matrix, y does not fit it, or the directory holds files that are not a cache's.
    OSError
        If the directory cannot be written; a cache that was there stays as it was.
    """
    X, labels = _canonical(X, y)
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "labels": labels}
    folder = os.fspath(path)
    os.makedirs(folder, exist_ok=True)
    with directory_lock(folder):
        foreign = sorted(set(os.listdir(folder)) - _OURS)
        if foreign:
            raise InputError(f"{folder}: holds {foreign[0]!r}, so it is no cache; choose a new directory")
        used = _half_in_use(folder)
        half = _HALVES[used == _HALVES[0]]
        _write_half(os.path.join(folder, half), arrays)
        manifest = {
            "format": FORMAT,
            "half": half,
            "shape": [int(length) for length in X.shape],
            "nnz": int(X.nnz),
            "dtype": X.data.dtype.name,
            "index_dtype": X.indices.dtype.name,
            "source": source,
        }
        replace_locked(os.path.join(folder, _MANIFEST), json.dumps(manifest, indent=1).encode())
        if used:
            shutil.rmtree(os.path.join(folder, used), ignore_errors=True)


def load_cache(path: str | os.PathLike[str]) -> tuple[csr_array, NDArray[np.float64]]:
    """Open a cache directory, with the arrays mapped into memory, read-only.

    Raises
    ------
    InputError
        If the directory is no cache, or a file of it is missing, truncated or damaged.
    OSError
        If the directory does not exist or cannot be read.
    """
    folder = os.fspath(path)
    with directory_lock(folder, shared=True):
        return _open(folder, _read_manifest(folder))


def load_if_current(
    path: str | os.PathLike[str], source: dict[str, Any]
) -> tuple[csr_array, NDArray[np.float64]] | None:
    """Open a cache directory if it is whole and was built from `source`."""
    folder = os.fspath(path)
    try:
        with directory_lock(folder, shared=True):
            manifest = _read_manifest(folder)
            return _open(folder, manifest) if manifest["source"] == source else None
    except (InputError, FileNotFoundError):
        return None


def _canonical(X: Any, y: ArrayLike) -> tuple[csr_array, NDArray[np.float64]]:
    """X in compressed sparse rows, sorted and without repeated indices, and y."""
    if not issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"X must be a matrix; got {X.ndim} dimension(s)")
    if X.dtype.kind not in "biuf":
        raise InputError(f"X must hold real numbers; got {X.dtype}")
    X = csr_array(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    try:
        labels = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y must be numbers: {error}") from None
    if labels.shape != (X.shape[0],):
        raise InputError(
            f"y must have one number per row of X, shape ({X.shape[0]},); got shape {labels.shape}"
        )
    _check_structure(X.indices, X.indptr, X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    narrow = max(X.nnz, X.shape[1] - 1) < 2**31
    index = np.int32 if narrow else np.int64
    return csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape), labels


def _check_structure(indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
    """Refuse indices that would make a product read outside its arrays."""
    if indptr[0] != 0 or indptr[-1] != indices.size or (indptr[1:] < indptr[:-1]).any():
        raise InputError("bad row borders: indptr must rise from 0 to the number of stored values")
    if indices.size and not (indices.min() >= 0 and indices.max() < shape[1]):
        low, high = indices.min(), indices.max()
        raise InputError(f"column indices go from {low} to {high}; allowed: 0 to {shape[1] - 1}")


def _write_half(spare: str, arrays: dict[str, NDArray[Any]]) -> None:
    shutil.rmtree(spare, ignore_errors=True)  # a killed writer's
    try:
        os.mkdir(spare)
        for name, array in arrays.items():
            with open(os.path.join(spare, f"{name}.npy"), "xb") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        sync_directory(spare)
    except BaseException:
        shutil.rmtree(spare, ignore_errors=True)
        raise


def _half_in_use(folder: str) -> str | None:
    try:
        return str(_read_manifest(folder)["half"])
    except InputError:
        return None


def _read_manifest(folder: str) -> dict[str, Any]:
    name = os.path.join(folder, _MANIFEST)
    try:
        with open(name, "rb") as file:
            manifest = json.loads(file.read(1 << 20))
    except FileNotFoundError:
        raise InputError(f"{folder}: no {_MANIFEST}, so this is no complete cache; build it again") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name}: damaged (not JSON); build the cache again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise InputError(
            f"{name}: cache format {found!r}; this version reads {FORMAT}; build the cache again"
        )
    shape = manifest.get("shape")
    counts = [*shape, manifest.get("nnz")] if isinstance(shape, list) and len(shape) == 2 else [None]
    if not (
        manifest.get("half") in _HALVES
        and all(type(count) is int and 0 <= count < 2**48 for count in counts)
        and manifest.get("dtype") in ("float32", "float64")
        and manifest.get("index_dtype") in ("int32", "int64")
        and isinstance(manifest.setdefault("source", None), dict | None)
    ):
        raise InputError(f"{name}: damaged (missing or impossible entries); build the cache again")
    return manifest


def _open(folder: str, manifest: dict[str, Any]) -> tuple[csr_array, NDArray[np.float64]]:
    half = os.path.join(folder, manifest["half"])
    n, p = manifest["shape"]
    nnz, index = manifest["nnz"], manifest["index_dtype"]
    data = _map(half, "data", manifest["dtype"], nnz)
    indices, indptr = _map(half, "indices", index, nnz), _map(half, "indptr", index, n + 1)
    labels = _map(half, "labels", "float64", n)
    try:
        _check_structure(indices, indptr, (n, p))
    except InputError as error:
        raise InputError(f"{half}: damaged: {error}; build the cache again") from None
    return csr_array((data, indices, indptr), shape=(n, p), copy=False), labels


def _map(half: str, name: str, dtype: str, size: int) -> NDArray[Any]:
    path = os.path.join(half, f"{name}.npy")
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise InputError(f"{path}: missing; build the cache again") from None
    except _BAD_ARRAY as error:
        raise InputError(f"{path}: truncated or damaged ({error}); build the cache again") from None
    if array.dtype != np.dtype(dtype) or array.shape != (size,):
        found = f"{array.dtype} of shape {array.shape}"
        raise InputError(f"{path}: holds {found}, but the manifest says {dtype} of shape ({size},)")
    return np.asarray(array)

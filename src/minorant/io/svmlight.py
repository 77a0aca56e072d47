"""svmlight (LIBSVM) text files: one row per line, `label index:value ...  # comment`.

The text is read in chunks, decompressed on the way where the file is gzip, bzip2 or xz (told by its first
bytes), and never held as a whole. What the reader does not understand is an InputError "FILE:LINE: reason".
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from numbers import Integral
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from minorant._native import core_or
from minorant.errors import InputError
from minorant.io import _svmlight_python
from minorant.io.cache import load_cache, load_if_current, save_cache

if TYPE_CHECKING:
    import io

    from numpy.typing import DTypeLike, NDArray

    ZeroBased: TypeAlias = bool | Literal["auto"]

__all__ = ["load_svmlight", "native"]

_core: Any = core_or(_svmlight_python)
native: bool = _core is not _svmlight_python

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 28


def load_svmlight(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    cache: str | os.PathLike[str] | None = None,
) -> tuple[csr_array, NDArray[np.float64]]:
    """Read a data set in svmlight (LIBSVM) format.

    Parameters
    ----------
    path : path
        A text file, plain or compressed by gzip, bzip2 or xz. `qid:N` after the label is skipped.
    n_features : int, optional
        Number of columns; a larger index is an error. Without it the largest index decides, so give the
        training set's number when reading a test set.
    dtype : float64 or float32
        Type of the values of X. Labels are float64.
    zero_based : bool or "auto"
        Whether the first column has index 0 (True) or 1 (False). "auto": 1, unless index 0 appears.
    cache : path, optional
        Directory that holds the parsed arrays for the next time. It is used, memory-mapped, while the size
        and the time of the file and the options above are those it was built from, and rebuilt otherwise.

    Returns
    -------
    X : csr_array of shape (n_rows, n_features)
        With 32-bit indices unless there are 2³¹ stored values.
    y : array of shape (n_rows,)

    Raises
    ------
    InputError
        If a line is malformed (`FILE:LINE: reason`), a number is not finite, the file has no rows, or a
        compressed file is damaged.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from minorant.io import load_svmlight
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two_rows.txt"
    ...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1  # a comment\\n")
    ...     X, y = load_svmlight(path)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    options = _check_options(n_features, dtype, zero_based)
    if cache is None:
        return _parse(path, **options)
    about = os.stat(path)  # before reading: a file that changes meanwhile will not match
    source = {
        "path": os.path.abspath(path),
        "size": about.st_size,
        "mtime_ns": about.st_mtime_ns,
        "dtype": options["dtype"].name,
        "zero_based": options["zero_based"],
        "n_features": options["n_features"],
    }
    found = load_if_current(cache, source)
    if found is None:
        save_cache(cache, *_parse(path, **options), source=source)
        found = load_cache(cache)
    return found


def _check_options(n_features: int | None, dtype: DTypeLike, zero_based: ZeroBased) -> dict[str, Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype must be float32 or float64; got {dtype!r}")
    if isinstance(zero_based, str) and zero_based == "auto":
        base = None
    elif isinstance(zero_based, bool | np.bool_):
        base = bool(zero_based)
    else:
        raise InputError(f"zero_based must be True, False or 'auto'; got {zero_based!r}")
    if n_features is not None and not (isinstance(n_features, Integral) and 1 <= n_features <= 2**31):
        raise InputError(f"n_features must be a whole number from 1 to 2**31, or None; got {n_features!r}")
    return {"dtype": kind, "zero_based": base, "n_features": int(n_features or 0)}


def _parse(
    path: str | os.PathLike[str], *, dtype: np.dtype[Any], zero_based: bool | None, n_features: int
) -> tuple[csr_array, NDArray[np.float64]]:
    name = os.fspath(path)
    kind = _core.SvmlightReader32 if dtype == np.float32 else _core.SvmlightReader64
    reader = kind(zero_based, n_features, MAX_LINE_BYTES)
    try:
        with open(path, "rb") as file:
            _feed(file, reader, name)
        y, data, indices, indptr, n_columns = reader.finish()
    except _core.ParseError as error:
        raise InputError(f"{name}:{error}") from None
    if y.size == 0:
        raise InputError(f"{name}: no rows; expected lines such as '+1 3:0.5 7:1'")
    indptr = indptr.astype(np.int32 if data.size < 2**31 else np.int64, copy=False)
    X = csr_array((data, indices, indptr), shape=(y.size, n_columns), copy=False)
    X.has_canonical_format = True  # the reader refuses unsorted and repeated indices
    return X, y


def _feed(file: io.BufferedReader, reader: Any, name: str) -> None:
    """Feed the reader all of the text, decompressed."""
    text, damage = _decompressed(file)
    chunk = memoryview(bytearray(CHUNK_BYTES))
    while True:
        try:
            size = text.readinto(chunk)  # type: ignore[attr-defined]
        except damage as error:
            if isinstance(error, OSError) and error.errno is not None:  # the disk's error, not the decompressor's
                raise
            raise InputError(f"{name}: the compressed file is truncated or damaged: {error}") from None
        if not size:
            return
        reader.feed(chunk[:size])


def _decompressed(file: io.BufferedReader) -> tuple[BinaryIO, tuple[type[Exception], ...]]:
    """The text of the file, and the exceptions that mean that it is damaged."""
    magic = file.peek(6)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file), (EOFError, OSError, zlib.error)  # type: ignore[return-value]
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(file), (EOFError, OSError)  # type: ignore[return-value]
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(file), (EOFError, OSError, lzma.LZMAError)  # type: ignore[return-value]
    return file, ()

"""Model files: named arrays and a JSON description in one safetensors file. Nothing in it is ever executed.

    8 bytes: length of the header | header: JSON {name: {dtype, shape, data_offsets}, "__metadata__"} | arrays

The description is the metadata entry "minorant", a JSON object with "format": 1. A file is checked against
its own size before anything is allocated, and written whole or not at all.
"""

from __future__ import annotations

import json
import os
from math import prod
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from minorant.errors import InputError
from minorant.io._atomic import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["load_model", "save_model"]

FORMAT = 1
_TYPES = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64, "U8": np.uint8}
_ALLOWED = ", ".join(kind.__name__ for kind in _TYPES.values())
_MAX_HEADER_BYTES = 100_000_000  # the limit of the safetensors library


def save_model(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> None:
    """Write arrays and a JSON description as one file.

    Parameters
    ----------
    path : path
        A file that is there is replaced in one step.
    tensors : dict of arrays
        Of type float32, float64, int32, int64 or uint8, with finite values.
    meta : dict
        The description; any JSON with finite numbers. "format" is added.

    Raises
    ------
    InputError
        If an array or the description cannot be stored.
    OSError
        If the file cannot be written; a file that was there stays as it was.
    """
    for name, tensor in tensors.items():
        if tensor.dtype not in _TYPES.values():
            raise InputError(f"tensor {name!r} has type {tensor.dtype}; allowed: {_ALLOWED}")
    _check_finite(tensors)
    try:
        description = json.dumps({**meta, "format": FORMAT}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the description of the model is not JSON: {error}") from None
    packed = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    replace_file(path, safetensors.save(packed, metadata={"minorant": description}))


def load_model(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `save_model` wrote: the arrays (read-only) and the description.

    Raises
    ------
    InputError
        If the file is not a model file of this format, is truncated or damaged, or holds
        numbers that are not finite.
    OSError
        If the file cannot be read.
    """
    with open(path, "rb") as file:
        try:
            meta = _check_header(file.read(8), file.read, os.fstat(file.fileno()).st_size)
            file.seek(0)
            tensors = safetensors.load(file.read())
            _check_finite(tensors)
        except (InputError, SafetensorError) as error:
            raise InputError(f"{os.fspath(path)}: not a usable model file: {error}") from None
    return tensors, meta


def _check_finite(tensors: Mapping[str, NDArray[Any]]) -> None:
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise InputError(f"tensor {name!r} has values that are not finite")


def _check_header(prefix: bytes, read: Any, size: int) -> dict[str, Any]:
    """The description, after the header was found to agree with the size of the file."""
    length = int.from_bytes(prefix, "little")
    if len(prefix) < 8 or length > min(size - 8, _MAX_HEADER_BYTES):
        raise InputError(f"truncated, or not safetensors: {size} bytes cannot hold its header")
    header = _json_object(read(length), "header")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("minorant"), str):
        raise InputError("safetensors without a description of a minorant model")
    end = 0
    for first, last in sorted(_place(name, entry) for name, entry in header.items()):
        if first != end:
            raise InputError(f"the bytes of two tensors overlap or leave a hole before byte {first}")
        end = last
    if end != size - 8 - length:
        raise InputError(f"truncated or damaged: {size - 8 - length} bytes of tensors; its header says {end}")
    meta = _json_object(metadata["minorant"], "description")
    if meta.get("format") != FORMAT:
        raise InputError(f"model format {meta.get('format')!r}; this version reads {FORMAT}")
    return meta


def _place(name: str, entry: object) -> tuple[int, int]:
    """The bytes [first, last) of a tensor, which must be as many as its type and shape need."""
    if not isinstance(entry, dict):
        raise InputError(f"tensor {name!r:.60} is not described")
    kind, shape, place = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise InputError(f"tensor {name!r:.60} has type {kind!r:.60}; allowed: {', '.join(_TYPES)}")
    if not _are_sizes(shape) or not _are_sizes(place) or len(place) != 2:
        raise InputError(f"tensor {name!r:.60} has no shape or no place in the file")
    if prod(shape) * np.dtype(_TYPES[kind]).itemsize != place[1] - place[0]:
        raise InputError(f"tensor {name!r:.60} has shape {shape}, which does not fill bytes {place}")
    return place[0], place[1]


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    if not isinstance(value, list) or len(value) > 8:
        return False
    return all(type(number) is int and 0 <= number < 2**48 for number in value)


def _json_object(text: str | bytes, what: str) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name appears twice")
        return dict(pairs)

    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise InputError(f"damaged {what}: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"damaged {what}: not a JSON object")
    return value

"""A fitted model by the path of its file, whatever its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minorant.io.linear_model import LinearModel
from minorant.io.measure_model import MODEL, MeasureModel
from minorant.io.model import load_model

if TYPE_CHECKING:
    import os

__all__ = ["load_fitted"]


def load_fitted(path: str | os.PathLike[str]) -> LinearModel | MeasureModel:
    """Read a fitted model.

    Raises
    ------
    InputError
        If the file is not one of a fitted model, with what is wrong.
    OSError
        If the file cannot be read.
    """
    tensors, meta = load_model(path)
    kind = MeasureModel if meta.get("model") == MODEL else LinearModel
    return kind.from_file(path, tensors, meta)

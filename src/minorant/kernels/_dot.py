"""The inner product of two vectors in plain NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["dot"]


def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """⟨a, b⟩, summed on this thread: BLAS would start threads of its own, and its result depend on their number."""
    return float(np.einsum("i,i->", a, b))

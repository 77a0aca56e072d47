"""The ε-insensitive loss of support vector regression, with or without a free bias.

For r = X w + b - y:    φ(r) = [|r| - ε]_+ ,    φ*(t) = ε|t|  on [-1, 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["EpsilonInsensitive"]


class EpsilonInsensitive(PiecewiseQuadratic):
    """The weighted mean of [|⟨x_i, w⟩ + b - y_i| - eps]_+ for real targets y and eps ≥ 0."""

    def __init__(self, y: ArrayLike, eps: float, *, sample_weight: ArrayLike | None = None, bias: bool = True) -> None:
        if not (np.isfinite(eps) and eps >= 0):
            raise InputError(f"EpsilonInsensitive needs a finite eps ≥ 0; got {eps}")
        self.eps = eps
        super().__init__(y, sample_weight, bias=bias, margin=None, low=-1.0, high=1.0, tube=eps)

    def phi(self, r: Vector) -> Vector:
        return np.maximum(0.0, np.abs(r) - self.eps)

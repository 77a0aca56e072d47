"""The quantile (pinball) loss, with or without a free bias.

For r = X w + b - y:    φ(r) = (1 - q) r where r ≥ 0, else -q r ,    φ* = 0  on [-q, 1 - q]

A constant prediction that minimizes it is the weighted q-quantile of y; q = ½ is half the absolute error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["Quantile"]


class Quantile(PiecewiseQuadratic):
    """The weighted mean of q [y_i - f_i]_+ + (1 - q) [f_i - y_i]_+ for f_i = ⟨x_i, w⟩ + b and 0 < q < 1."""

    def __init__(self, y: ArrayLike, q: float, *, sample_weight: ArrayLike | None = None, bias: bool = True) -> None:
        if not 0.0 < q < 1.0:
            raise InputError(f"Quantile needs 0 < q < 1; got {q}")
        self.q = q
        super().__init__(y, sample_weight, bias=bias, margin=None, low=-q, high=1.0 - q)

    def phi(self, r: Vector) -> Vector:
        return np.maximum((1.0 - self.q) * r, -self.q * r)

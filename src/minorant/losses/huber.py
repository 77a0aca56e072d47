"""Huber's loss, with or without a free bias.

For r = X w + b - y:    φ(r) = ½ r² where |r| ≤ δ, else δ|r| - ½ δ² ,    φ*(t) = ½ t²  on [-δ, δ] ,    curvature 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["Huber"]


class Huber(PiecewiseQuadratic):
    """The weighted mean of Huber's loss of ⟨x_i, w⟩ + b - y_i, for real targets y and delta > 0."""

    def __init__(
        self, y: ArrayLike, delta: float, *, sample_weight: ArrayLike | None = None, bias: bool = True
    ) -> None:
        if not (np.isfinite(delta) and delta > 0):
            raise InputError(f"Huber needs a finite delta > 0; got {delta}")
        self.delta = delta
        super().__init__(y, sample_weight, bias=bias, margin=None, low=-delta, high=delta, curvature=1.0)

    def phi(self, r: Vector) -> Vector:
        size = np.abs(r)
        inner = np.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)

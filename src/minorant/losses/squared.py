"""The squared error, with or without a free bias.

For r = X w + b - y:    φ(r) = r² ,    φ*(t) = t²/4  on R ,    curvature ½ ,   D = ∞

The scale is the mean of the squares, without a factor ½. The best bias is the weighted mean residual.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.losses.base import Smoothed

    Vector = NDArray[np.float64]

__all__ = ["Squared"]


class Squared(PiecewiseQuadratic):
    """The weighted mean of (⟨x_i, w⟩ + b - y_i)² for real targets y."""

    def __init__(self, y: ArrayLike, *, sample_weight: ArrayLike | None = None, bias: bool = True) -> None:
        super().__init__(y, sample_weight, bias=bias, margin=None, low=-inf, high=inf, curvature=0.5)

    def phi(self, r: Vector) -> Vector:
        return np.square(r)

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        # g + mu·d is a quadratic on all of Q, and so is its Bregman divergence: exactly a square.
        return (self.curvature + mu) * self.prox(at_p.alpha - at_q.alpha)

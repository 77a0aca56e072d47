"""The squared hinge, with or without a free bias.

For r = 1 - y (X w + b):    φ(r) = [r]_+² ,    φ*(t) = t²/4  on [0, ∞) ,    curvature ½ ,   D = ∞
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["SquaredHinge"]


class SquaredHinge(PiecewiseQuadratic):
    """The weighted mean of [1 - y_i (⟨x_i, w⟩ + b)]_+² for labels y of -1 and 1."""

    def __init__(self, y: ArrayLike, *, sample_weight: ArrayLike | None = None, bias: bool = True) -> None:
        super().__init__(y, sample_weight, bias=bias, margin=-1.0, low=0.0, high=inf, curvature=0.5)

    def bias_at_rest(self) -> float:
        return self._classes[1] - self._classes[0]

    def phi(self, r: Vector) -> Vector:
        return np.square(np.maximum(0.0, r))

"""The hinge with a corner rounded at width gamma, with or without a free bias.

For r = 1 - y (X w + b) and h = [r]_+ :

    φ(r) = h²/(2γ) where h ≤ γ, else h - γ/2 ,    φ*(t) = (γ/2) t²  on [0, 1] ,    curvature γ

It is the hinge smoothed once and for all; here γ belongs to the model, and the certificate is of that model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.losses._piecewise import PiecewiseQuadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["SmoothHinge"]


class SmoothHinge(PiecewiseQuadratic):
    """The weighted mean of the rounded hinge of 1 - y_i (⟨x_i, w⟩ + b), for labels y of -1 and 1 and gamma > 0."""

    def __init__(
        self, y: ArrayLike, gamma: float, *, sample_weight: ArrayLike | None = None, bias: bool = True
    ) -> None:
        if not (np.isfinite(gamma) and gamma > 0):
            raise InputError(f"SmoothHinge needs a finite gamma > 0 (for gamma = 0 use Hinge); got {gamma}")
        self.gamma = gamma
        super().__init__(y, sample_weight, bias=bias, margin=-1.0, low=0.0, high=1.0, curvature=gamma)

    def phi(self, r: Vector) -> Vector:
        h = np.maximum(0.0, r)
        return np.where(h <= self.gamma, h * h / (2.0 * self.gamma), h - 0.5 * self.gamma)

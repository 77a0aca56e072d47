"""Preconditioned conjugate gradients: H d = g for a positive semidefinite H that is known by its products alone.

d ← d + t p,  r ← r - t H p,  t = ⟨r, M r⟩/⟨p, H p⟩ ;    p ← M r + (⟨r, M r⟩/its last value) p ,    M = 1/diagonal
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant.kernels._dot import dot

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Solved", "conjugate_gradients"]


class Solved(NamedTuple):
    """d, the number of products with H, and what is left of the residual, in the norm of M."""

    d: Vector
    products: int
    left: float


def conjugate_gradients(
    curved: Callable[[Vector], Vector], g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
) -> Solved:
    """Solve curved(d) = g from 0 on, until `accuracy` of the residual is left, or H has no curvature any more."""
    d, residual = np.zeros(g.size), g.copy()
    scaled = inverse_diagonal * residual
    direction, energy = scaled, dot(residual, scaled)
    start, k = energy, 0
    while k < most and energy > accuracy**2 * start:
        image = curved(direction)
        curvature = dot(direction, image)
        if not curvature > 0:
            break
        step = energy / curvature
        d, residual = d + step * direction, residual - step * image
        scaled = inverse_diagonal * residual
        before, energy = energy, dot(residual, scaled)
        direction = scaled + (energy / before) * direction
        k += 1
    return Solved(d, k, sqrt(energy / start) if start > 0 else 0.0)

"""What a solver for linear models needs to know of a loss that is a weighted mean over examples.

With r_i = u_i - a_i + s_i b and one function φ for all examples (see `_separable.py`):

    g*(u) = min over b of Σ c_i φ(r_i),      φ*(t) = tube·|t| + (kappa/2) t² on [low, high],  or the logistic one
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Scalar"]


@dataclass(frozen=True, eq=False)
class Scalar:
    """φ, the weights c, the offsets a and the directions s of a loss, and whether it has a free bias b."""

    c: Vector
    offset: Vector
    direction: Vector
    bias: bool
    logistic: bool = False
    shape: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)  # kappa, tube, low, high

    @property
    def smooth(self) -> bool:
        """φ has no corner: Newton's method needs no smoothing."""
        return self.logistic or (self.shape[0] > 0 and self.shape[1] == 0.0)

    @property
    def quadratic(self) -> bool:
        """φ is a square: one step of Newton's method is enough."""
        return self.smooth and self.shape[2:] == (-inf, inf)

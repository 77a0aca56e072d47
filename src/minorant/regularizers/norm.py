"""Norms as regularizers.

Ω(w) = λ‖w‖,   Ω*(v) = 0 where ‖v‖_* ≤ λ, and inf elsewhere,   ∇Ω*(v) = 0 inside

Ω* being an indicator, a dual point is shrunk until its image has dual norm λ: `dual_scale` is λ/‖v‖_*.
No norm is strongly convex, so none has a dual view.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.regularizers.base import Regularizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.geometry import Geometry

    Vector = NDArray[np.float64]

__all__ = ["Norm"]

_ROUNDING = 1e-12  # relative: that of a shrunk point; D is wrong by no more


class Norm(Regularizer):
    """λ‖w‖ for λ > 0 and the norm and dual norm of a subclass."""

    lam: float

    @abstractmethod
    def norm(self, x: Vector) -> float:
        """The norm ‖w‖."""

    @abstractmethod
    def dual_norm(self, v: Vector) -> float:
        """The dual norm: max of ⟨v, w⟩ over ‖w‖ ≤ 1."""

    def value(self, x: Vector) -> float:
        return self.lam * self.norm(x)

    def conjugate(self, v: Vector) -> float:
        return 0.0 if self.dual_norm(v) <= self.lam * (1.0 + _ROUNDING) else np.inf

    def dual_scale(self, v: Vector) -> float:
        size = self.dual_norm(v)
        return self.lam / size if size > 0 else np.inf

    def maximizer(self, v: Vector) -> Vector:
        if self.conjugate(v) == np.inf:
            raise InputError(
                f"Ω* of {type(self).__name__} is infinite here and has no maximizer: "
                f"the dual norm is {self.dual_norm(v)}, above lam = {self.lam}"
            )
        return np.zeros_like(v)

    def strong_convexity(self, geometry: Geometry) -> float:
        self.quadratic(geometry)
        return 0.0

    def start(self, size: int) -> Vector:
        return np.zeros(size)

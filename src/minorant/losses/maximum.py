"""The largest score, the loss of LPBoost: only the worst example counts.

    g*(u) = max_i u_i,   g(α) = 0  on  Q = the simplex;     d(α) = Σ α_i log α_i + log t,   D = log t   (t scores)

    g*_mu(u) = mu log Σ exp(u_i/mu) - mu log t   at   α = softmax(u/mu)

Without the log t the smoothed value would exceed g*: ERRATUM 21. With w on the simplex too, the gradient of g*_mu(A w)
has the Lipschitz constant max |A_ij|²/mu in the norm L1. For margins y_i ⟨h_i, w⟩ take A = -diag(y) H.

Q does not contain 0, so no dual point can be shrunk: with an Ω whose conjugate is finite on a bounded set only, an α is
a bound where it lies in that set, and none elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Entropy
from minorant.losses.base import Loss, Smoothed
from minorant.losses.biases import simplex_rows
from minorant.losses.multiclass import softmax_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Maximum"]

_FEASIBLE = 1e-9  # violation of Q that still counts as rounding
_EPS = float(np.finfo(np.float64).eps)


class Maximum(Loss):
    """The largest of `size` scores."""

    bias = False

    def __init__(self, size: int) -> None:
        if size < 1:
            raise InputError(f"Maximum needs at least one score; got size {size}")
        self.size = size
        self.radius = float(np.log(max(size, 2)))  # of one score it is 0, and any bound will do
        self.geometry = Entropy()
        self._start = np.full(size, 1.0 / size)

    def value(self, u: Vector) -> float:
        return float(u.max())

    def value_at(self, u: Vector, intercept: float | Vector) -> float:
        """The loss at a given bias."""
        return self.value(u + intercept)

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        top, P = softmax_rows(u[None, :] / mu)
        return Smoothed(mu * (float(top[0]) - float(np.log(self.size))), P[0])

    def conjugate(self, alpha: Vector) -> float:
        outside = max(float(-alpha.min()), abs(float(alpha.sum()) - 1.0))
        return 0.0 if outside <= _FEASIBLE else np.inf

    def project(self, alpha: Vector) -> Vector:
        return np.asarray(simplex_rows(alpha[None, :])[0])

    def start(self) -> Vector:
        return self._start.copy()

    def prox(self, alpha: Vector) -> float:
        return self.geometry.divergence(alpha, self._start)

    def scale(self, alpha: Vector, limit: float) -> float:
        return 1.0

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        # mu KL(α_q ‖ α_p), unless α_p has underflowed: then the difference of the values is exact enough.
        near = mu * self.geometry.divergence(at_q.alpha, at_p.alpha)
        near -= _EPS * float(np.abs(at_p.alpha - at_q.alpha).sum())
        return max(near, super().smoothed_divergence(p, at_p, q, at_q, mu))

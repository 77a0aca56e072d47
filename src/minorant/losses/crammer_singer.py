"""The multiclass hinge of Crammer and Singer.

With δ_iy = 1 for y ≠ y_i and δ_{i,y_i} = 0, on the Q of `multiclass.py`,

    g*(u) = min over b of Σ c_i (max over y of (δ_iy + u_iy + b_y) - u_{i,y_i} - b_{y_i}),      g(α) = -⟨δ, α⟩

| smoothing | d(α)                                 | P_i                                    | D     |
|-----------|--------------------------------------|----------------------------------------|-------|
| entropy   | Σ c_i (Σ_y P_iy log P_iy + log k)    | softmax((δ_i + u_i)/mu)                | log k |
| euclidean | ½ Σ c_i ‖P_i - E_i‖²                 | nearest in the simplex to E + (δ+u)/mu | 1     |

With free biases b is added to u: the multipliers of Σ α_i = 0, which are exact to rounding, smoothed or not. Then the
smoothing is Euclidean, and D ≤ Σ_y min(π_y, 1 - π_y) for class frequencies π: no class takes or gives more mass.

Both round each example's corner at the same width mu, whatever its weight. In the Euclidean geometry of W the gradient
has the Lipschitz constant λ_max(Σ c_i x_i x_iᵀ) times 1/(2 mu) for the entropy, 1/mu for the Euclidean d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError, unknown_option
from minorant.geometry import WeightedEuclidean
from minorant.kernels import dot
from minorant.losses.base import Smoothed
from minorant.losses.biases import best_biases, nearest_with_sums, simplex_rows
from minorant.losses.multiclass import Multiclass, softmax_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["CrammerSinger"]


class CrammerSinger(Multiclass):
    """The weighted mean of max over y of 1[y ≠ y_i] + s_y - s_{y_i} for s = W'x_i + b and labels 0, ..., k - 1."""

    def __init__(
        self,
        y: ArrayLike,
        n_classes: int | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        smoothing: str = "entropy",
        bias: bool = False,
    ) -> None:
        if smoothing not in ("entropy", "euclidean"):
            raise unknown_option("smoothing of CrammerSinger", smoothing, ["entropy", "euclidean"])
        if bias and smoothing == "entropy":
            raise InputError("CrammerSinger with free biases is smoothed by the Euclidean norm: smoothing='euclidean'")
        super().__init__(y, n_classes, sample_weight)
        self.smoothing, self.bias = smoothing, bias
        if bias:
            self._need_every_class()
        self._delta = 1.0 - self._E
        if smoothing == "entropy":
            self.geometry = self._entropy
            self.radius = float(np.log(self.k))
            self._start = self._alpha(np.full(self._E.shape, 1.0 / self.k))
        else:
            with np.errstate(over="ignore"):
                # An example without weight has α_i = 0 everywhere; one of hardly any weight must not overflow.
                inverse = np.divide(1.0, self.c, out=np.zeros(self.y.size), where=self.c > 0)
            self.geometry = WeightedEuclidean(np.repeat(np.minimum(inverse, 1e300), self.k))
            self.radius = float(np.minimum(self._frequencies, 1.0 - self._frequencies).sum()) if bias else 1.0
            self._start = np.zeros(self.size)
        self.forget()

    def forget(self) -> None:
        # Where the searches for the biases start: the last ones found, and the P of the exact ones.
        self._guess, self._exact, self._vertex = np.zeros(self.k), np.zeros(self.k), self._E

    def value(self, u: Vector) -> float:
        return self.value_at(u, self.intercept(u))

    def intercept(self, u: Vector) -> float | Vector:
        if not self.bias:
            return 0.0
        V = self._delta + u.reshape(self._E.shape)
        self._vertex, self._exact = best_biases(V, self.c, self._frequencies, self._vertex, self._exact)
        return self._exact

    def value_at(self, u: Vector, intercept: float | Vector) -> float:
        V = u.reshape(self._E.shape) + intercept
        return dot(self.c, (self._delta + V).max(axis=1) - V[self._own])

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        U = u.reshape(self._E.shape)
        V = self._delta + U
        if self.smoothing == "entropy":
            top, P = softmax_rows(V / mu)
            return Smoothed(dot(self.c, mu * top - U[self._own]) - mu * self.radius, self._alpha(P))
        if self.bias:
            P, self._guess = nearest_with_sums(V, self.c, self._frequencies, mu, self._E, self._guess)
        else:
            # From the largest score on: E would be lost next to scores of many mu.
            P = simplex_rows(self._E + (V - V.max(axis=1, keepdims=True)) / mu)
        alpha = self._alpha(P)
        return Smoothed(dot(alpha, V.ravel()) - mu * self.prox(alpha), alpha, self._guess if self.bias else 0.0)

    def conjugate(self, alpha: Vector) -> float:
        return -dot(alpha, self._delta.ravel()) if self._contains(alpha) else np.inf

    def prox(self, alpha: Vector) -> float:
        return self.geometry.divergence(alpha, self._start)

    def start(self) -> Vector:
        return self._start.copy()

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        if self.smoothing == "entropy":
            return self._entropic_divergence(p, at_p, q, at_q, mu)
        # (mu/2) Σ (α_p - α_q)²/c + ⟨α_p - α_q, δ + p + b_p - mu α_p/c - τ⟩, with τ_i the multiplier of Σ_y P_iy = 1 at
        # p: the second factor is 0 where P_p > 0 and else both are ≤ 0, so that nothing cancels.
        rise = at_p.alpha - at_q.alpha
        slope = (self._delta.ravel() + p - mu * self.geometry.gradient(at_p.alpha)).reshape(self._E.shape) + at_p.bias
        slope = slope - slope.max(axis=1, keepdims=True)
        divergence = mu * self.geometry.value(rise) + dot(rise, slope.ravel())
        return divergence - float(np.finfo(np.float64).eps) * float(np.abs(rise).sum())

"""The multinomial logistic loss, with or without free biases.

    g*(u) = min over b of Σ c_i (log Σ_y exp(u_iy + b_y) - u_{i,y_i} - b_{y_i}),    g(α) = Σ c_i Σ_y P_iy log P_iy

on the Q of `multiclass.py`. g is the entropy d itself up to a constant: curvature 1, smooth as it is, and smoothing at
mu is a change of temperature to T = 1 + mu. With π the class frequencies,

    min over Q of Σ c_i Σ P log P  =  -log k  at  P_i = 1/k without biases,   -H(π)  at  P_i = π  with,

and the maximum is 0, at P = E: the radius is log k, or the entropy H(π). In the Euclidean geometry of W the gradient
has the Lipschitz constant λ_max(Σ c_i x_i x_iᵀ)/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.kernels import dot
from minorant.losses.base import Smoothed
from minorant.losses.biases import balance
from minorant.losses.multiclass import Multiclass, softmax_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["MultinomialLogistic"]


class MultinomialLogistic(Multiclass):
    """The weighted mean of -log of the probability softmax(W'x_i + b) of the label, for labels 0, ..., k - 1."""

    curvature = 1.0

    def __init__(
        self,
        y: ArrayLike,
        n_classes: int | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__(y, n_classes, sample_weight)
        if bias:
            self._need_every_class()
        self.bias = bias
        self.geometry = self._entropy
        center = self._frequencies if bias else np.full(self.k, 1.0 / self.k)
        self._start = self._alpha(np.broadcast_to(center, self._E.shape))
        self.radius = -float((center * np.log(center)).sum())
        self.forget()

    def expect(self, intercept: float | Vector) -> None:
        self._guess = np.array(np.broadcast_to(intercept, self.k), dtype=np.float64)

    def forget(self) -> None:
        # where the search for the biases starts: the last ones found, and the best of W = 0 to begin with
        self._guess = np.log(self._frequencies) if self.bias else np.zeros(self.k)

    def value(self, u: Vector) -> float:
        return self.value_at(u, self.intercept(u))

    def value_at(self, u: Vector, intercept: float | Vector) -> float:
        V = u.reshape(self._E.shape) + intercept
        return dot(self.c, softmax_rows(V)[0] - V[self._own])

    def intercept(self, u: Vector) -> float | Vector:
        return self._biases(u, 1.0) if self.bias else 0.0

    def _biases(self, u: Vector, temperature: float) -> Vector:
        V = u.reshape(self._E.shape)
        self._guess = balance(V, self.c, self._frequencies, temperature, self._guess)
        return self._guess

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        T = 1.0 + mu
        V = u.reshape(self._E.shape) + (self._biases(u, T) if self.bias else 0.0)
        top, P = softmax_rows(V / T)
        return Smoothed(dot(self.c, T * top - V[self._own]) - mu * self.radius, self._alpha(P))

    def conjugate(self, alpha: Vector) -> float:
        return self.geometry.value(alpha) if self._contains(alpha) else np.inf

    def prox(self, alpha: Vector) -> float:
        return self.geometry.divergence(alpha, self._start)

    def start(self) -> Vector:
        return self._start.copy()

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        return self._entropic_divergence(p, at_p, q, at_q, 1.0 + mu)

"""The logistic loss, with or without a free bias.

For r = -y (X w + b):    φ(r) = log(1 + e^r) ,    φ*(t) = t log t + (1 - t) log(1 - t)  on [0, 1] ,    curvature 4

It needs no smoothing; at mu > 0 (steps of the dual view) z = r - mu t is the root of z + mu σ(z) = r, σ = 1/(1 + e^-z).
The bias is the root of Σ c_i s_i σ(z_i), which increases in b: Newton's method, kept within a bracket.

The Bregman divergence of φ_mu at (p, q) is that of φ at (z_p, z_q), plus (mu/2)(t_p - t_q)². With m = z_p - z_q ≤ 0

    φ(z_p) - φ(z_q) - t_q m = log1p(t_q expm1(m)) - t_q m ,

and for m > 0 the same of -z_p, -z_q and 1 - t_q, which differ by a linear function: nothing cancels or overflows.
"""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlog1py, xlogy

from minorant import kernels
from minorant.losses._separable import EPS, Separable
from minorant.losses.base import Smoothed
from minorant.losses.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["Logistic"]


class Logistic(Separable):
    """The weighted mean of log(1 + exp(-y_i (⟨x_i, w⟩ + b))) for labels y of -1 and 1."""

    curvature = 4.0

    def __init__(self, y: ArrayLike, *, sample_weight: ArrayLike | None = None, bias: bool = True) -> None:
        super().__init__(y, sample_weight, bias=bias, margin=0.0, low=0.0, high=1.0)
        self._guess = 0.0  # where the search for the bias starts: the last one found

    @cached_property
    def scalar(self) -> Scalar:
        return Scalar(self.c, self.offset, self.direction, self.bias, logistic=True)

    def forget(self) -> None:
        super().forget()
        self._guess = 0.0

    def bias_at_rest(self) -> float:
        return log(self._classes[1] / self._classes[0])

    def phi(self, r: Vector) -> Vector:
        return np.logaddexp(0.0, r)

    def envelope(self, r: Vector, mu: float) -> tuple[Vector, Vector]:
        z = _prox(r, mu, r - mu * expit(r - 0.5 * mu))
        t = np.asarray(expit(z))
        return np.logaddexp(0.0, z) + (0.5 * mu) * (t * t), t

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        if mu:
            return super().smoothed(u, mu)
        bias, r = self._at_best_bias(u)
        return Smoothed(self._mean(r), kernels.bends(True, (0.0, 0.0, 0.0, 1.0), 0.0, r, self.c, 1)[0], bias)

    def _mean(self, r: Vector) -> float:
        return kernels.logistic_loss(r, self.c)

    def _mean_conjugate(self, alpha: Vector) -> float:
        return kernels.logistic_conjugate(alpha, self.c)

    def phi_conjugate(self, t: Vector) -> Vector:
        return np.asarray(xlogy(t, t) + xlog1py(1.0 - t, -t))

    def best_bias(self, r: Vector, mu: float) -> tuple[float, Vector]:
        s = self.direction
        v, z = r, r

        def slope() -> tuple[float, float, float]:
            """Of Σ c_i φ_mu(v_i) along s, the slope of that, and the rounding of the first."""
            nonlocal z
            z = _prox(v, mu, z)
            bend = expit(z) * expit(-z)
            at = self.c * expit(z)
            return kernels.dot(s, at), kernels.dot(self.c, bend / (1.0 + mu * bend)), 4.0 * EPS * float(at.sum())

        noise = 8.0 * EPS * (1.0 + mu + float(np.abs(r).max()))
        low, high, width, bias = -np.inf, np.inf, 1.0, self._guess
        for _ in range(200):
            v = r + bias * s
            f, bend, rounding = slope()
            newton = bias - f / bend if bend > 0 else np.inf
            if abs(f) <= rounding or abs(newton - bias) <= noise:
                break
            low, high = (low, bias) if f > 0 else (bias, high)
            if low < newton < high and abs(newton - bias) <= width:
                bias = newton
            elif high - low < np.inf:
                bias = 0.5 * (low + high)
            else:
                bias -= width if f > 0 else -width
                width *= 4.0
        for _ in range(2):  # what the rounding of r + s b left of the slope
            f, bend, rounding = slope()
            if bend > 0 and abs(f) > rounding:
                v = v - (f / bend) * s
        self._guess = bias
        return bias, v

    def scale(self, alpha: Vector, limit: float) -> float:
        """Where the slope Σ α_i logit(s t_i) of g(s α) vanishes."""
        if limit == np.inf:
            return 1.0
        largest = float(self.geometry.gradient(alpha).max())
        if largest <= 0.0:
            return min(1.0, limit)
        most = min(limit, (1.0 - EPS) / largest)

        def slope(s: float) -> float:
            return kernels.logistic_conjugate_slope(alpha, self.c, s)

        least = 1e-12 * most
        if slope(most) <= 0.0:
            return most
        if slope(least) >= 0.0:
            return least
        return float(brentq(slope, least, most, xtol=1e-9 * most))

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        rise = at_p.alpha - at_q.alpha
        m = (p - q) - mu * self.geometry.gradient(rise)
        if self.bias:
            m += (at_p.bias - at_q.bias) * self.direction
        t = self.slopes(at_q.alpha)
        t, m = np.where(m > 0, 1.0 - t, t), -np.abs(m)
        terms = np.log1p(t * np.expm1(m)) - t * m
        rounding = 2.0 * EPS * kernels.dot(self.c, t * np.abs(m))
        return kernels.dot(self.c, terms) + mu * self.prox(rise) - rounding


def _prox(v: Vector, mu: float, guess: Vector) -> Vector:
    """The z with z + mu σ(z) = v: Newton's method in the bracket [v - mu, v], halved where the steps do not shrink.

    For a large mu Newton's steps alone would go back and forth between the flat ends of σ.
    """
    if mu == 0.0:
        return v
    low, high = v - mu, v
    z = np.clip(guess, low, high)
    last = np.full_like(v, mu)
    for _ in range(200):
        t = expit(z)
        excess = z + mu * t - v
        if (np.abs(excess) <= 16.0 * EPS * (np.abs(z) + mu * t)).all():
            break
        low, high = np.where(excess < 0, z, low), np.where(excess > 0, z, high)
        newton = z - excess / (1.0 + mu * (t * (1.0 - t)))
        good = (low <= newton) & (newton <= high) & (np.abs(newton - z) <= 0.5 * last)
        new = np.where(good, newton, 0.5 * (low + high))
        last, z = np.abs(new - z), new
    return z

"""Losses whose conjugate is |t| plus quadratic on an interval: all of ours but the logistic one.

    φ*(t) = ε|t| + (κ/2) t²  on  [low, high],    φ_mu'(r) = clip(soft(r, ε)/(κ + mu), low, high)

Smoothing adds mu to κ and changes nothing else. With a free bias b, the slope Σ c_i s_i φ_mu'(r_i + s_i b) is piecewise
linear in b: its root is the multiplier of a diagonal quadratic program over a box and a hyperplane, for α itself where
ε = 0, and for its positive and its negative part where ε > 0. For κ + mu = 0 the slope jumps, at r + s b = -ε and ε,
and its root is a weighted quantile.

The Bregman divergence of φ_mu at (p, q) is that of φ_mu* at (t_q, t_p); every term of it has the factor t_p - t_q:

    (t_p - t_q) r_p - ε(|t_p| - |t_q|) - ½(κ + mu)(t_p - t_q)(t_p + t_q)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from minorant import kernels
from minorant.losses._separable import EPS, Separable
from minorant.losses.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.losses.base import Smoothed

    Vector = NDArray[np.float64]

__all__ = ["PiecewiseQuadratic"]


class PiecewiseQuadratic(Separable):
    """A loss with φ*(t) = ε|t| + (κ/2) t² on [low, high], κ = `curvature` and ε = `tube`."""

    def __init__(
        self,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        bias: bool,
        margin: float | None,
        low: float,
        high: float,
        curvature: float = 0.0,
        tube: float = 0.0,
    ) -> None:
        super().__init__(y, sample_weight, bias=bias, margin=margin, low=low, high=high)
        self.curvature = curvature
        self.tube = tube

    @cached_property
    def scalar(self) -> Scalar:  # asked for at every look at J
        shape = (self.curvature, self.tube, self.low, self.high)
        return Scalar(self.c, self.offset, self.direction, self.bias, shape=shape)

    def envelope(self, r: Vector, mu: float) -> tuple[Vector, Vector]:
        k = self.curvature + mu
        if self.tube:
            r = np.sign(r) * np.maximum(np.abs(r) - self.tube, 0.0)
        t = np.clip(r / k, self.low, self.high)
        return t * (r - (0.5 * k) * t), t

    def phi_conjugate(self, t: Vector) -> Vector:
        return self.tube * np.abs(t) + (0.5 * self.curvature) * (t * t)

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        at = super().smoothed(u, mu)
        if self.bias and self.tube:
            # |r| - ε rounds like ε, however small k is: bring α back to the hyperplane, as a change of b would.
            alpha = at.alpha
            lower, upper = self.bounds()
            free = (alpha != 0.0) & (lower < alpha) & (alpha < upper)
            if (mass := float(self.c[free].sum())) > 0.0:
                alpha[free] -= (float(alpha.sum()) / mass) * self.c[free]
        return at

    def best_bias(self, r: Vector, mu: float) -> tuple[float, Vector]:
        k = self.curvature + mu
        if k == 0.0:
            bias = self._quantile(r)
            return bias, r + bias * self.direction
        bias = 0.0
        for _ in range(3):  # the later rounds find what the rounding of a large bias hid beside a small k
            step = self._multiplier(r, k)
            r, bias = r + step * self.direction, bias + step
            if abs(step) <= 4.0 * EPS * k:
                break
        return bias, r

    def _multiplier(self, r: Vector, k: float) -> float:
        """The b with Σ c_i s_i clip(soft(r_i + s_i b, ε)/k, low, high) = 0."""
        c, s, r = self.c[self.used], self.direction[self.used], r[self.used]
        weights = k * self.inverse_c[self.used]
        low, high = self.low * c, self.high * c
        if not self.tube:
            return kernels.box_plane(c * r / k, low, high, s, 0.0, weights)[1]
        center = np.concatenate([c * (r - self.tube) / k, c * (r + self.tube) / k])
        lower, upper = np.concatenate([0.0 * c, low]), np.concatenate([high, 0.0 * c])
        return kernels.box_plane(center, lower, upper, np.tile(s, 2), 0.0, np.tile(weights, 2))[1]

    def _quantile(self, r: Vector) -> float:
        """The b that minimizes Σ c_i φ_i; where a whole interval is optimal, its middle."""
        c, s, r = self.c[self.used], self.direction[self.used], r[self.used]
        below, above = np.minimum(s * self.low, s * self.high), np.maximum(s * self.low, s * self.high)
        kinks = np.concatenate([-s * r - self.tube, -s * r + self.tube])
        order = np.argsort(kinks, kind="stable")
        kinks, rises = kinks[order], np.concatenate([-below * c, above * c])[order]
        reached, target = np.cumsum(rises), -kernels.dot(below, c)
        slack = 1e-12 * float(reached[-1])
        ends = np.searchsorted(reached, [target - slack, target + slack], side="left")
        first, last = kinks[np.minimum(ends, kinks.size - 1)]
        return 0.5 * float(first + last)

    def scale(self, alpha: Vector, limit: float) -> float:
        """-g(s α) is a parabola in s, on the s that keep s·α in Q."""
        if limit == np.inf:
            return 1.0
        t = self.slopes(alpha)
        reach = max(float(t.max()) / self.high, float(t.min()) / self.low if self.low else 0.0)
        most = min(limit, 1.0 / reach if reach > 0.0 else limit)
        bend = self.curvature * kernels.dot(self.c, np.square(t))
        linear = kernels.dot(self.offset, alpha) + (self.tube * float(np.abs(alpha).sum()) if self.tube else 0.0)
        if bend > 0.0:
            return min(max(-linear / bend, 0.0), most)
        return most if linear < 0.0 else 0.0

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        rise = at_p.alpha - at_q.alpha
        quadratic = (0.5 * (self.curvature + mu)) * self.geometry.gradient(at_p.alpha + at_q.alpha)
        divergence = kernels.dot(rise, p - self.offset + at_p.bias * self.direction - quadratic)
        if self.tube:
            divergence -= self.tube * float((np.abs(at_p.alpha) - np.abs(at_q.alpha)).sum())
        return divergence - EPS * float(np.abs(rise).sum())

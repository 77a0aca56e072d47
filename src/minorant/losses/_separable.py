"""Losses that are a weighted mean over examples of a scalar function, with or without a free bias.

With c_i = weight_i / Σ weight, r_i = u_i - a_i + s_i b (margins: u = -y X w, s = -y and a the same for all; targets:
u = X w, s = 1, a = y), and one function φ for all examples:

    g*(u) = min over b of Σ c_i φ(r_i) ,   g(α) = ⟨a, α⟩ + Σ c_i φ*(α_i/c_i)  on  Q = {c·low ≤ α ≤ c·high, ⟨s, α⟩ = 0}

The bias is the multiplier of the hyperplane, and without it that constraint goes. Smoothing by d(α) = ½ Σ α_i²/c_i
replaces φ by its Moreau envelope at mu, whatever the weight:  φ_mu* = φ* + (mu/2) t².

D = max d over Q is ½ max(low², high²) without bias. With it Σ s_i α_i = 0 bounds d by ½ high·(-low) for s = 1, and by
high² times the weight of the smaller class for margins, where low = 0.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from minorant import kernels
from minorant.errors import InputError
from minorant.geometry import WeightedEuclidean
from minorant.losses.base import Loss, Smoothed, normalized_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.geometry import Geometry

    Vector = NDArray[np.float64]

__all__ = ["EPS", "Separable", "on_plane"]

EPS = float(np.finfo(np.float64).eps)
_NONE = np.empty(0)  # slopes that are all 0
_FEASIBLE = 1e-9  # relative violation of Q that still counts as rounding


class Separable(Loss):
    """A loss given by a scalar function φ whose slopes lie in [low, high], which contains 0.

    `margin` says what y is: labels -1 and 1 with u = -y X w and that a, or, where it is None, targets with u = X w.
    """

    def __init__(
        self,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        bias: bool,
        margin: float | None,
        low: float,
        high: float,
    ) -> None:
        self.y = (_targets if margin is None else _labels)(y, type(self).__name__)
        self.c = normalized_weights(sample_weight, self.y.size)
        self.bias, self.size, self.low, self.high = bias, self.y.size, low, high
        self.signs = None if margin is None else -self.y
        self.direction = np.ones(self.size) if self.signs is None else self.signs
        self.offset = self.y if margin is None else np.full(self.size, margin)
        self.used = self.c > 0
        self.unbounded = isinf(low) and isinf(high) and bool(self.used.all())  # there is no box
        self._classes = 0.0, 0.0  # weights of the classes -1 and 1, where there is a bias
        self.radius = 0.5 * max(-low, high) ** 2
        if bias and margin is not None:
            self._classes = float(self.c[self.y < 0].sum()), float(self.c[self.y > 0].sum())
            smaller = min(self._classes)
            if not smaller > 0.0:
                raise InputError(
                    "with a free bias both classes need an example of positive weight; "
                    f"class {'-1' if (self.y[self.used] > 0).all() else '1'} has none"
                )
            self.radius = high * high * smaller
        elif bias:
            self.radius = -0.5 * low * high
        self._last = 0.0  # the last bias, where the search for the next one starts
        self.forget()

    @cached_property
    def inverse_c(self) -> Vector:
        """1/c; 0 for an example without weight, which has α_i = 0 everywhere."""
        with np.errstate(over="ignore"):  # one of hardly any weight must not overflow
            inverse = np.divide(1.0, self.c, out=np.zeros(self.size), where=self.used)
        return np.minimum(inverse, 1e300)

    @cached_property
    def geometry(self) -> Geometry:  # type: ignore[override]
        """d(α) = ½ Σ α_i²/c_i; made when asked for, since the solvers of linear models never do."""
        return WeightedEuclidean(self.inverse_c)

    def bounds(self) -> tuple[Vector, Vector]:
        """c·low and c·high."""
        lower, upper = (np.multiply(b, self.c, out=np.zeros(self.size), where=self.used) for b in (self.low, self.high))
        return lower, upper

    @abstractmethod
    def phi(self, r: Vector) -> Vector:
        """The loss of each example, φ(r)."""

    @abstractmethod
    def envelope(self, r: Vector, mu: float) -> tuple[Vector, Vector]:
        """The smoothed loss of each example and its slope, φ_mu(r) and t = φ_mu'(r)."""

    @abstractmethod
    def phi_conjugate(self, t: Vector) -> Vector:
        """φ*(t) for slopes within [low, high]."""

    @abstractmethod
    def best_bias(self, r: Vector, mu: float) -> tuple[float, Vector]:
        """The b that minimizes Σ c_i φ_mu(r_i + s_i b), and r + s b, more precise than that sum."""

    def value(self, u: Vector) -> float:
        return self._mean(self._at_best_bias(u)[1])

    def value_at(self, u: Vector, intercept: float) -> float:
        return kernels.dot(self.c, self.phi(u - self.offset + self.direction * intercept))

    def intercept(self, u: Vector) -> float:
        return self._at_best_bias(u)[0]

    def _mean(self, r: Vector) -> float:
        """Σ c_i φ(r_i); it is what (r, t) adds to the gap at t = 0, where φ* is 0."""
        f = self.scalar
        if f is None or not kernels.native:
            return kernels.dot(self.c, self.phi(r))
        return kernels.excess(f.logistic, f.shape, r, _NONE, self.c)

    def _at_best_bias(self, u: Vector) -> tuple[float, Vector]:
        f = self.scalar
        if not self.bias or f is None or not f.smooth or not kernels.native:
            return self._shifted(u, 0.0)
        r = u - self.offset
        self._last = kernels.balance(f.logistic, f.shape, 0.0, r, self.direction, self.c, self._last, 1)
        return self._last, r + self._last * self.direction

    def expect(self, intercept: float) -> None:
        self._last = intercept

    def forget(self) -> None:
        self._last = self.bias_at_rest() if self.bias else 0.0

    def bias_at_rest(self) -> float:
        """The best bias at w = 0, or a guess of it."""
        return 0.0

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        bias, r = self._shifted(u, mu)
        values, t = self.envelope(r, mu)
        return Smoothed(kernels.dot(self.c, values), self.c * t, bias)

    def conjugate(self, alpha: Vector) -> float:
        span = max(-self.low, self.high)
        box, plane = span * float(self.c.max()), span
        if span == np.inf:  # then rounding is relative to α itself
            size = np.abs(alpha)
            box, plane = float(size.max()), float(size.sum())
        outside = max(self._beyond(alpha, self.high, 1.0), self._beyond(alpha, self.low, -1.0))
        off_plane = abs(kernels.dot(self.direction, alpha)) if self.bias else 0.0
        if outside > _FEASIBLE * box or off_plane > _FEASIBLE * plane:
            return np.inf
        return kernels.dot(self.offset, alpha) + self._mean_conjugate(alpha)

    def _beyond(self, alpha: Vector, bound: float, side: float) -> float:
        """How far α is outside of c times that bound, the upper one for side 1, the lower one for -1."""
        if isinf(bound):
            return 0.0 if self.unbounded else float(np.abs(alpha[~self.used]).max(initial=0.0))
        return float((side * (alpha - bound * self.c)).max())

    def _mean_conjugate(self, alpha: Vector) -> float:
        """Σ c_i φ*(α_i/c_i)."""
        return kernels.dot(self.c, self.phi_conjugate(self.slopes(alpha)))

    def slopes(self, alpha: Vector) -> Vector:
        """t = α/c, rounded into [low, high]; 0 for examples without weight."""
        if self.unbounded:
            return alpha / self.c
        t = np.divide(alpha, self.c, out=np.zeros(self.size), where=self.used)
        return np.clip(t, self.low, self.high, out=t)

    def project(self, alpha: Vector) -> Vector:
        inside = alpha.copy() if self.unbounded else np.clip(alpha, *self.bounds())
        if not self.bias or on_plane(self.direction, inside):
            return inside
        lower, upper = self.bounds()
        ones = np.ones(self.size)
        x, _, _ = kernels.box_plane(alpha, lower, upper, self.direction * self.used, 0.0, ones)
        return x

    def start(self) -> Vector:
        return np.zeros(self.size)

    def _shifted(self, u: Vector, mu: float) -> tuple[float, Vector]:
        """The best bias and the r at it."""
        r = u - self.offset
        return self.best_bias(r, mu) if self.bias else (0.0, r)


def on_plane(s: Vector, alpha: Vector) -> bool:
    """Whether ⟨s, α⟩ = 0 up to rounding, for s of -1 and 1."""
    return abs(kernels.dot(s, alpha)) <= 8.0 * EPS * float(np.abs(alpha).sum())


def _labels(y: ArrayLike, name: str) -> Vector:
    labels = np.ascontiguousarray(y, dtype=np.float64)
    if labels.ndim != 1 or not (np.abs(labels) == 1.0).all():
        raise InputError(f"{name} takes a vector of labels -1 and 1")
    return labels


def _targets(y: ArrayLike, name: str) -> Vector:
    targets = np.ascontiguousarray(y, dtype=np.float64)
    if targets.ndim != 1 or not np.isfinite(targets).all():
        raise InputError(f"{name} takes a vector of finite targets")
    return targets

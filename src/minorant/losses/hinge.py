"""The hinge, with or without a free bias.

With c_i = weight_i / Σ weight, A = -diag(y) X and u = A w (so that 1 + u_i - y_i b = 1 - y_i (⟨x_i, w⟩ + b)):

    g*(u) = min over b of Σ c_i [1 + u_i - y_i b]_+ ,   g(α) = -Σ α_i  on  Q = {0 ≤ α ≤ c, ⟨y, α⟩ = 0}

The bias is no column of ones: it is the multiplier of the hyperplane ⟨y, α⟩ = 0, and without it that constraint goes.
Smoothing by d(α) = ½ Σ α_i²/c_i rounds each example's corner at the same width mu, whatever its weight:

    α_i = c_i clip((1 + u_i - y_i b)/mu, 0, 1),   D = ½ without bias,  D = min(c(y=1), c(y=-1)) with.

With `prox_weights` t the widths are mu·t_i instead, and d(α) = ½ Σ t_i α_i²/c_i.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from minorant import kernels
from minorant.errors import InputError
from minorant.geometry import WeightedEuclidean
from minorant.losses._separable import on_plane
from minorant.losses.base import Loss, Smoothed, normalized_weights
from minorant.losses.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.geometry import Geometry

    Vector = NDArray[np.float64]

__all__ = ["Hinge"]

_FEASIBLE = 1e-9  # relative violation of Q that still counts as rounding


class Hinge(Loss):
    """The weighted mean of [1 - y_i (⟨x_i, w⟩ + b)]_+ for labels y of -1 and 1.

    `prox_weights` changes how it is smoothed, not what it is: see `prox_weights.choose_prox_weights`.
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        bias: bool = True,
        threads: int = 1,
        prox_weights: ArrayLike | None = None,
    ) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        if self.y.ndim != 1 or not np.isin(self.y, (-1.0, 1.0)).all():
            raise InputError("Hinge takes a vector of labels -1 and 1")
        self.c = normalized_weights(sample_weight, self.y.size)
        positive, negative = float(self.c[self.y > 0].sum()), float(self.c[self.y < 0].sum())
        if bias and not min(positive, negative) > 0.0:
            raise InputError(
                "with a free bias both classes need an example of positive weight; "
                f"class {'-1' if positive > 0 else '1'} has none"
            )
        self.bias = bias
        self.size = self.y.size
        self.signs: Vector = -self.y
        self.radius = min(positive, negative) if bias else 0.5
        self._widths: Vector | None = None
        if prox_weights is not None:
            self._widths = self._checked(prox_weights)
            self.radius = self._radius(self._widths)
        self._threads = threads
        self._guess = 0.0  # where the search for the smoothed bias starts: the last one found
        self._last = np.nan  # the same for the exact one

    @cached_property
    def geometry(self) -> Geometry:  # type: ignore[override]
        """d(α) = ½ Σ t_i α_i²/c_i; made when asked for, since the solvers of linear models never do."""
        widths = 1.0 if self._widths is None else self._widths
        with np.errstate(over="ignore"):
            # An example without weight has α_i = 0 everywhere; one of hardly any weight must not overflow.
            inverse = np.divide(widths, self.c, out=np.zeros(self.size), where=self.c > 0)
        return WeightedEuclidean(np.minimum(inverse, 1e300))

    def _checked(self, prox_weights: ArrayLike) -> Vector:
        t = np.ascontiguousarray(prox_weights, dtype=np.float64)
        if t.shape != self.y.shape:
            raise InputError(f"prox_weights must have shape {self.y.shape}; got {t.shape}")
        if not (np.isfinite(t).all() and (t > 0).all()):
            raise InputError(f"prox_weights must be finite and positive; the least is {t.min()}")
        return t

    def _radius(self, t: Vector) -> float:
        """D, or a bound of it: with a bias neither class has more mass than the smaller one, and α²/c ≤ α."""
        if not self.bias:
            return 0.5 * kernels.dot(self.c, t)
        mass, total = self.radius, 0.0
        for label in (-1.0, 1.0):
            order = np.argsort(-t[self.y == label], kind="stable")
            c = self.c[self.y == label][order]
            taken = np.clip(mass - (np.cumsum(c) - c), 0.0, c)
            total += 0.5 * kernels.dot(taken, t[self.y == label][order])
        return total

    @property
    def scalar(self) -> Scalar:
        return Scalar(self.c, np.full(self.size, -1.0), self.signs, self.bias)

    def value(self, u: Vector) -> float:
        return self._exact(u)[0]

    def _exact(self, u: Vector) -> tuple[float, float]:
        found = kernels.hinge(u, self.y, self.c, self.bias, self._threads, self._last)
        self._last = found[1]
        return found

    def expect(self, intercept: float) -> None:
        self._last = intercept

    def forget(self) -> None:
        self._guess, self._last = 0.0, np.nan

    def value_at(self, u: Vector, intercept: float) -> float:
        return kernels.dot(self.c, np.maximum(0.0, 1.0 + u - self.y * intercept))

    def intercept(self, u: Vector) -> float:
        return self._exact(u)[1]

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        if self._widths is not None:
            return self._smoothed_unevenly(u, mu * self._widths)
        value, alpha, self._guess = kernels.smoothed_hinge(u, self.y, self.c, mu, self.bias, self._guess, self._threads)
        return Smoothed(value, alpha)

    def _smoothed_unevenly(self, u: Vector, width: Vector) -> Smoothed:
        """Each example has a width of its own: α_i = c_i clip((1 + u_i - y_i b)/width_i, 0, 1)."""
        v = 1.0 + u
        if self.bias:
            used = self.c > 0
            c, y, w = self.c[used], self.y[used], width[used]
            for _ in range(3):  # the later rounds find what the rounding of a large bias hid beside a small width
                _, multiplier, _ = kernels.box_plane(c * v[used] / w, np.zeros(c.size), c, y, 0.0, w / c)
                v = v + multiplier * self.y
        part = np.clip(v / width, 0.0, 1.0)
        return Smoothed(kernels.dot(self.c, part * (v - 0.5 * width * part)), self.c * part)

    def conjugate(self, alpha: Vector) -> float:
        outside = max(0.0, float((alpha - self.c).max()), float(-alpha.min()))
        off_plane = abs(kernels.dot(self.y, alpha)) if self.bias else 0.0
        if outside > _FEASIBLE * self.c.max() or off_plane > _FEASIBLE:
            return np.inf
        return -float(alpha.sum())

    def project(self, alpha: Vector) -> Vector:
        inside = np.clip(alpha, 0.0, self.c)
        if not self.bias or on_plane(self.y, inside):
            return inside
        x, _, _ = kernels.box_plane(alpha, np.zeros(self.size), self.c, self.y, 0.0, np.ones(self.size))
        return x

    def start(self) -> Vector:
        return np.zeros(self.size)

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        # ⟨α_p - α_q, 1 + p - (mu/2)(α_p + α_q)/c⟩: the error is that of α_p - α_q, not that of the values;
        # the bias drops out because both α lie on the hyperplane.
        rise = at_p.alpha - at_q.alpha
        divergence = kernels.dot(rise, 1.0 + p - (0.5 * mu) * self.geometry.gradient(at_p.alpha + at_q.alpha))
        return divergence - float(np.finfo(np.float64).eps) * float(np.abs(rise).sum())

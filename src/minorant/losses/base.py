"""The contract of a loss g*, given by its dual g on a convex set Q:

    g*(u)    = max over α in Q of ⟨u, α⟩ - g(α)                    (exact)
    g*_mu(u) = max over α in Q of ⟨u, α⟩ - g(α) - mu·d(α)          (smoothed; differentiable, ∇g*_mu(u) = the maximizer)

Where g is κ-strongly convex with respect to d (`curvature` κ > 0) the loss is smooth as it is, and mu = 0 will do.
d ≥ 0 on Q with minimum 0, so that  g* - mu·D ≤ g*_mu ≤ g*  with D = max over Q of d, the `radius`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.kernels import dot
from minorant.operators import Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.geometry import Geometry
    from minorant.losses.scalar import Scalar
    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]

__all__ = ["Loss", "Smoothed", "normalized_weights"]


@dataclass(frozen=True)
class Smoothed:
    """g*_mu at a point u: value and maximizer, and the bias that attains it where the model has a free one."""

    value: float
    alpha: Vector
    bias: float | Vector = 0.0


class Loss(ABC):
    """A convex loss of the scores u = A w.

    `size` is the length of u and α. `signs` tells how A is made of the data: A = diag(signs)·X, or X itself where it
    is None. `geometry` is the prox-function d of the smoothing, on the space of α; `radius` is its maximum over Q (inf
    where Q is unbounded) and `curvature` the strong convexity of g with respect to it; `movable` says that it may have
    its center at any α, not at `start` alone. Q contains 0, and with α every s·α for 0 ≤ s ≤ 1; where it does not,
    `scale` is always 1.
    """

    size: int
    radius: float
    geometry: Geometry
    signs: Vector | None = None
    curvature: float = 0.0
    movable: bool = True

    @abstractmethod
    def value(self, u: Vector) -> float:
        """The exact loss g*(u)."""

    @abstractmethod
    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        """The smoothed loss g*_mu(u) and its maximizer, for mu > 0, or mu = 0 where `curvature` > 0."""

    @abstractmethod
    def conjugate(self, alpha: Vector) -> float:
        """g(α); +inf outside Q."""

    @abstractmethod
    def project(self, alpha: Vector) -> Vector:
        """The nearest point of Q: removes the rounding of a convex combination of its points."""

    @abstractmethod
    def start(self) -> Vector:
        """The minimizer of d over Q: the center of the smoothing."""

    @property
    def scalar(self) -> Scalar | None:
        """The loss as a mean of one function over the examples, where it is one: the fast solvers work on these."""
        return None

    def attach(self, X: LinearMap) -> LinearMap:
        """The map A of scores u = A w, made of the data."""
        if X.shape[0] != self.size:
            raise InputError(f"X has {X.shape[0]} rows, but the loss has {self.size} examples")
        return X if self.signs is None else Rows(X, self.signs)

    def scale(self, alpha: Vector, limit: float) -> float:
        """The s in [0, limit] to shrink α by when Ω* is finite up to limit·α only: where -g(s·α) is greatest."""
        return min(1.0, limit)

    def prox(self, alpha: Vector) -> float:
        """d(α), the function that smooths."""
        return self.geometry.value(alpha)

    def expect(self, intercept: float) -> None:  # noqa: B027 - most losses search for nothing
        """Begin the next search for a bias there."""

    def forget(self) -> None:  # noqa: B027 - most losses have nothing to forget
        """Drop what earlier calls left behind to speed up later ones: a run begins the same every time."""

    def value_at(self, u: Vector, intercept: float) -> float:
        """The loss at a given bias, not the best one; the same where the model has none."""
        return self.value(u)

    def intercept(self, u: Vector) -> float | Vector:
        """The bias that attains g*(u) where the model has a free one, else 0; a vector for several scores."""
        return 0.0

    def smoothed_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, mu: float) -> float:
        """g*_mu(p) - g*_mu(q) - ⟨α_q, p - q⟩, less what rounding may have added to it.

        Override it where there is a form that does not cancel: this one is noise once p is close to q.
        """
        rounding = 50.0 * float(np.finfo(np.float64).eps) * (abs(at_p.value) + abs(at_q.value))
        return at_p.value - at_q.value - dot(at_q.alpha, p - q) - rounding


def normalized_weights(sample_weight: ArrayLike | None, n: int) -> Vector:
    """c_i = weight_i / Σ weight, for finite weights ≥ 0 that are not all 0."""
    if n == 0:
        raise InputError("there are no examples")
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InputError(f"sample_weight must have shape ({n},); got {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        i = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise InputError(f"sample weights must be finite and not negative; weight {i} is {weight[i]}")
    if not weight.any():
        raise InputError("all sample weights are zero: there is nothing to fit")
    scaled = weight / weight.max()
    return np.asarray(scaled / scaled.sum())

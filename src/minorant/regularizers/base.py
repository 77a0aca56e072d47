"""The contract of a regularizer Ω: value, conjugate, and the closed-form argmin against a geometry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import Euclidean, WeightedEuclidean
from minorant.kernels import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.geometry import Geometry

    Vector = NDArray[np.float64]

__all__ = ["FEASIBLE", "Regularizer", "positive"]

FEASIBLE = 1e-9  # relative violation of a domain that still counts as the rounding of a convex combination


class Regularizer(ABC):
    """A closed convex function Ω(w).

    To add one, write a file with the methods below; `geometries` names those that `argmin` knows.
    """

    geometries: tuple[type[Geometry], ...] = ()

    @abstractmethod
    def value(self, x: Vector) -> float:
        """Ω(w); +inf outside its domain."""

    @abstractmethod
    def conjugate(self, v: Vector) -> float:
        """Ω*(v) = max over w of ⟨v, w⟩ - Ω(w)."""

    def dual_scale(self, v: Vector) -> float:
        """The largest s with Ω*(s·v) finite: inf, unless Ω* is the indicator of a bounded set, as for a norm."""
        return np.inf

    @abstractmethod
    def maximizer(self, v: Vector) -> Vector:
        """The w that attains Ω*(v), i.e. ∇Ω*(v)."""

    @abstractmethod
    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        """Minimize ⟨s, w⟩ + t·d(w) + weight·Ω(w): the minimizer and ∇d there."""

    @abstractmethod
    def strong_convexity(self, geometry: Geometry) -> float:
        """The largest λ with Ω(x) ≥ Ω(y) + ⟨g, x - y⟩ + λ Δ(x, y) for every subgradient g at y."""

    @abstractmethod
    def start(self, size: int) -> Vector:
        """A point of the domain to start from."""

    def conjugate_divergence(self, p: Vector, q: Vector) -> float:
        """Ω*(p) - Ω*(q) - ⟨∇Ω*(q), p - q⟩, less what rounding may have added to it."""
        at_p, at_q = self.conjugate(p), self.conjugate(q)
        rounding = 50.0 * float(np.finfo(np.float64).eps) * (abs(at_p) + abs(at_q))
        return at_p - at_q - dot(self.maximizer(q), p - q) - rounding

    def quadratic(self, geometry: Geometry) -> Vector | float:
        """b where d(w) = ½ Σ b_i w_i²; the error for any other geometry."""
        if isinstance(geometry, Euclidean) and Euclidean in self.geometries:
            return 1.0
        if isinstance(geometry, WeightedEuclidean) and WeightedEuclidean in self.geometries:
            if not (geometry.b > 0).all():
                raise InputError(f"the geometry of w needs positive weights; the least is {geometry.b.min()}")
            return geometry.b
        raise self.unsupported(geometry)

    def unsupported(self, geometry: Geometry) -> UnsupportedPair:
        """The error for a geometry without a closed form, naming those that have one."""
        names = ", ".join(g.__name__ for g in self.geometries)
        return UnsupportedPair(
            f"{type(self).__name__} has no closed form in the geometry {type(geometry).__name__}; it works with {names}"
        )


def positive(regularizer: Regularizer, **parameters: float) -> None:
    """Raise an error unless the parameters are finite and > 0."""
    for name, value in parameters.items():
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{type(regularizer).__name__} needs a finite {name} > 0; got {value}")

"""Relative entropy on the simplex, whole or capped.

Ω(w) = λ KL(w ‖ w⁰) = λ Σ w_i log(w_i / w⁰_i)  on  {0 ≤ w ≤ ν, Σ w = 1};  λ = 0 is that set alone
Ω*(v) = λ log Σ w⁰_i exp(v_i / λ)  for ν ≥ 1, in general  ⟨v, w⟩ - Ω(w)  at w = cap(log w⁰ + v/λ)

argmin ⟨s, w⟩ + t Σ w log w + weight·Ω(w)  =  cap((weight λ log w⁰ - s) / (t + weight λ))

cap(a) is the entropic projection of exp(a):  min(ν, θ exp(a)) with the θ that makes it sum to 1; softmax for ν ≥ 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from minorant.errors import InputError
from minorant.geometry import Entropy as EntropyGeometry
from minorant.geometry import Geometry
from minorant.kernels import dot, entropic_capped_simplex
from minorant.regularizers.base import Regularizer
from minorant.regularizers.simplex import CappedSimplex, in_simplex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Entropy"]


@dataclass(frozen=True)
class Entropy(Regularizer):
    """λ KL(w ‖ prior) on the simplex, every w_i at most `cap`; `prior=None` is the uniform one."""

    lam: float = 0.0
    prior: Vector | None = None
    cap: float = 1.0
    geometries = (EntropyGeometry,)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lam) and self.lam >= 0):
            raise InputError(f"Entropy needs a finite lam ≥ 0; got {self.lam}")
        if self.prior is not None and not ((self.prior > 0).all() and abs(self.prior.sum() - 1) < 1e-9):
            raise InputError("the prior of Entropy must be positive and sum to 1")
        if not self.cap > 0:
            raise InputError(f"Entropy needs a cap > 0; got {self.cap}")

    def _log_prior(self, size: int) -> Vector:
        return np.full(size, -np.log(size)) if self.prior is None else np.log(self.prior)

    def value(self, x: Vector) -> float:
        if not in_simplex(x, self.cap):
            return np.inf
        return self.lam * dot(x, np.log(np.where(x > 0, x, 1.0)) - self._log_prior(x.size))

    def conjugate(self, v: Vector) -> float:
        if self.lam == 0:
            return CappedSimplex(self.cap).conjugate(v)
        tilted = self._log_prior(v.size) + v / self.lam
        if self.cap >= 1:
            return self.lam * float(logsumexp(tilted))
        w, log_w = entropic_capped_simplex(tilted, self.cap)
        return self.lam * dot(w, tilted - log_w)

    def maximizer(self, v: Vector) -> Vector:
        if self.lam == 0:
            return CappedSimplex(self.cap).maximizer(v)
        return entropic_capped_simplex(self._log_prior(v.size) + v / self.lam, self.cap).x

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        if not isinstance(geometry, EntropyGeometry) or geometry.mass != 1.0:
            raise self.unsupported(geometry)
        lam = weight * self.lam
        point = entropic_capped_simplex((lam * self._log_prior(s.size) - s) / (t + lam), self.cap)
        return point.x, 1.0 + point.log_x

    def strong_convexity(self, geometry: Geometry) -> float:
        if not isinstance(geometry, EntropyGeometry) or geometry.mass != 1.0:
            raise self.unsupported(geometry)
        return self.lam

    def start(self, size: int) -> Vector:
        return entropic_capped_simplex(self._log_prior(size), self.cap).x

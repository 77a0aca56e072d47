"""Relative entropy on the simplex.

Ω(w) = λ KL(w ‖ w⁰) = λ Σ w_i log(w_i / w⁰_i)  on  {w ≥ 0, Σ w = 1};  λ = 0 is the simplex alone.
Ω*(v) = λ log Σ w⁰_i exp(v_i / λ)  (max v_i for λ = 0)

argmin ⟨s, w⟩ + t Σ w log w + weight·Ω(w)  =  softmax((weight λ log w⁰ - s) / (t + weight λ))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax, logsumexp

from minorant.errors import InputError
from minorant.geometry import Entropy as EntropyGeometry
from minorant.geometry import Geometry
from minorant.kernels import dot
from minorant.regularizers.base import Regularizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Entropy"]


@dataclass(frozen=True)
class Entropy(Regularizer):
    """λ KL(w ‖ prior) on the probability simplex; `prior=None` is the uniform one."""

    lam: float = 0.0
    prior: Vector | None = None
    geometries = (EntropyGeometry,)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lam) and self.lam >= 0):
            raise InputError(f"Entropy needs a finite lam ≥ 0; got {self.lam}")
        if self.prior is not None and not ((self.prior > 0).all() and abs(self.prior.sum() - 1) < 1e-9):
            raise InputError("the prior of Entropy must be positive and sum to 1")

    def _log_prior(self, size: int) -> Vector:
        return np.full(size, -np.log(size)) if self.prior is None else np.log(self.prior)

    def value(self, x: Vector) -> float:
        if (x < -1e-12).any() or abs(x.sum() - 1.0) > 1e-9:
            return np.inf
        return self.lam * dot(x, np.log(np.where(x > 0, x, 1.0)) - self._log_prior(x.size))

    def conjugate(self, v: Vector) -> float:
        if self.lam == 0:
            return float(v.max())
        return self.lam * float(logsumexp(self._log_prior(v.size) + v / self.lam))

    def maximizer(self, v: Vector) -> Vector:
        if self.lam == 0:
            return np.asarray((np.arange(v.size) == v.argmax()).astype(np.float64))
        return np.asarray(np.exp(log_softmax(self._log_prior(v.size) + v / self.lam)))

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        if not isinstance(geometry, EntropyGeometry) or geometry.mass != 1.0:
            raise self.unsupported(geometry)
        lam = weight * self.lam
        logits = log_softmax((lam * self._log_prior(s.size) - s) / (t + lam))
        return np.exp(logits), 1.0 + logits

    def strong_convexity(self, geometry: Geometry) -> float:
        if not isinstance(geometry, EntropyGeometry) or geometry.mass != 1.0:
            raise self.unsupported(geometry)
        return self.lam

    def start(self, size: int) -> Vector:
        return np.asarray(np.exp(self._log_prior(size)))

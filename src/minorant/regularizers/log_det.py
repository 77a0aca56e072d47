"""The log-determinant on symmetric matrices with bounded eigenvalues: the Gaussian likelihood of a precision matrix.

Ω(X) = λ (⟨C, X⟩ - log det X)  on  {X = Xᵀ, lower ≤ eigenvalues ≤ upper};   w is the matrix X, flattened

Ω* and every argmin work on the eigenvalues alone. With M = Q diag(v) Qᵀ the symmetric part of V - λ C:
    Ω*(V) = Σ max over x of v_i x + λ log x,   attained at x = clip(λ/(-v), lower, upper), and at upper where v ≥ 0
    argmin ⟨S, X⟩ + (t/2)‖X‖² + weight·Ω(X):  x = clip((v + √(v² + 4 t k)) / (2t), lower, upper),
        for the eigenvalues v of -S - k C, where k = weight λ
-log det is strongly convex only because of the upper bound: by λ/upper²  (ERRATUM 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import Euclidean, Geometry
from minorant.kernels import dot
from minorant.regularizers.base import FEASIBLE, Regularizer, positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["LogDet"]


@dataclass(frozen=True, eq=False)
class LogDet(Regularizer):
    """λ (⟨C, X⟩ - log det X) for symmetric X of the given size, eigenvalues from `lower` to `upper`; C may be None."""

    lam: float
    size: int
    upper: float
    lower: float = 0.0
    covariance: Vector | None = None
    geometries = (Euclidean,)

    def __post_init__(self) -> None:
        positive(self, lam=self.lam, size=self.size, upper=self.upper)
        if not 0 <= self.lower < self.upper:
            raise InputError(f"LogDet needs 0 ≤ lower < upper; got lower = {self.lower}, upper = {self.upper}")
        C = self.covariance
        if C is not None and not (C.shape == (self.size, self.size) and np.allclose(C, C.T)):
            raise InputError(f"the covariance must be a symmetric matrix of shape {(self.size, self.size)}")

    def value(self, x: Vector) -> float:
        X = x.reshape(self.size, self.size)
        slack = FEASIBLE * self.upper
        if not np.abs(X - X.T).max() <= slack:
            return np.inf
        eigenvalues = np.linalg.eigvalsh(X)
        if eigenvalues[0] <= 0 or eigenvalues[0] < self.lower - slack or eigenvalues[-1] > self.upper + slack:
            return np.inf
        return self.lam * (dot(self._linear, x) - float(np.log(eigenvalues).sum()))

    def conjugate(self, v: Vector) -> float:
        values, _ = self._eigen(v - self.lam * self._linear)
        best = self._best(values)
        return float((values * best + self.lam * np.log(best)).sum())

    def maximizer(self, v: Vector) -> Vector:
        values, basis = self._eigen(v - self.lam * self._linear)
        return _matrix(self._best(values), basis)

    def argmin(self, s: Vector, t: float, geometry: Geometry, weight: float = 1.0) -> tuple[Vector, Vector]:
        self.quadratic(geometry)
        k = weight * self.lam
        values, basis = self._eigen(-s - k * self._linear)
        root = np.sqrt(values**2 + 4.0 * t * k)
        with np.errstate(divide="ignore"):  # the larger of two forms of one number: neither subtracts
            roots = np.where(values >= 0, (root + values) / (2.0 * t), 2.0 * k / (root - values))
        x = _matrix(np.clip(roots, self.lower, self.upper), basis)
        return x, x

    def strong_convexity(self, geometry: Geometry) -> float:
        self.quadratic(geometry)
        return self.lam / self.upper**2

    def start(self, size: int) -> Vector:
        if size != self.size**2:
            raise InputError(f"a symmetric matrix of size {self.size} has not {size} entries, the columns of X")
        return min(max(1.0, self.lower), self.upper) * np.eye(self.size).ravel()

    @property
    def _linear(self) -> Vector:
        return np.zeros(self.size**2) if self.covariance is None else self.covariance.ravel()

    def _best(self, values: Vector) -> Vector:
        """The x in [lower, upper] with the greatest v x + λ log x."""
        inside = np.divide(self.lam, -values, out=np.full_like(values, self.upper), where=values < 0)
        return np.clip(inside, self.lower, self.upper)

    def _eigen(self, v: Vector) -> tuple[Vector, Vector]:
        V = v.reshape(self.size, self.size)
        values, basis = np.linalg.eigh(0.5 * (V + V.T))
        return values, basis


def _matrix(values: Vector, basis: Vector) -> Vector:
    X = (basis * values) @ basis.T
    return np.asarray(0.5 * (X + X.T)).ravel()

"""Linear maps: what a solver knows of the data. `A @ w` and `A.T @ alpha` are all it ever asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import BlockEntropy, Entropy, Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Counting", "LinearMap", "RowMatrix", "Rows", "Transpose", "bound_norm", "stored"]

_LEAST_NORM = 1e-100  # bounds a zero matrix too, and its square does not underflow: L must be positive


class LinearMap(ABC):
    """A linear map A from R^p to R^n."""

    shape: tuple[int, int]

    @abstractmethod
    def dot(self, w: Vector) -> Vector:
        """A w."""

    @abstractmethod
    def tdot(self, alpha: Vector) -> Vector:
        """Aᵀ α."""

    def add_rows(self, base: Vector, rows: NDArray[np.int32], values: Vector) -> Vector:
        """base + Σ_k values_k a_i, for the rows i of the list."""
        alpha = np.bincount(rows, weights=values, minlength=self.shape[0]).astype(np.float64)
        return base + self.tdot(alpha)

    @abstractmethod
    def row_norms(self) -> Vector:
        """‖a_i‖₂ of every row."""

    @abstractmethod
    def column_norms(self, weights: Vector) -> Vector:
        """(Σ_i weights_i A_ij²)^½ of every column."""

    def largest(self) -> float:
        """max |A_ij|, or a bound of it."""
        return float(self.row_norms().max(initial=0.0))

    def bound(self, rows: Vector, columns: Vector | None = None) -> float:
        """A proven bound of the spectral norm of diag(rows)^½ A diag(columns)^½: here Frobenius."""
        if columns is None:
            return float(np.sqrt(dot(np.square(self.row_norms()), rows)))
        return float(np.sqrt(dot(np.square(self.column_norms(rows)), columns)))

    def __matmul__(self, w: Vector) -> Vector:
        return self.dot(w)

    @property
    def T(self) -> Transpose:
        """The adjoint map."""
        return Transpose(self)


class RowMatrix(LinearMap):
    """A matrix whose rows can be read one by one: what the fast solvers of linear models ask for.

    In the systems (λ I + Zᵀ H Z) d = g the rows of Z are those of the matrix, with a 1 appended where `bordered` (the
    bias, which has no λ), and H = diag(h).
    """

    threads: int
    volume: int  # how many values are stored

    @property
    @abstractmethod
    def values(self) -> NDArray[Any]:
        """The stored values, as one vector in some order."""

    @abstractmethod
    def part(self, rows: NDArray[Any]) -> RowMatrix:
        """A copy of some rows."""

    @abstractmethod
    def cholesky(self, h: Vector, bordered: bool, lam: float, g: Vector) -> Vector:
        """The solution d."""

    @abstractmethod
    def conjugate_gradients(
        self, h: Vector, bordered: bool, lam: float, g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
    ) -> tuple[Vector, int, float]:
        """An approximate d with its iterations and relative residual."""

    @abstractmethod
    def newton(self, *arguments: Any) -> tuple[float, int, int]:
        """Steps of Newton's method, in place: `kernels.csr_newton` without the matrix and the threads.

        Returns the gap, the steps, and the products they took.
        """

    @abstractmethod
    def whole_fit(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        """A classifier and its certificate: `kernels.csr_whole_fit` without the matrix and the threads."""

    @abstractmethod
    def least_squares(self, y: Vector, *arguments: Any) -> tuple[Vector, Vector, float, float, float, int]:
        """Least squares and their certificate: `kernels.csr_least_squares` without the matrix and the threads."""

    @abstractmethod
    def multinomial(self, *arguments: Any) -> tuple[float, int, int, bool]:
        """Newton's method for the multinomial loss, in place: `kernels.csr_multinomial` without matrix and threads.

        Returns an estimate of the gap, the steps, their products, and whether α is feasible.
        """

    @abstractmethod
    def row_products(self) -> NDArray[np.float64]:
        """⟨x_i, x_j⟩ of all pairs of rows."""

    @abstractmethod
    def sweeps(self, *arguments: Any) -> tuple[float, float, int]:
        """Sweeps of dual coordinate ascent: `kernels.csr_sweeps` without the matrix."""


@dataclass(frozen=True)
class Transpose:
    """The adjoint of a linear map."""

    of: LinearMap

    def __matmul__(self, alpha: Vector) -> Vector:
        return self.of.tdot(alpha)


class Rows(LinearMap):
    """diag(scale)·A: the rows of A, each times a number."""

    def __init__(self, base: LinearMap, scale: Vector) -> None:
        self.base, self.scale, self.shape = base, scale, base.shape

    def dot(self, w: Vector) -> Vector:
        u = self.base.dot(w)
        u *= self.scale
        return u

    def tdot(self, alpha: Vector) -> Vector:
        return self.base.tdot(self.scale * alpha)

    def row_norms(self) -> Vector:
        return np.abs(self.scale) * self.base.row_norms()

    def column_norms(self, weights: Vector) -> Vector:
        return self.base.column_norms(weights * self.scale**2)

    def largest(self) -> float:
        return float(np.abs(self.scale).max(initial=0.0) * self.base.largest())

    def bound(self, rows: Vector, columns: Vector | None = None) -> float:
        return self.base.bound(rows * self.scale**2, columns)


class Counting(LinearMap):
    """A linear map that counts its products, the currency in which solvers are compared."""

    def __init__(self, base: LinearMap) -> None:
        self.base, self.shape = base, base.shape
        self.dots = self.tdots = 0

    @property
    def products(self) -> int:
        """Products with A and Aᵀ so far."""
        return self.dots + self.tdots

    def dot(self, w: Vector) -> Vector:
        self.dots += 1
        return self.base.dot(w)

    def tdot(self, alpha: Vector) -> Vector:
        self.tdots += 1
        return self.base.tdot(alpha)

    def row_norms(self) -> Vector:
        return self.base.row_norms()

    def column_norms(self, weights: Vector) -> Vector:
        return self.base.column_norms(weights)

    def largest(self) -> float:
        return self.base.largest()

    def bound(self, rows: Vector, columns: Vector | None = None) -> float:
        return self.base.bound(rows, columns)


def stored(A: LinearMap) -> LinearMap:
    """The map that holds the data, beneath those that count its products or scale its rows."""
    while isinstance(A, (Counting, Rows)):
        A = A.base
    return A


def bound_norm(A: LinearMap, primal: Geometry, dual: Geometry) -> float:
    """A proven upper bound of ‖A‖ = max ⟨A w, α⟩ over unit w and α, in the norms of the two geometries.

    In the geometry BlockEntropy α is a difference of two dual points, so that each of its blocks sums to 0. Then
    ⟨u_i, α_i⟩ ≤ ‖α_i‖₁ (max u_i - min u_i)/2 ≤ ‖α_i‖₁ ‖u_i‖₂/√2, which saves the factor √2.
    """
    with np.errstate(over="ignore"):
        if isinstance(dual, WeightedEuclidean):
            bound = _bound_euclidean(A, primal, dual.inverse)
        elif isinstance(dual, BlockEntropy):
            bound = _bound_euclidean(A, primal, np.repeat(dual.c, dual.offset.shape[1])) / sqrt(2.0)
        elif isinstance(dual, Entropy):
            bound = _bound_rows(A, primal)
        else:
            raise UnsupportedPair(f"no bound of ‖A‖ is known for α in the geometry {type(dual).__name__}")
        if not np.isfinite(bound * bound):
            raise InputError("the data are too large: the squares of their entries overflow; scale the columns first")
    return max(bound, _LEAST_NORM)


def _bound_euclidean(A: LinearMap, primal: Geometry, c: Vector) -> float:
    """For the norm (Σ α²/c)^½ of α."""
    if isinstance(primal, Euclidean):
        return A.bound(c)
    if isinstance(primal, WeightedEuclidean):
        return A.bound(c, primal.inverse)
    if isinstance(primal, Entropy):
        return float(A.column_norms(c).max())  # exact
    raise _unknown(primal)


def _bound_rows(A: LinearMap, primal: Geometry) -> float:
    """For the norm Σ |α| of α: the longest row."""
    if isinstance(primal, Euclidean):
        return float(A.row_norms().max())
    if isinstance(primal, WeightedEuclidean):
        return float(A.row_norms().max() * np.sqrt(primal.inverse.max()))
    if isinstance(primal, Entropy):
        return A.largest()
    raise _unknown(primal)


def _unknown(primal: Geometry) -> UnsupportedPair:
    return UnsupportedPair(f"no bound of ‖A‖ is known for w in the geometry {type(primal).__name__}")

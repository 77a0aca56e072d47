"""Linear maps: what a solver knows of the data. `A @ w` and `A.T @ alpha` are all it ever asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError, UnsupportedPair
from minorant.geometry import Entropy, Euclidean, Geometry, WeightedEuclidean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Counting", "LinearMap", "Rows", "Transpose", "bound_norm"]

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

    @abstractmethod
    def row_norms(self) -> Vector:
        """‖a_i‖₂ of every row."""

    @abstractmethod
    def column_norms(self, weights: Vector) -> Vector:
        """(Σ_i weights_i A_ij²)^½ of every column."""

    def __matmul__(self, w: Vector) -> Vector:
        return self.dot(w)

    @property
    def T(self) -> Transpose:
        """The adjoint map."""
        return Transpose(self)


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


def bound_norm(A: LinearMap, primal: Geometry, dual: Geometry) -> float:
    """A proven upper bound of ‖A‖ = max ⟨A w, α⟩ over unit w and α, in the norms of the two geometries."""
    if not isinstance(dual, WeightedEuclidean):
        raise UnsupportedPair(f"no bound of ‖A‖ is known for α in the geometry {type(dual).__name__}")
    c = dual.inverse
    with np.errstate(over="ignore"):
        if isinstance(primal, Euclidean):
            bound = float(np.sqrt(np.square(A.row_norms()) @ c))  # Frobenius
        elif isinstance(primal, WeightedEuclidean):
            bound = float(np.sqrt(np.square(A.column_norms(c)) @ primal.inverse))  # Frobenius
        elif isinstance(primal, Entropy):
            bound = float(A.column_norms(c).max())  # exact
        else:
            raise UnsupportedPair(f"no bound of ‖A‖ is known for w in the geometry {type(primal).__name__}")
        if not np.isfinite(bound * bound):
            raise InputError("the data are too large: the squares of their entries overflow; scale the columns first")
    return max(bound, _LEAST_NORM)

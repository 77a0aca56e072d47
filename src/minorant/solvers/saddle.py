"""The problem as a game of two players, each smoothed around a center:

    J_mu2(w) = Ω(w) + max over α of ⟨A w, α⟩ - g(α) - mu2 Δ₂(α, α_c)          ≤ J(w)
    D_mu1(α) = -g(α) + min over w of ⟨A w, α⟩ + Ω(w) + mu1 Δ₁(w, w_c)         ≥ D(α)

A player answers a point y of the other by the x that maximizes ⟨image of y, x⟩ - ψ(x) - t Δ(x, c). The rules are the
same for both: ψ = Ω and image A w for the one, ψ = g and image -Aᵀα for the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from minorant.geometry import Euclidean, WeightedEuclidean
from minorant.kernels import dot
from minorant.minorants import Point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from minorant.geometry import Geometry
    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["Player", "Saddle"]

_LEAST = 1e-6  # a much smaller first mu would be lost in the rounding of scores
_INSIDE = 1e-3  # how far a center is moved inside where the gradient of d is infinite on the boundary


class Saddle:
    """A problem smoothed on both sides, around w and α."""

    def __init__(self, problem: Problem, w: Vector, alpha: Vector) -> None:
        self.problem = problem
        self.primal, self.dual = _Primal(problem, w), _Dual(problem, alpha)
        sigmas = self.primal.geometry.sigma * self.dual.geometry.sigma
        most = max(self.primal.curvature, self.dual.curvature, _LEAST)
        self.coupling = max(problem.norm**2 / sigmas, _LEAST * most)  # N = ‖A‖²/(σ₁σ₂), a proven bound

    def smoothed_primal(self, w: Point, mu2: float) -> float:
        """J_mu2(w): no product."""
        return self.primal.psi(w.x) + self.dual.smoothed(w, mu2)

    def smoothed_dual(self, alpha: Point, mu1: float) -> float:
        """D_mu1(α): no product."""
        return -self.dual.psi(alpha.x) - self.primal.smoothed(alpha, mu1)


class Player(ABC):
    """One side of the game: ψ, κ-strongly convex with respect to d (`curvature`), and the center."""

    geometry: Geometry
    curvature: float
    center: Vector

    @abstractmethod
    def psi(self, x: Vector) -> float:
        """Ω or g."""

    @abstractmethod
    def argmin(self, s: Vector, t: float) -> tuple[Vector, Vector | None]:
        """Minimize ⟨s, x⟩ + t·d(x) + ψ(x): the minimizer, and ∇d there where it is known better than from x."""

    @abstractmethod
    def exact(self, image: Vector) -> float:
        """The greatest ⟨image, x⟩ - ψ(x)."""

    @abstractmethod
    def image(self, x: Vector) -> Vector:
        """A x or -Aᵀx: one product."""

    def centered(self) -> Point:
        """The center with its image: one product."""
        return Point(self.center, self.image(self.center))

    def answer(self, y: Point, t: float, center: Point | None = None) -> Point:
        """The answer to y, with its image: one product."""
        x, mirror = self._best(y, t, center)
        return Point(x, self.image(x), mirror)

    def smoothed(self, y: Point, mu: float) -> float:
        """What the answer to y attains: no product."""
        if mu == 0:
            return self.exact(y.image)
        x, _ = self._best(y, mu)
        return dot(y.image, x) - self.psi(x) - mu * self.geometry.divergence(x, self.center)

    def _best(self, y: Point, t: float, center: Point | None = None) -> tuple[Vector, Vector | None]:
        x, mirror = (self.center, None) if center is None else (center.x, center.mirror)
        return self.argmin(-y.image - t * (self.geometry.gradient(x) if mirror is None else mirror), t)


class _Primal(Player):
    def __init__(self, problem: Problem, w: Vector) -> None:
        self._omega, self._A, self.geometry = problem.regularizer, problem.A, problem.geometry
        self.curvature = self._omega.strong_convexity(self.geometry)
        self.center = _inside(w, self._omega.start(w.size), self.geometry)

    def psi(self, x: Vector) -> float:
        return self._omega.value(x)

    def argmin(self, s: Vector, t: float) -> tuple[Vector, Vector | None]:
        return (self._omega.maximizer(-s), None) if t == 0 else self._omega.argmin(s, t, self.geometry)

    def exact(self, image: Vector) -> float:
        return self._omega.conjugate(image)

    def image(self, x: Vector) -> Vector:
        return self._A @ x


class _Dual(Player):
    def __init__(self, problem: Problem, alpha: Vector) -> None:
        self._loss, self._A, self.geometry = problem.loss, problem.A, problem.loss.geometry
        self.curvature = self._loss.curvature
        self.center = _inside(alpha, self._loss.start(), self.geometry)

    def psi(self, x: Vector) -> float:
        return self._loss.conjugate(x)

    def argmin(self, s: Vector, t: float) -> tuple[Vector, Vector | None]:
        return self._loss.smoothed(-s, t).alpha, None

    def exact(self, image: Vector) -> float:
        return self._loss.value(image)

    def image(self, x: Vector) -> Vector:
        return -(self._A.T @ x)


def _inside(center: Vector, start: Vector, geometry: Geometry) -> Vector:
    """A center where d has a gradient: any point in a quadratic geometry, else moved a little towards the start."""
    if isinstance(geometry, (Euclidean, WeightedEuclidean)):
        return center
    return (1 - _INSIDE) * center + _INSIDE * start

"""Accelerated gradient with estimate functions, divided by A_k: Algorithms 1 to 4 of the paper in one loop.

After division by A_k the two memories share the recursion and the updates of u and x, and differ in the model that z
minimizes. With θ = a/A_{k+1}, ρ = 1/A_k, λ = λ₁ + λ₂, c = ρ + λ, L' = L/σ + λ₂:

    L'θ² = (1 - θ) c + λ θ,      ρ₊ = (1 - θ) ρ;        first step: θ = 1, ρ₊ = L/σ - λ₁

    ∞-memory:  z₊ = argmin of  ρ₊ Δ(·, x₀) + Σ_i θ-averaged linearizations + Ψ          (Algorithms 1, 2)
    1-memory:  z₊ = argmin of  ((1-θ)c/θ) Δ(·, z) + the last linearization + Ψ           (Algorithms 3, 4)

ρ underflows to 0 harmlessly where A_k would overflow. Algorithms 2 and 4 try L from below and accept it by the local
test f(x₊) - f(u) - ⟨∇f(u), x₊ - u⟩ ≤ (L/2)‖x₊ - u‖², or at the proven bound: ERRATUM 7.
Each trial costs one product with K (the image of z₊) and one with Kᵀ (the slope at u).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import count
from math import inf, sqrt
from typing import TYPE_CHECKING

from minorant.errors import InputError
from minorant.solvers.base import State

if TYPE_CHECKING:
    from minorant.losses import Smoothed
    from minorant.minorants import Minorant, Point
    from minorant.views import View

__all__ = ["AcceleratedGradient", "coefficients"]


@dataclass(frozen=True)
class AcceleratedGradient(ABC):
    """The shared loop.

    Parameters
    ----------
    adaptive : bool
        Search for L from below instead of using the proven bound.
    grow, shrink : float
        A rejected L is multiplied by `grow`; each iteration first tries the last L divided by `shrink`.
        In the long run an iteration costs 1 + log(shrink)/log(grow) trials.
    restart : bool
        In the primal scheme, start again from x where the momentum has turned back: it costs nothing, and is linear
        where J grows quadratically though nothing proves it. A fixed mu and the dual schemes never start again.
    """

    adaptive: bool = True
    grow: float = 2.0
    shrink: float = 1.1
    restart: bool = True

    def __post_init__(self) -> None:
        if not (self.grow > 1 and self.shrink >= 1):
            raise InputError(f"need grow > 1 and shrink ≥ 1; got {self.grow}, {self.shrink}")

    @abstractmethod
    def model(self, view: View, s: State, theta: float, rho: float, lower: Minorant, average: Minorant) -> Minorant:
        """The function whose minimizer is the next z."""

    def init(self, view: View, start: Point, L: float | None = None) -> State:
        """The state before the first step; `L` is where the search for L begins."""
        first = view.lipschitz if not self.adaptive else self.shrink * min(L or view.lipschitz / 8, view.lipschitz)
        return State(start, start, start, rho=inf, theta=1.0, L=first)

    def step(self, view: View, state: State) -> State:
        s = state
        L = max(s.L / self.shrink, _least_lipschitz(view)) if self.adaptive else s.L
        for trials in count(1):  # noqa: B007 - reported after the loop
            theta, rho, weight = coefficients(view, s.rho, L)  # 5, 6
            u = s.x + weight * (s.z - s.x)  # 7
            lower, at_u = view.lower(u)
            average = lower if s.minorant is None else (1 - theta) * s.minorant + theta * lower
            z = self.model(view, s, theta, rho, lower, average).minimize()  # 8, 9
            x = s.x + theta * (z - s.x)  # 10
            if not self.adaptive or view.lipschitz <= L or _curves_below(view, L, x, u, at_u):
                break
            L = min(self.grow * L, view.lipschitz)
        return State(s.start, x, z, rho, theta, L, u, average, lower, trials)


def coefficients(view: View, rho: float, L: float) -> tuple[float, float, float]:
    """θ, the next ρ, and the weight of z in u = x + weight·(z - x)."""
    sigma, lam1, lam2 = view.geometry.sigma, view.lam1, view.lam2
    if rho == inf:
        return 1.0, L / sigma - lam1, 0.0
    c = rho + lam1 + lam2
    theta = 2 * c / (rho + sqrt(rho * rho + 4 * (L / sigma + lam2) * c))
    tau1, tau2, tau3 = (1 - theta) * c, lam1 * theta, lam2 * theta * (1 - theta)
    tau = tau1 + tau2 + tau3  # σ τ = L θ²
    return theta, (1 - theta) * rho, theta * tau1 / (tau - tau2 * theta)


def _least_lipschitz(view: View) -> float:
    """L must exceed σ λ₁, or the recursion has no positive root; 0 would divide by zero."""
    return max(view.geometry.sigma * view.lam1 * (1 + 1e-8), 1e-12 * view.lipschitz)


def _curves_below(view: View, L: float, x: Point, u: Point, at_u: Smoothed) -> bool:
    """f(x) - f(u) - ⟨∇f(u), x - u⟩ ≤ (L/2)‖x - u‖²."""
    return view.divergence(x, u, at_u) <= 0.5 * L * view.geometry.norm(x.x - u.x) ** 2

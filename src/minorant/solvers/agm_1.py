"""AGM-EF-1: Algorithms 3 (fixed L) and 4 (adaptive L) of the paper.

The estimate function forgets: what came before is compressed to c Δ(·, z) + constant, at the price that Ψ must be
strongly convex with respect to d itself, not to its norm alone (ERRATUM 9):

    q_{k+1}/θ = ((1-θ)c/θ) Δ(·, z) + (linearization at u) + Ψ + constant
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from minorant.minorants import divergence_from
from minorant.solvers.agm import AcceleratedGradient

if TYPE_CHECKING:
    from minorant.minorants import Minorant
    from minorant.solvers.base import State
    from minorant.views import View

__all__ = ["AgmOne"]


@dataclass(frozen=True)
class AgmOne(AcceleratedGradient):
    """Accelerated gradient with 1-memory."""

    def model(self, view: View, s: State, theta: float, rho: float, lower: Minorant, average: Minorant) -> Minorant:
        if s.rho == inf:
            return rho * divergence_from(view, s.start) + lower
        c = s.rho + view.lam1 + view.lam2
        return ((1 - theta) * c / theta) * divergence_from(view, s.z) + lower

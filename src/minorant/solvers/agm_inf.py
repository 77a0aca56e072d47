"""AGM-EF-∞: Algorithms 1 (fixed L) and 2 (adaptive L) of the paper.

The estimate function keeps every linearization; their θ-average is one minorant, so memory does not grow:

    ψ_{k+1}/A_{k+1} = ρ_{k+1} Δ(·, x₀) + (1-θ)·(average so far) + θ·(linearization at u) + Ψ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from minorant.minorants import divergence_from
from minorant.solvers.agm import AcceleratedGradient

if TYPE_CHECKING:
    from minorant.minorants import Minorant
    from minorant.solvers.base import State
    from minorant.views import View

__all__ = ["AgmInf"]


@dataclass(frozen=True)
class AgmInf(AcceleratedGradient):
    """Accelerated gradient with ∞-memory."""

    def model(self, view: View, s: State, theta: float, rho: float, lower: Minorant, average: Minorant) -> Minorant:
        return rho * divergence_from(view, s.start) + average

"""The contract of a solver: an iterator of immutable states. It never decides to stop and never sees the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from minorant.minorants import Minorant, Point
    from minorant.views import View

__all__ = ["Solver", "State"]


@dataclass(frozen=True)
class State:
    """One iterate of an accelerated method.

    J(x) - J(x') ≤ rho·Δ(x', start) for every x': rho = 1/A_k is what the method has proved so far.
    """

    start: Point
    x: Point
    z: Point
    rho: float
    theta: float
    L: float
    u: Point | None = None
    minorant: Minorant | None = None  # the θ-average of all linearizations, plus Ψ
    lower: Minorant | None = None  # the last one
    trials: int = 0

    @property
    def minorants(self) -> tuple[Minorant, ...]:
        """The minorants that offer dual points: the average and the last."""
        return tuple(m for m in (self.minorant, self.lower) if m is not None)


class Solver(Protocol):
    """`init` gives the first state from a start point, `step` the next one; `restart` lets a schedule begin anew."""

    @property
    def restart(self) -> bool: ...

    def init(self, view: View, start: Point, L: float | None = None) -> State: ...

    def step(self, view: View, state: State) -> State: ...

"""Solvers, one file each, and their names."""

from __future__ import annotations

from minorant.solvers.agm_1 import AgmOne
from minorant.solvers.agm_inf import AgmInf
from minorant.solvers.base import Solver, State
from minorant.solvers.excessive_gap import ExcessiveGap

__all__ = ["LINEAR", "SOLVERS", "AgmInf", "AgmOne", "ExcessiveGap", "Solver", "State"]

LINEAR = ("newton", "dual-coordinates", "working-set")  # for linear models alone
SOLVERS: dict[str, type[AgmInf | AgmOne]] = {"agm-inf": AgmInf, "agm-1": AgmOne}

"""Certificates: a primal point, a dual point, and the gap between their values, which bounds the error.

    J(w) - min J  ≤  J(w) - D(α) = gap

Candidates compete; the best of each side is kept. Everything is in the scale of the mean loss and of the unsmoothed J.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.problem import Problem
    from minorant.views import Candidates

    Vector = NDArray[np.float64]

__all__ = ["Best", "Certificate", "Status", "certify"]


class Status(Enum):
    """How a run ended; the value is the sentence a user reads."""

    CERTIFIED = "The gap is within tol: the solution is proved to be this close to the optimum."
    MAX_ITER = "Stopped at max_iter before the gap was within tol; the gap printed is still proved."
    MAX_TIME = "Stopped at max_time before the gap was within tol; the gap printed is still proved."
    STALLED = "Rounding was reached: the gap does not shrink any more at this precision; it is still proved."
    OPEN = "The gap is not within tol; the gap printed is still proved."
    INTERRUPTED = "Stopped on request before the gap was within tol; the gap printed is still proved."


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proof that a solution is good.

    Attributes
    ----------
    primal : float
        J at the solution, unsmoothed, in the scale of the mean loss.
    dual : float
        D(alpha), below every value of J.
    alpha : array
        The dual point that proves it.
    status : Status
    n_products : int
        Products with the data and with its transpose that it took.
    """

    primal: float
    dual: float
    alpha: Vector = field(repr=False)
    status: Status
    n_products: int

    @property
    def gap(self) -> float:
        """primal - dual: the solution is at most this far from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the primal value: what `tol` promises."""
        return relative(self.gap, self.primal)

    def __str__(self) -> str:
        return (
            f"J(w) = {self.primal:.10g}, proved to be at most {self.relative_gap:.2e} (relative) above the optimum; "
            f"lower bound {self.dual:.10g}. {self.status.value}"
        )


def relative(gap: float, primal: float) -> float:
    """The gap as a fraction of |primal|; a gap of 0 is 0 even where primal is 0."""
    return gap / abs(primal) if primal else (0.0 if gap <= 0 else inf)


class Best:
    """The best primal and the best dual candidate so far."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.primal, self.dual = inf, -inf
        self.w: Vector = np.empty(0)
        self.image: Vector = np.empty(0)
        self.alpha: Vector = np.empty(0)
        self.dual_image: Vector = np.empty(0)

    @property
    def gap(self) -> float:
        """The gap between the two."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the primal value."""
        return relative(self.gap, self.primal) if self.gap < inf else inf

    def anew(self, problem: Problem) -> Best:
        """An empty one, for another problem."""
        return Best(problem)

    def offer(self, candidates: Candidates) -> None:
        """Let the candidates compete: no product, their images are known."""
        for w, image in candidates.primal:
            if (value := self._problem.primal(w, image)) < self.primal:
                self.primal, self.w, self.image = value, w, image
        for point in candidates.dual:
            alpha, image = self._problem.dual_point(*point)
            if (value := self._problem.dual(alpha, image)) > self.dual:
                self.dual, self.alpha, self.dual_image = value, alpha, image


def certify(problem: Problem, w: Vector, alpha: Vector, *, tol: float = 1e-3) -> Certificate:
    """The certificate of any pair (w, alpha), wherever it comes from: α is brought into the dual domain first."""
    alpha = problem.loss.project(np.asarray(alpha, dtype=np.float64))
    w = np.asarray(w, dtype=np.float64)
    before = problem.A.products
    alpha, image = problem.dual_point(alpha, problem.A.T @ alpha)
    primal, dual = problem.primal(w), problem.dual(alpha, image)
    status = Status.CERTIFIED if relative(primal - dual, primal) <= tol else Status.OPEN
    return Certificate(primal, dual, alpha, status, problem.A.products - before)

"""The driver: the only loop that decides to stop.

The schemes of smoothing are in `schedules.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant.certificate import Best, Certificate, Status, relative
from minorant.errors import InputError
from minorant.schedules import schedule
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from minorant.problem import Problem
    from minorant.solvers import ExcessiveGap, Solver

    Vector = NDArray[np.float64]

__all__ = ["Progress", "Result", "solve"]

_ROUNDING = 1e-14  # of J: a smaller gap is none


class Progress(NamedTuple):
    """One row of the trace: the best bounds after so many iterations. L is 0 for solvers that have none."""

    iteration: int
    seconds: float
    products: int
    primal: float
    dual: float
    L: float
    mu: float


@dataclass(frozen=True, eq=False)
class Result:
    """A solution, the certificate that proves it, and how it came about."""

    w: Vector
    intercept: float | Vector
    certificate: Certificate
    n_iter: int
    trace: tuple[Progress, ...] = field(repr=False)


def solve(
    problem: Problem,
    *,
    tol: float = 1e-3,
    solver: str | Solver | ExcessiveGap = "auto",
    smoothing: str = "auto",
    mu: float | None = None,
    max_iter: int = 20_000,
    max_time: float | None = None,
    callback: Callable[[Progress], object] | None = None,
    start: tuple[ArrayLike, ArrayLike] | None = None,
) -> Result:
    """Minimize J until its relative duality gap is at most `tol`.

    Parameters
    ----------
    problem : Problem
    tol : float, default 1e-3
        The promise: J(w) - min J ≤ tol·|J(w)|, for the exact J.
    solver : str or Solver, default "auto"
        "auto" is the fastest known for the problem. Linear models with L2 get dual coordinates and then Newton's
        method (`minorant.solvers.linear` has the rule; "dual-coordinates" and "newton" are the two alone); L1 or an
        elastic net with a loss that has a curvature gets "working-set" (`minorant.solvers.working_set`); all else
        "agm-inf" with adaptive L. The others are "agm-1" and "excessive-gap". Pass e.g.
        ``solvers.AgmOne(adaptive=False)`` for other settings.
        "excessive-gap" is the solver of decreasing smoothing, and of no other.
    smoothing : {"auto", "primal", "dual", "decreasing", "none"}, default "auto"
        "auto" is "primal", unless a solver smooths by itself. "dual" and "none" need a strongly convex
        regularizer; they can be several times faster where there are far more columns than examples. See
        `minorant.schedules`.
    mu : float, optional
        Smooth by this much, once and for all: for "primal" and "dual". A solution of the smoothed problem is one of
        the exact problem up to mu·D, with D the `radius` of the loss, so mu = eps/D gives 2·eps after as many
        iterations as the theorems say; a much smaller gap is then out of reach. Without it, mu follows the gap.
    max_iter : int, default 20_000
    max_time : float, optional
        Seconds.
    callback : callable, optional
        Called with a `Progress` after every iteration; a true answer stops the run.
    start : (w, alpha), optional
        A warm start, e.g. from a solution for another λ.

    Returns
    -------
    Result
    """
    _check_limits(tol, max_iter, max_time)
    problem.loss.forget()
    began, products = perf_counter(), problem.A.products
    best = _start(problem, start)
    trace: list[Progress] = []
    status = _reached(best, tol) or Status.MAX_ITER
    patience = _Patience()
    steps = schedule(problem, solver, smoothing, mu, best, tol)
    while status is Status.MAX_ITER and len(trace) < max_iter:
        step = next(steps, None)
        if step is None:  # the schedule has nothing better to offer
            status = Status.STALLED
            break
        best.offer(step.candidates)
        now = perf_counter() - began
        used = problem.A.products - products
        trace.append(Progress(len(trace) + 1, now, used, best.primal, best.dual, step.L, step.mu))
        stop = callback is not None and callback(trace[-1])
        if (reached := _reached(best, tol)) is not None:
            status = reached
        elif stop:
            status = Status.INTERRUPTED
        elif max_time is not None and now >= max_time:
            status = Status.MAX_TIME
        elif patience.exhausted(best.gap) and mu is None:  # a fixed mu stops the gap, not rounding
            status = Status.STALLED
    alpha, dual = _proved(problem, best)
    if status is Status.CERTIFIED and relative(best.primal - dual, best.primal) > max(tol, _ROUNDING):
        status = Status.STALLED
    if best.primal < dual <= best.primal + 1e-13 * abs(best.primal):  # rounding: a lower bound that is lower is one too
        dual = best.primal
    certificate = Certificate(best.primal, dual, alpha, status, problem.A.products - products)
    return Result(best.w, problem.loss.intercept(best.image), certificate, len(trace), tuple(trace))


def _reached(best: Best, tol: float) -> Status | None:
    """Certified within tol; or, for a tol that rounding cannot tell from 0, as close as rounding lets it be."""
    if best.relative_gap > max(tol, _ROUNDING):
        return None
    return Status.CERTIFIED if tol >= _ROUNDING else Status.STALLED


def _proved(problem: Problem, best: Best) -> tuple[Vector, float]:
    """The best α, exactly in the domain of g, and D there.

    Rounding is all that the way there changes. Where Ω* is finite on a bounded set only, it matters all the same: α is
    at the boundary of that set, and has to be shrunk into it again.
    """
    alpha = problem.loss.project(best.alpha)
    if problem.regularizer.dual_scale(-best.dual_image) == np.inf or np.array_equal(alpha, best.alpha):
        return alpha, best.dual
    image = problem.A.T @ alpha
    s = min(1.0, problem.regularizer.dual_scale(-image))
    return s * alpha, problem.dual(s * alpha, s * image)


def _check_limits(tol: float, max_iter: int, max_time: float | None) -> None:
    if not (np.isfinite(tol) and tol >= 0):
        raise InputError(f"tol must be a finite number ≥ 0; got {tol}")
    if max_iter < 1:
        raise InputError(f"max_iter must be at least 1; got {max_iter}")
    if max_time is not None and not max_time > 0:
        raise InputError(f"max_time must be positive seconds; got {max_time}")


def _start(problem: Problem, start: tuple[ArrayLike, ArrayLike] | None) -> Best:
    """The start as the first candidates; both points are in their domains, so the first gap is finite."""
    n, p = problem.A.shape
    if start is None:
        w, alpha = problem.regularizer.start(p), problem.loss.start()
    else:
        w, alpha = (np.array(v, dtype=np.float64) for v in start)
        if w.shape != (p,) or alpha.shape != (n,):
            raise InputError(f"start must be (w, alpha) of shapes ({p},), ({n},); got {w.shape}, {alpha.shape}")
        if not (np.isfinite(w).all() and np.isfinite(alpha).all()):
            raise InputError("start has a value that is NaN or infinite")
        alpha = problem.loss.project(alpha)
    best = Best(problem)
    image = problem.A @ w if w.any() else np.zeros(n)  # most runs start at 0, whose image takes no product
    dual_image = problem.A.T @ alpha if alpha.any() else np.zeros(p)
    best.offer(Candidates(((w, image),), ((alpha, dual_image),)))
    if not best.gap < np.inf:
        parts = f"{type(problem.loss).__name__} and {type(problem.regularizer).__name__}"
        raise InputError(
            f"no finite duality gap at the start: w or alpha is outside the domain of J or D for {parts}; "
            "pass start=(w, alpha) inside both, or take a regularizer whose conjugate is finite everywhere, such as L2"
        )
    return best


class _Patience:
    """Ends a run whose best gap has not improved for many iterations: at rounding it never will."""

    def __init__(self) -> None:
        self._gap, self._iteration, self._improved = np.inf, 0, 0

    def exhausted(self, gap: float) -> bool:
        self._iteration += 1
        if gap < self._gap:
            self._gap, self._improved = gap, self._iteration
        return self._iteration - self._improved > 1000 + self._improved // 2

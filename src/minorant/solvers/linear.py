"""The default for linear models: dual coordinates to begin with, Newton's method to finish.

Small problems go to Newton's method at once; its steps depend on weighted sums alone, so there weights are repetitions
to the last digits. Losses without corners do so too where its systems are small: a few steps reach rounding. For the
others, sweeps of dual coordinate ascent are the cheapest start, and on wide sparse data often all that is needed.
After each block of sweeps the gap tells how many more it would take at the present rate. Newton's method takes over
when that costs more than its own prediction, five steps for each decimal digit (one for the logistic loss), once a part
of that has been spent. Costs are counted in operations, not in seconds: the same data always take the same path.
Without the compiled core there are no sweeps.
"""

from __future__ import annotations

from math import inf, log, log10
from typing import TYPE_CHECKING

from minorant import kernels
from minorant.solvers.newton import direct_cost, newton
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from minorant.certificate import Best
    from minorant.solvers.examples import Examples

__all__ = ["dual_coordinates", "linear_model"]

_FIRST = 3  # sweeps before the first look at the gap
_GROWTH = 0.5  # the next block is this share of all before it
_BLOCK = 2e9  # operations of a block at most: a second or two between two looks at the clock
_OVERHEAD = 4e5  # what a look at the gap or a step costs however small the data are
_PART = 0.15  # of the predicted cost of Newton's method, to be spent on sweeps before it is believed


def linear_model(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, float]]:
    """Candidates for the certificate, with the mu of the smoothing."""
    if kernels.native and not _newton_at_once(e):
        gap, before, sweeps = best.relative_gap, 0, 0
        for candidates, sweeps in dual_coordinates(e, best, tol):
            yield candidates, 0.0
            rate = log(max(gap / best.relative_gap, 1.0)) / (sweeps - before) if best.relative_gap > 0 else inf
            gap, before = best.relative_gap, sweeps
            rest = log(gap / tol) / rate if rate > 0 and tol > 0 else inf
            if sweeps * _sweep(e) >= _PART * _newton(e, gap, tol) and rest * _sweep(e) > _newton(e, gap, tol):
                break
    yield from newton(e, best)


def _newton_at_once(e: Examples) -> bool:
    cost = direct_cost(e, e.n)
    return cost <= _OVERHEAD or (e.scalar.smooth and cost <= 500.0 * e.matrix.volume)


def dual_coordinates(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, int]]:
    """Candidates after each block of sweeps, and the number of sweeps so far."""
    t = e.t(best.alpha)
    w = -best.dual_image / e.lam
    bias, enough, done = 0.0, 0.0, 0
    if e.scalar.bias and best.image.size:
        bias = float(e.problem.loss.intercept(best.image))
    while True:
        most = max(_FIRST, int(min(max(_GROWTH * done, _OVERHEAD / _sweep(e)), _BLOCK / _sweep(e))))
        bias, _, count = e.sweeps(t, w, bias, most, enough, seed=done)
        done += count
        alpha = e.scalar.c * t
        if e.scalar.bias:
            alpha = e.problem.loss.project(alpha)
        v = e.A.T @ alpha
        if not e.scalar.bias:
            w = -v / e.lam  # sheds the rounding of the sweeps
        image = e.A @ w
        points = [(w.copy(), image)]
        if done > count:  # the primal points of the sweeps are noisy: better ones lie between them
            points.append(e.between(best.w, best.image, w, image))
        yield Candidates(tuple(points), ((alpha, v),)), done
        enough = min(0.7 * tol * best.primal, 0.5 * enough if count < most else inf)


def _sweep(e: Examples) -> float:
    return 5.0 * (e.matrix.volume + 4.0 * e.n)


def _newton(e: Examples, gap: float, tol: float) -> float:
    """The predicted cost of Newton's method."""
    iterations, digits = (40.0, 1.0) if e.scalar.logistic else (400.0, 5.0)  # corners make both hard to come by
    system = min(direct_cost(e, e.n // 2), iterations * (2.0 * e.matrix.volume + 10.0 * e.size))
    steps = 2.0 + digits * max(log10(gap / max(tol, 1e-12)), 0.0)
    return steps * (system + 6.0 * e.matrix.volume + 40.0 * e.n + _OVERHEAD)

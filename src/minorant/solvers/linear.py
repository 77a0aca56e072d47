"""The default for linear models: dual coordinates to begin with, Newton's method to finish.

Small problems go to Newton's method at once; its steps depend on weighted sums alone, so there weights are repetitions
to the last digits. Few rows with many columns go by their products with each other (`few_rows.py`). Others begin with
Newton's method where its systems are small, unless there is so little curvature (a small C) that the examples hardly
depend on each other. In dense data all of them do, and the sweeps that are needed grow with the curvature: there
Newton's method comes first wherever it costs less than so many. For the rest, sweeps of dual coordinate ascent are the
cheapest start, and on wide sparse data often all that is needed.
After each block of sweeps their excess, an estimate of the gap, tells how many more it would take at the present rate.
Newton's method takes over when that costs more than its own prediction: three steps, and three for each decimal digit
(one for losses without corners). Costs are those of a typical machine, not of the one at hand: the same data always
take the same path.
Without the compiled core there are no sweeps.
"""

from __future__ import annotations

from math import inf, log, log10
from typing import TYPE_CHECKING

from minorant import kernels
from minorant.solvers.few_rows import few_rows, newton_on_products
from minorant.solvers.newton import direct_cost, newton
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from minorant.certificate import Best
    from minorant.solvers.examples import Examples

__all__ = ["dual_coordinates", "linear_model"]

_FIRST = 3  # sweeps before the first look at the gap
_GROWTH = 0.5  # the next block is this share of all before it
_BLOCK = 1e9  # nanoseconds of a block at most: how long a user waits for a sign of life
_OVERHEAD = 1e5  # what a look at the gap costs however small the data are
_TINY = 4e5  # operations of a Newton step that nothing is worth saving
_SOON, _EASY = 24.0, 12.0  # sweeps that Newton's method may cost to be begun with; where sweeps are soon done
_HARD = 20.0  # sweeps for each unit of curvature, where data are dense
_SLOWER = 2.0  # the rate of the sweeps falls with time, and may rise at once when the slopes at their bounds are found:
_TRY = 0.1  # sweeps that cost less than this share of Newton's method are made all the same: the first tell little
_AHEAD, _FEW = 2.0, 200.0  # no more is believed to be left than this many times those done, or than a few


def linear_model(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, float]]:
    """Candidates for the certificate, with the mu of the smoothing."""

    def newton_is_cheaper(sweeps: int, gap: float, rate: float) -> bool:
        rest = _SLOWER * log(gap / tol) / rate if rate > 0 and tol > 0 else inf
        newton = _newton(e, gap, tol)
        tried = sweeps * _sweep(e) >= _TRY * newton
        return tried and min(rest, max(_AHEAD * sweeps, _FEW)) * _sweep(e) > newton

    tiny = direct_cost(e, e.n) <= _TINY
    if few_rows(e) and not tiny:
        yield from newton_on_products(e, best, tol)
    elif kernels.native and not (tiny or _newton_at_once(e)):
        for candidates in dual_coordinates(e, best, tol, newton_is_cheaper):
            yield candidates, 0.0
    yield from newton(e, best, tol)


def _newton_at_once(e: Examples) -> bool:
    worth = max(_EASY if e.bend < 0.3 else _SOON, _HARD * e.bend * _dense(e))
    return _newton(e, 1.0, 1e-3) <= worth * _sweep(e)


def dual_coordinates(
    e: Examples, best: Best, tol: float, stop: Callable[[int, float, float], bool] = lambda *_: False
) -> Iterator[Candidates]:
    """Candidates whenever the excess of a sweep, an estimate of the gap, promises one within tol, and now and then.

    `stop` is asked now and then, with the sweeps so far, the relative gap and its logarithmic decrease in a sweep.
    """
    t = e.t(best.alpha)
    w = -best.dual_image / e.lam
    bias, enough, last, done, seen, seen_bias = 0.0, 0.0, best.gap, 0, 0, 0.0
    began = best.relative_gap
    if e.scalar.bias and best.image.size:
        bias = float(e.problem.loss.intercept(best.image))
    while True:
        most = max(_FIRST, int(min(max(_GROWTH * done, _OVERHEAD / _sweep(e)), _BLOCK / _sweep(e))))
        bias, excess, count = e.sweeps(t, w, bias, most, enough, seed=done)
        rate = log(last / excess) / count if 0 < excess < last else 0.0 if excess else inf
        done, last = done + count, excess
        ending = stop(done, max(excess / best.primal, tol), rate)
        if ending or excess <= enough or done >= 3 * seen or (done - seen) * _sweep(e) >= _BLOCK:
            if e.scalar.bias:
                image = e.A @ w
                alpha, bias = e.on_plane(t, image, bias)
                v = e.A.T @ alpha
            else:
                alpha = e.scalar.c * t
                v = e.A.T @ alpha
                w = -v / e.lam  # sheds the rounding of the sweeps
                image = e.A @ w
            points = [(w.copy(), image)]
            if seen:  # the primal points of the sweeps are noisy: better ones lie between them
                points.append(e.between(best.w, best.image, w, image, (seen_bias, bias)))
            yield Candidates(tuple(points), ((alpha, v),))
            if e.scalar.bias:
                t, w = e.t(alpha), -v / e.lam
            enough = 0.95 * tol * best.primal * min(excess / best.gap, 1.3) if best.gap > 0 else 0.0
            seen, seen_bias = done, bias
            average = log(began / best.relative_gap) / done if 0 < best.relative_gap < began else 0.0
            ending = ending or stop(done, max(best.relative_gap, tol), average)
        if ending:
            return


def _sweep(e: Examples) -> float:
    """Nanoseconds, more or less, of a sweep."""
    a_row, a_value = (40.0, 0.4) if _dense(e) else (25.0, 1.5)
    return a_value * e.matrix.volume + (a_row + 100.0 * e.scalar.logistic) * e.n


def _newton(e: Examples, gap: float, tol: float) -> float:
    """The same of Newton's method."""
    f = e.scalar
    a_value, a_product = (0.4, 0.17) if _dense(e) else (0.8, 0.45)
    # of conjugate gradients: bends that jump make them slow, unless rows have all columns and so depend on each other
    iterations = (15.0 if f.logistic else 40.0) if _dense(e) else 40.0 if f.logistic else 400.0
    digits = 1.0 if f.smooth else 3.0  # corners make digits hard to come by
    band = e.n // 4 if e.n > 4 * e.p and not f.smooth else e.n  # few examples are at a corner, unless columns abound
    system = min(
        a_product * direct_cost(e, band),
        iterations * (2.0 * a_value * e.matrix.volume + 3.0 * e.size),
    )
    steps = 3.0 + digits * log10(max(gap, tol, 1e-12) / max(tol, 1e-12))
    return steps * (system + a_value * e.matrix.volume + (60.0 if f.logistic else 25.0) * e.n) + _OVERHEAD


def _dense(e: Examples) -> bool:
    return e.matrix.volume == e.n * e.p

"""The default for linear models: dual coordinates to begin with, Newton's method to finish.

Small problems go to Newton's method at once; its steps depend on weighted sums alone, so there weights are repetitions
to the last digits. Few rows with many columns go by their products with each other (`few_rows.py`). For others sweeps
of dual coordinate ascent are the cheapest start, and on wide sparse data often all that is needed; Newton's method
comes first where it costs less than a few of them, or a few more and the curvature or a sample of the examples (below)
makes up for it. In dense data all examples depend on each other, and the sweeps that are needed grow with the curvature
(with C): there Newton's method comes first wherever it costs less than so many. It does so sooner where examples
abound, since it begins with a sample of them then (`cpp/newton_fit.hpp`). Many sparse rows that share some hundreds of
columns, as those of categories do, are linked like dense ones: where the curvature is not small, Newton's method comes
first if its steps are cheap enough beside sweeps.
After each block of sweeps their excess, an estimate of the gap, tells how many more it would take at the present rate.
Newton's method takes over when that costs more than its own prediction: three steps, and three for each decimal digit
(one for losses without corners; where a system is solved directly, two steps and half a one for the logistic loss, and
one in all for squares). It does so at once where several times as many examples as there are columns have a slope and
the curvature is not small: they are linked, whatever the rate is at first. Where they are few, as in data that can be
separated, sweeps are fast and Newton's systems ill conditioned. Costs are those of a typical machine, not of the one at
hand: the same data always take the same path.
Without the compiled core there are no sweeps.
"""

from __future__ import annotations

from math import exp, inf, log, log10
from typing import TYPE_CHECKING

import numpy as np

from minorant import kernels
from minorant.solvers.examples import NEAR
from minorant.solvers.few_rows import few_rows, newton_on_products
from minorant.solvers.newton import direct_cost, newton
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from minorant.certificate import Best
    from minorant.losses.scalar import Scalar
    from minorant.solvers.examples import Examples
    from minorant.solvers.newton import Outline

__all__ = ["dual_coordinates", "linear_model", "sweep_rules"]

_FIRST = 3  # sweeps of the first block
_BLIND = 4  # a third of the sweeps before a look that nothing promises
_HOPE = 1.5, 0.8  # of tol, for an excess that is worth the first look; for losses with corners, whose last sweeps are
# of few examples and cost less than a look does
_SURPRISE = 2.0  # times the excess: a gap above that is one of the bias, which the w of the dual point may close
_GROWTH = 0.5  # the next block is this share of all before it
_BLOCK = 1e9  # nanoseconds of a block at most: how long a user waits for a sign of life
_OVERHEAD = 1e5  # what a look at the gap costs however small the data are
_TINY = 4e5  # operations of a Newton step that nothing is worth saving
_SOON, _EASY = 14.0, 10.0  # sweeps that Newton's method may cost to be begun with; where sweeps are soon done
_LOGISTIC = 8.0, 7.0  # the same for the logistic loss
_BENT = 0.3  # the curvature below which they are, where no sample makes a better beginning
_DENSE, _CORNERS = 24.0, 8.0  # the same where data are dense, and there for losses with corners and few examples
_LEAST, _EACH = 300, 10  # examples of a sample, and for each unknown; so many times of them there are
_TALL, _TALLER = 16, 24  # where Newton's method begins with one: in dense data, in sparse
_SHORT, _PRODUCTS = 4e6, 1e8  # nanoseconds of a sweep, operations for the products of few rows, for a fit in one call
_LINKED = 10.0  # the curvature from which sweeps are slow where rows are linked
_FEWEST, _MOST = 200, 1000  # columns of such rows
_ROW = 40.0  # values of short ones
_PULLING = 3.0, 4.5  # examples with a slope for each column that show it; for losses with corners
_HARD = 20.0  # sweeps for each unit of curvature, where data are dense; half as many for losses with corners
_SLOWER = 2.0  # the rate of the sweeps falls with time, that of the logistic loss only where there is curvature, and
# may rise at once when the slopes at their bounds are found:
_TRY = 0.1  # sweeps that cost less than this share of Newton's method are made all the same: the first tell little
_AHEAD, _FEW = 2.0, 200.0  # no more is believed to be left than this many times those done, or than a few


def linear_model(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, float]]:
    """Candidates for the certificate, with the mu of the smoothing."""

    slower = 1.0 + (_SLOWER - 1.0) * e.bend / (1.0 + e.bend) if e.scalar.logistic else _SLOWER
    linked = e.bend >= _LINKED

    def newton_is_cheaper(sweeps: int, gap: float, rate: float, pulling: int) -> bool:
        if linked and pulling >= _pulling(e) * e.p:
            return True
        rest = slower * log(gap / tol) / rate if rate > 0 and tol > 0 else inf
        newton = _newton(e, gap, tol)
        tried = sweeps * _sweep(e) >= _TRY * newton
        return tried and min(rest, max(_AHEAD * sweeps, _FEW)) * _sweep(e) > newton

    if few_rows(e) and not _tiny(e):
        yield from newton_on_products(e, best, tol)
    elif kernels.native and not (_tiny(e) or e.bend >= _curved(e)):
        for candidates in dual_coordinates(e, best, tol, newton_is_cheaper):
            yield candidates, 0.0
    yield from newton(e, best, tol)


SweepRules = tuple[bool | int | float, ...]


def sweep_rules(e: Outline) -> SweepRules | None:
    """The rule as the core takes it (`SweepRules` of `cpp/whole_fit.hpp`); None where a single call is too long."""
    tiny = _tiny(e)
    few = few_rows(e) and not tiny
    a_sweep, a_step = _sweep(e), _newton_step(e)
    curved = 0.0 if tiny else _curved(e)
    if few and e.n * e.matrix.volume > _PRODUCTS:
        return None
    most = int(_BLOCK / a_sweep)
    if not few and curved > 0 and a_sweep > _SHORT:  # sweeps take longer than a call should
        if curved == inf:
            return None
        most = 0
    looks = (_FIRST, _BLIND, most, _GROWTH, _OVERHEAD / a_sweep, _hope(e.scalar), _SURPRISE, NEAR)
    return (few, *looks, _SLOWER, _TRY, _AHEAD, _FEW, _LINKED, _pulling(e), a_step / a_sweep, *_pace(e), curved)


def _tiny(e: Outline) -> bool:
    return direct_cost(e, e.n) <= _TINY


def _curved(e: Outline) -> float:
    """Newton's method comes first where the mean curvature is at least this."""
    f, sweeps = e.scalar, _newton(e, 1.0, 1e-3, at_once=True) / _sweep(e)
    if _dense(e):
        soon, hard = _DENSE if f.smooth or _tall(e, _TALL) else _CORNERS, _HARD if f.smooth else 0.5 * _HARD
        return 0.0 if sweeps <= soon else sweeps / hard
    soon, easy = _LOGISTIC if f.logistic else (_SOON, _EASY)
    if not f.smooth or sweeps > soon:
        return _LINKED if _linked(e) else inf
    return 0.0 if sweeps <= easy or _tall(e, _TALLER) else _BENT


def _tall(e: Outline, times: int) -> bool:
    """Examples abound: Newton's method begins with a sample of them."""
    return e.n >= times * max(_LEAST, _EACH * e.size)


def _linked(e: Outline) -> bool:
    """Many rows, some hundreds of columns. But for the logistic loss few of them may have a slope: more must be there,
    and short, so that steps are cheap."""
    most, few = (inf, 4) if e.scalar.logistic else (_ROW, 6)
    return e.scalar.smooth and e.matrix.volume <= most * e.n and _FEWEST <= e.p <= _MOST and e.n >= few * e.p


def _pulling(e: Outline) -> float:
    """So many examples with a slope, for each column, link each other in such a way that sweeps are slow."""
    f, (smooth, corners) = e.scalar, _PULLING
    if f.logistic or _dense(e) or e.p < _FEWEST or not (f.smooth or e.p <= _MOST):
        return inf
    return smooth if f.smooth else corners


def dual_coordinates(
    e: Examples, best: Best, tol: float, stop: Callable[[int, float, float, int], bool] = lambda *_: False
) -> Iterator[Candidates]:
    """Candidates whenever the excess of a sweep, an estimate of the gap, promises one within tol, and now and then.

    `stop` is asked now and then, with the sweeps so far, the relative gap, its logarithmic decrease in a sweep and how
    many examples have a slope.
    """
    t = e.t(best.alpha)
    w = -best.dual_image / e.lam
    hope = _hope(e.scalar)
    bias, enough, last, done, seen, seen_bias = 0.0, hope * tol * best.primal, best.gap, 0, 0, 0.0
    reached = inf  # J after the first block, more or less
    began, swept = best.relative_gap, kernels.SweptRows(eager=True)
    if e.scalar.bias and best.image.size:
        bias = float(e.problem.loss.intercept(best.image))
    while True:
        most = max(_FIRST, int(min(max(_GROWTH * done, _OVERHEAD / _sweep(e)), _BLOCK / _sweep(e))))
        bias, excess, count = e.sweeps(t, w, bias, most, enough, done, swept)
        if done == 0:
            reached = e.value(t, w, bias) + excess
            enough = hope * tol * min(best.primal, reached)
        rate = log(last / excess) / count if 0 < excess < last else 0.0 if excess else inf
        done, last, pulling = done + count, excess, int(np.count_nonzero(t))
        ending = stop(done, max(excess / min(best.primal, reached), tol), rate, pulling)
        promised = excess * exp(-rate) <= enough  # it is that before each step
        if ending or promised or done >= 3 * max(seen, _BLIND) or (done - seen) * _sweep(e) >= _BLOCK:
            if e.scalar.bias:
                image = e.A @ w
                alpha = e.on_plane(t, image, bias)
                v = e.A.T @ alpha
                e.problem.loss.expect(bias)
            else:
                alpha = e.scalar.c * t
                v = e.A.T @ alpha
                w = -v / e.lam  # sheds the rounding of the sweeps
                image = e.A @ w
            before, here = (best.w, best.image), (w.copy(), image)
            yield Candidates((here,), ((alpha, v),))
            if seen and best.relative_gap > tol:
                # The primal points of the sweeps are noisy: better ones lie between them.
                yield Candidates((e.between(*before, *here, (seen_bias, bias)),), ())
            if e.scalar.bias:
                t, w = e.t(alpha), -v / e.lam
                if promised and best.relative_gap > tol and best.gap > _SURPRISE * excess:  # it is another w now
                    yield Candidates(((w.copy(), e.A @ w),), ())
            enough = 0.95 * tol * best.primal * min(excess / best.gap, 1.3) if best.gap > 0 else 0.0
            seen, seen_bias, swept = done, bias, kernels.SweptRows()  # all rows are seen again
            average = log(began / best.relative_gap) / done if 0 < best.relative_gap < began else 0.0
            ending = ending or stop(done, max(best.relative_gap, tol), average, pulling)
        if ending:
            return


def _hope(f: Scalar) -> float:
    smooth, corners = _HOPE
    return smooth if f.smooth else corners


def _sweep(e: Outline) -> float:
    """Nanoseconds, more or less, of a sweep."""
    a_row, a_value = (40.0, 0.4) if _dense(e) else (25.0, 1.5)
    return a_value * e.matrix.volume + (a_row + 50.0 * e.scalar.logistic) * e.n


def _newton(e: Outline, gap: float, tol: float, *, at_once: bool = False) -> float:
    """The same of Newton's method."""
    steps, digits = _pace(e, at_once=at_once)
    steps += digits * log10(max(gap, tol, 1e-12) / max(tol, 1e-12))
    return steps * _newton_step(e, at_once=at_once) + _OVERHEAD


def _pace(e: Outline, *, at_once: bool = False) -> tuple[float, float]:
    """The steps of Newton's method, and how many more for each decimal digit."""
    direct = _by_cholesky(e, e.n) <= _by_iterations(e)
    if e.scalar.quadratic and direct:
        return 1.0, 0.0
    if e.scalar.logistic and direct and not at_once:
        return 2.0, 0.5
    return 3.0, 1.0 if e.scalar.smooth else 3.0  # corners make digits hard to come by


def _newton_step(e: Outline, *, at_once: bool = False) -> float:
    f = e.scalar
    # few examples are at a corner, or, after sweeps, get past one in a step, unless columns abound
    few = e.n > 4 * e.p and not (_steady(f) or (at_once and f.smooth))
    system = min(_by_cholesky(e, e.n // 4 if few else e.n), _by_iterations(e))
    return system + (0.2 if _dense(e) else 0.8) * e.matrix.volume + (60.0 if f.logistic else 25.0) * e.n


def _by_cholesky(e: Outline, band: int) -> float:
    # corners, in sparse data, take more steps than are predicted, which counts here
    return (0.17 if _dense(e) else 0.22 if e.scalar.smooth else 0.45) * direct_cost(e, band)


def _by_iterations(e: Outline) -> float:
    """Conjugate gradients: bends that jump make them slow, unless rows have all columns and so depend on each other."""
    steady = _steady(e.scalar)
    if _dense(e):
        many, a_value = (15.0, 0.4) if e.scalar.smooth else (40.0, 0.8)
    else:
        many, a_value = 40.0 if steady else 400.0, 1.6
    iteration = a_value * e.matrix.volume + 3.0 * e.size
    sample = 8 * e.size  # with a system of so many examples as preconditioner (`cpp/sampled_system.hpp`)
    if steady and e.n >= 2 * sample:
        return min(many * iteration, _by_cholesky(e, sample) + 10.0 * iteration)
    return many * iteration


def _steady(f: Scalar) -> bool:
    """Bends do not jump."""
    return f.logistic or f.quadratic


def _dense(e: Outline) -> bool:
    return e.matrix.volume == e.n * e.p

"""The minimum of J on a segment, where scores are known and a labeling costs no product with X.

    J(t) = λ/2 ‖w + t dw‖² + R(s + t ds),   0 ≤ t ≤ 1

The worst labeling at t is a line below R(s + t ds) along the segment. The lowest point of λ/2‖w + t dw‖² plus the
highest of the lines so far is a lower bound of J on the segment, and is where to look next, until the best J found is
near it.
Every labeling on the way is a cut. `LineSearch` serves every measure; for Fβ and G-mean the same steps are compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minorant import kernels
from minorant.kernels import dot, project_capped_simplex
from minorant.measures import FBeta, GMean
from minorant.solvers.labelings import Flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.kernels import WorstLabeling
    from minorant.solvers.labelings import Order, WholeSample

    Vector = NDArray[np.float64]

__all__ = ["CompiledLineSearch", "Flat", "LineSearch", "Search", "Trial", "line_search_of"]

_NOTHING = np.empty(0, dtype=np.int32), np.empty(0)


class Trial(NamedTuple):
    """The worst labeling at t: what it flips, and how its slopes in the scores differ from the trial before."""

    t: float
    value: float
    loss: float
    slope: float  # in b
    flips: Flips
    b: float  # flips of positives
    c: float  # and of negatives
    rows: Order  # examples whose slope changed; `whole`: that have a slope
    change: Vector
    whole: bool
    rising: bool  # whether J rises at t


class Flat(NamedTuple):
    """The worst table where all scores are equal."""

    value: float
    loss: float
    b: float
    c: float


class LineSearch:
    """For every measure."""

    order: Order | None = None  # of what is flipped

    def __init__(self, problem: WholeSample) -> None:
        self._problem = problem
        self._positive = problem.y > 0
        self._scores, self._target = np.zeros(problem.y.size), np.zeros(problem.y.size)
        self._last = np.zeros(problem.y.size)

    def stand(self, scores: Vector) -> float:
        """Begin at these scores; R there."""
        self._scores = scores
        self._here = self._problem.worst(scores)
        return self._here.value

    def here(self) -> Trial:
        """The labeling where it stands."""
        return self._trial(0.0, self._here, self._problem.gradient(self._here.marginals), rising=False)

    def flat(self, score: float) -> Flat:
        """Where all scores are this one."""
        worst = self._problem.worst(np.full(self._problem.y.size, score))
        z = worst.marginals
        return Flat(worst.value, worst.loss, float(z[self._positive].sum()), float(z[~self._positive].sum()))

    def along(
        self,
        target: Vector,
        bias: float,
        q: tuple[float, float, float],
        t: float,
        lowest: float,
        goal: float,
        most: int,
    ) -> tuple[list[Trial], int]:
        """At most so many trials on the way to the scores target + bias, the first at t, until J is known up to `goal`.

        λ/2‖w + t dw‖² is q₀ + q₁ t + q₂ t². Also: the trial that is best, or `most` where none is below `lowest`.
        """
        ds = target + bias - self._scores
        line = _Line(q)
        line.add(0.0, self._here.value, dot(self._problem.gradient(self._here.marginals), ds))
        trials: list[Trial] = []
        best = most
        while len(trials) < most:
            worst = self._problem.worst(self._scores + t * ds)
            g = self._problem.gradient(worst.marginals)
            rising = line.add(t, worst.value, dot(g, ds))
            trials.append(self._trial(t, worst, g, rising))
            value = line.regularizer(t) + worst.value
            if value < lowest:
                lowest, best = value, len(trials) - 1
                self._best = self._scores + t * ds, worst
            if not rising and t == 1.0:  # J falls all the way
                break
            before, (t, least) = t, line.lowest()
            if lowest - least <= goal or t == before:
                break
        return trials, best

    def take(self) -> None:
        """Go to the best trial of the last search."""
        self._scores, self._here = self._best

    def nearest(self, shares: Vector, pull: float, b: float, c: float) -> Vector:
        """Of what flips b positives and c negatives in all, the z nearest to shares - pull · y s."""
        wanted = shares - pull * self._problem.y * self._scores
        z = np.empty_like(shares)
        for own, total in ((self._positive, b), (~self._positive, c)):
            z[own] = project_capped_simplex(wanted[own], 1.0, total).x if total else 0.0
        return z

    def _trial(self, t: float, worst: WorstLabeling, g: Vector, rising: bool) -> Trial:
        z = worst.marginals
        whole = bool(np.count_nonzero(g) < np.count_nonzero(g != self._last))
        change = g if whole else g - self._last
        rows = np.flatnonzero(change)
        b, c = float(z[self._positive].sum()), float(z[~self._positive].sum())
        self._last = g
        return Trial(
            t, worst.value, worst.loss, float(g.sum()), Flips.pack(z), b, c,
            rows.astype(np.int32), change[rows], whole, rising,
        )  # fmt: skip


class CompiledLineSearch:
    """The same for Fβ and G-mean, the positives first."""

    def __init__(self, problem: WholeSample) -> None:
        positive = problem.y > 0
        n_pos, n = int(positive.sum()), problem.y.size
        self.order: Order | None = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)]).astype(
            np.int32
        )
        self._scale = 2.0 / n
        if isinstance(problem.measure, FBeta):
            self._core: Any = kernels.FSearch(self.order, n_pos, problem.measure.beta**2)
        else:
            self._core = kernels.GMeanSearch(self.order, n_pos)

    def stand(self, scores: Vector) -> float:
        """Begin at these scores; R there."""
        return float(self._core.stand(scores))

    def here(self) -> Trial:
        """The labeling where it stands."""
        return self._trial(*self._core.here())

    def flat(self, score: float) -> Flat:
        """Where all scores are this one."""
        return Flat(*self._core.flat(score))

    def along(
        self,
        target: Vector,
        bias: float,
        q: tuple[float, float, float],
        t: float,
        lowest: float,
        goal: float,
        most: int,
    ) -> tuple[list[Trial], int]:
        """See LineSearch."""
        found, best = self._core.along(target, bias, *q, t, lowest, goal, most)
        return [self._trial(*trial) for trial in found], best

    def _trial(self, t: float, value: float, loss: float, b: int, c: int, bits: Any, *change: Any) -> Trial:
        return Trial(t, value, loss, self._scale * (c - b), Flips(bits, *_NOTHING), b, c, *change)

    def take(self) -> None:
        """Go to the best trial of the last search."""
        self._core.take()

    def nearest(self, shares: Vector, pull: float, b: float, c: float) -> Vector:
        """Of what flips b positives and c negatives in all, the z nearest to shares - pull · y s."""
        z = shares.copy()
        self._core.nearest(pull, b, c, z)
        return z


Search = LineSearch | CompiledLineSearch


def line_search_of(problem: WholeSample) -> Search:
    """The compiled one where there is one."""
    compiled = kernels.native and isinstance(problem.measure, FBeta | GMean)
    return CompiledLineSearch(problem) if compiled else LineSearch(problem)


class _Line:
    """λ/2‖w + t dw‖² plus the highest of some lines in t, for 0 ≤ t ≤ 1."""

    def __init__(self, q: tuple[float, float, float]) -> None:
        self._q = q
        self._height, self._slope = np.empty(0), np.empty(0)
        self._end = 1.0

    def regularizer(self, t: Any) -> Any:
        """λ/2 ‖w + t dw‖²."""
        return self._q[0] + t * (self._q[1] + t * self._q[2])

    def add(self, t: float, value: float, slope: float) -> bool:
        """A line by its value and slope at t; whether the sum rises there."""
        self._height = np.append(self._height, value - slope * t)
        self._slope = np.append(self._slope, slope)
        rising = self._q[1] + 2.0 * self._q[2] * t + slope > 0
        if rising:
            self._end = min(self._end, t)
        return rising

    def lowest(self) -> tuple[float, float]:
        """Where the sum is lowest, which is where a parabola is or where two lines meet, and its value there."""
        h, s = self._height, self._slope
        rise = s[:, None] - s
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = (h - h[:, None]) / rise
            own = -(self._q[1] + s) / (2.0 * self._q[2])
        t = np.concatenate([meet[rise > 0], own, [0.0, self._end]])
        t = np.clip(t[np.isfinite(t)], 0.0, self._end)
        values = self.regularizer(t) + (h + s * t[:, None]).max(axis=1)
        best = int(values.argmin())
        return float(t[best]), float(values[best])

"""Cutting planes for the worst labeling of a whole sample.

    J(w, b) = λ/2 ‖w‖² + R(X w + b),     R(s) = max over labelings y' of  Δ(y') + ⟨g(y'), s⟩ ,   g = (y' - y)/n

A labeling with v = Xᵀ g and t = Σ g_i is a cut: Δ + ⟨v, w⟩ + t b ≤ R for every w, b. The minimum of λ/2‖w‖² plus the
highest of m cuts is a lower bound D of J, at a point (w, b) that `cuts.py` finds by duality.

Plain: the next cut is the labeling at that (w, b). With a line search (default): J is minimized on the segment from the
best point so far to (w, b), and every labeling on the way is a cut. An iteration is one product with X, and one with Xᵀ
or less: a labeling reads the rows where it differs from the one before.
Where D needs many cuts it gets averages of labelings, too: every 0 ≤ z ≤ 1 that flips b positives and c negatives in
all, in parts, is one of labelings with that table, of loss Δ(b, c); the z nearest to that of D, pulled by the scores.
A free b starts at the minimum of J(0, ·), with a labeling of either slope there, so that D is finite at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant.kernels import dot
from minorant.measures import ROCArea
from minorant.solvers.cuts import Cuts
from minorant.solvers.labelings import Flips, Labelings, WholeSample
from minorant.solvers.line_search import line_search_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from minorant.solvers.line_search import Search, Trial

    Vector = NDArray[np.float64]

__all__ = ["Bundle", "Flips", "Labelings", "WholeSample"]

_SEARCH = 0.01  # of the gap: how exact the line search is
_TRIALS = 14  # labelings of a line search
_MANY = 30  # cuts in use from which averages of labelings help more than they cost
_PULL = 1000.0  # μ in gaps, for such an average
_NEAR = 1e-3  # of the segment: labelings nearer than that may be none but the one that is known


class Step(NamedTuple):
    """The bounds after an iteration."""

    primal: float
    dual: float


class _Side(NamedTuple):
    """What is worst where all scores are equal: J, its slope in b, and how it becomes a cut."""

    value: float
    slope: float
    add: Callable[[], None]


class Bundle:
    """The cutting-plane method: `w`, `bias` and `primal` are of the best point, `law` and `dual` of the lower bound."""

    def __init__(
        self, problem: WholeSample, *, line_search: bool = True, start: tuple[Vector, float] | None = None
    ) -> None:
        self._problem = problem
        self._search = line_search_of(problem) if line_search else None
        self.w, self.bias = np.zeros(problem.A.shape[1]), 0.0
        self._cuts = Cuts(problem, self._search.order if self._search else None)
        self._guess = 1.0  # how far along the next segment to look first
        self._tables = not isinstance(problem.measure, ROCArea)  # a labeling is known by its table and the scores
        self.primal = self.trivial = self._begin()
        scores = np.full(problem.y.size, self.bias)
        self.law, self.dual = self._cuts.law(), -np.inf
        if self._search:
            self._search.stand(scores)
        if start is not None:
            self._go_to(*start)

    def _go_to(self, w: Vector, bias: float) -> None:
        """Begin somewhere else, if J is lower there."""
        scores = self._problem.scores(w) + bias
        if not self._search:
            worst = self._problem.worst(scores)
            self._take(w, bias, worst.value)
            self._cuts.add(worst.loss, worst.marginals)
            return
        risk = self._search.stand(scores)
        self._cuts.add_trial(self._search.here())
        if not self._take(w, bias, risk):
            self._search.stand(np.full(self._problem.y.size, self.bias))

    @property
    def partial(self) -> float:
        """Products with some of the rows only, in shares of all rows."""
        return self._problem.partial

    def steps(self) -> Iterator[Step]:
        """Iterate for ever."""
        while True:
            w, bias, lower = self._cuts.solve()
            if lower > self.dual:
                self.dual, self.law = lower, self._cuts.law()
            yield Step(self.primal, self.dual)
            self._cuts.drop()
            scores = self._problem.scores(w)
            if self._search:
                beyond = self._look(self._search, w, bias, scores)
                apart = self.primal - self.dual > 1e-14 * abs(self.primal)
                if beyond and apart and self._tables and self.law.weights.size > _MANY:
                    self._cuts.add_kept(beyond.loss, self._nearest(self._search, beyond))
                continue
            worst = self._problem.worst(scores + bias)
            self._take(w, bias, worst.value)
            self._cuts.add(worst.loss, worst.marginals)

    def _begin(self) -> float:
        """The first cuts, at w = 0 and, where b is free, at the b that is best with it; J there."""
        here = self._flat(0.0)
        if not self._problem.free:
            here.add()
            self._cuts.begin(np.ones(1))
            return here.value
        sides: dict[bool, tuple[float, _Side]] = {}  # slope > 0: b, labeling
        b, reach = 0.0, 1.0
        for _ in range(60):
            sides[here.slope > 0] = b, here
            if len(sides) < 2:
                b -= np.sign(here.slope) * reach if here.slope else -reach
                reach *= 4.0
            else:
                (low, left), (high, right) = sides[False], sides[True]
                b = low + (right.value - left.value - right.slope * (high - low)) / (left.slope - right.slope)
                lowest = left.value + left.slope * (b - low)
                if min(left.value, right.value) - lowest <= 1e-9 * abs(lowest) or not low < b < high:
                    break
            here = self._flat(b)
        if len(sides) < 2:
            raise ArithmeticError("no labeling bounds the bias from one of the two sides")
        for _, side in sides.values():
            side.add()
        slopes = np.abs(self._cuts.slopes)
        self._cuts.begin(slopes[::-1] / slopes.sum() if slopes.any() else np.array([0.5, 0.5]))
        self.bias, best = min(sides.values(), key=lambda side: side[1].value)
        return best.value

    def _flat(self, score: float) -> _Side:
        """The labeling where all scores are equal; with a line search, the average of all with its table: as bad."""
        problem, cuts = self._problem, self._cuts
        n = problem.y.size
        if self._search and self._tables:
            value, loss, b, c = self._search.flat(score)
            return _Side(value, 2.0 * (c - b) / n, lambda: cuts.add_even(loss, b, c))
        worst = problem.worst(np.full(n, score))
        slope = float(problem.gradient(worst.marginals).sum())
        return _Side(worst.value, slope, lambda: cuts.add(worst.loss, worst.marginals))

    def _take(self, w: Vector, bias: float, risk: float) -> bool:
        """Move to a point, if J is lower there."""
        value = 0.5 * self._problem.lam * dot(w, w) + risk
        if value >= self.primal:
            return False
        self.w, self.bias, self.primal = w, bias, value
        return True

    def _look(self, search: Search, w: Vector, bias: float, scores: Vector) -> Trial | None:
        """Minimize J on the segment to (w, b), with cuts on the way; the labeling at or just beyond the minimum."""
        lam, dw = self._problem.lam, w - self.w
        q = 0.5 * lam * dot(self.w, self.w), lam * dot(self.w, dw), 0.5 * lam * dot(dw, dw)
        goal = _SEARCH * (self.primal - self.dual)
        trials, best = search.along(scores, bias, q, self._guess, self.primal, goal, _TRIALS)
        for trial in trials:
            self._cuts.add_trial(trial)
        t = trials[best].t if best < len(trials) else 0.0
        if t and self._take(self.w + t * dw, self.bias + t * (bias - self.bias), trials[best].value):
            search.take()
        # Without progress look nearer, and now and then at the end, which closes the gap in the end.
        near = 2.0 * t if t else 0.5 * self._guess
        self._guess = min(1.0, near) if near > _NEAR else 1.0
        beyond = [trial for trial in trials if trial.rising]
        return beyond[-1] if beyond else trials[best] if t else None

    def _nearest(self, search: Search, trial: Trial) -> Vector:
        """Of what has the table of that labeling, max over z of ⟨z, gains⟩ - μ/2 ‖z - z̄‖², with z̄ that of the bound."""
        n = self._problem.y.size
        mu = _PULL * (self.primal - self.dual) / n
        return search.nearest(self.law.kept_marginals(n), 2.0 / n / mu, trial.b, trial.c)

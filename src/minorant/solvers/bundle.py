"""Cutting planes for the worst labeling of a whole sample.

    J(w, b) = λ/2 ‖w‖² + R(X w + b),     R(s) = max over labelings y' of  Δ(y') + ⟨g(y'), s⟩ ,   g = (y' - y)/n

A labeling with v = Xᵀ g and t = Σ g_i is a cut: Δ + ⟨v, w⟩ + t b ≤ R for every w, b. The minimum of λ/2‖w‖² plus the
highest of m cuts is a lower bound of J, by duality

    D = max over β ≥ 0, Σ β = 1, Σ β t = 0 of  Σ β Δ - ‖Σ β v‖²/2λ ,   at  w = -Σ β v/λ,  b = multiplier of Σ β t = 0.

Plain: the next cut is the labeling at that (w, b). With a line search (default): J is minimized on the segment from the
best point so far to (w, b), where scores are known and a labeling costs no product with X; lines below J along the
segment tell when to stop, and every labeling on the way is a cut. An iteration is one product with X and one with Xᵀ;
the other cuts read the rows where they differ from the one before.
Where D needs many cuts it gets averages of labelings, too: every 0 ≤ z ≤ 1 that flips b positives and c negatives in
all, in parts, is one of labelings with that table, of loss Δ(b, c); the z nearest to that of D, pulled by the scores.
A free b starts at the minimum of J(0, ·), with a labeling of either slope there, so that D is finite at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minorant.kernels import dense_dot, dense_tdot, dot, multivariate_max, project_capped_simplex
from minorant.measures import ROCArea
from minorant.operators import stored
from minorant.solvers.simplex_qp import maximize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.kernels import WorstLabeling
    from minorant.measures import Measure
    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]

__all__ = ["Bundle", "Flips", "Labelings", "WholeSample"]

_SEARCH = 0.01  # of the gap: how exact the line search is
_TRIALS = 14  # labelings of a line search
_MANY = 30  # cuts in use from which averages of labelings help more than they cost
_PULL = 300.0  # μ in gaps, for such an average
_NEAR = 1e-3  # of the segment: labelings nearer than that may be none but the one that is known
_IDLE = 25  # iterations after which a cut that the lower bound does not use is dropped


class WholeSample:
    """R(X w + b) for labels y = ±1, with rows of X repeated where `index` says so."""

    def __init__(self, A: LinearMap, y: Vector, measure: Measure, lam: float, free: bool, index: Any = None) -> None:
        self.A, self.measure, self.lam, self.free = A, measure, lam, free
        self._index = index
        self.partial = 0.0  # products with some rows only, in shares of all rows
        self.y = y if index is None else y[index]
        self._slopes = self.worst(np.zeros(self.y.size)).sample.slopes(isinstance(measure, ROCArea))

    def worst(self, scores: Vector) -> WorstLabeling:
        """The worst labeling at these scores, one for each repetition."""
        return multivariate_max(scores, self.y, self.measure)

    def gradient(self, flips: Vector) -> Vector:
        """The slopes g in the scores of what flips so much of each example."""
        return self._slopes * flips

    def scores(self, w: Vector) -> Vector:
        """X w, repeated."""
        rows = self.A @ w
        return rows if self._index is None else rows[self._index]

    def image(self, g: Vector) -> Vector:
        """Xᵀ g."""
        return self.A.T @ self._rows(g)

    def image_near(self, g: Vector, other: Vector, its_image: Vector) -> Vector:
        """Xᵀ g from that of another: the rows where they differ are read."""
        change = self._rows(g - other)
        share = np.count_nonzero(change) / change.size
        if share > 0.5:
            return self.image(g)
        self.partial += share
        return its_image + stored(self.A).tdot(change)

    def _rows(self, g: Vector) -> Vector:
        if self._index is None:
            return g
        return np.bincount(self._index, weights=g, minlength=self.A.shape[0]).astype(np.float64)


class Flips(NamedTuple):
    """The flips of an example, from 0 to 1, in little memory: bits for the ones, and what is between 0 and 1."""

    ones: NDArray[np.uint8]
    where: NDArray[np.int32]
    values: Vector

    @classmethod
    def pack(cls, z: Vector) -> Flips:
        """All of z."""
        where = np.flatnonzero((z > 0) & (z < 1))
        return cls(np.packbits(z >= 1), where.astype(np.int32), z[where])

    def unpack(self, n: int) -> Vector:
        """The z of n examples."""
        z = np.unpackbits(self.ones, count=n).astype(np.float64)
        z[self.where] = self.values
        return z


class Step(NamedTuple):
    """The bounds after an iteration."""

    primal: float
    dual: float


@dataclass(frozen=True)
class Labelings:
    """A law of labelings, or of averages of labelings with one table: weights, losses, and what each flips."""

    weights: Vector
    losses: Vector
    flips: tuple[Flips, ...]

    def marginals(self, n: int) -> Vector:
        """The probability that an example is flipped."""
        total = np.zeros(n)
        for weight, flips in zip(self.weights, self.flips, strict=True):
            total += weight * flips.unpack(n)
        return total


class _Cuts:
    """The cuts, their Gram matrix, and the law β of the lower bound."""

    def __init__(self, problem: WholeSample) -> None:
        self._problem = problem
        self._V = np.empty((8, problem.A.shape[1]))
        self._gram = np.empty((8, 8))
        self.losses, self.slopes, self.beta = np.empty(0), np.empty(0), np.empty(0)
        self._idle = np.empty(0, dtype=np.int64)
        self.flips: list[Flips] = []
        self._last = np.empty(0)  # the slopes of the last cut

    def add(self, loss: float, z: Vector, g: Vector, near: bool = False) -> None:
        """What flips z of each example, with the slopes g in the scores; `near` the cut before."""
        m = self.losses.size
        if m == len(self._V):
            self._V = np.concatenate([self._V, np.empty_like(self._V)])
            self._gram = np.pad(self._gram, (0, m))
        image = self._problem.image_near(g, self._last, self._V[m - 1]) if near else self._problem.image(g)
        self._V[m], self._last = image, g
        self._gram[m, : m + 1] = self._gram[: m + 1, m] = dense_dot(self._V[: m + 1], image, 1)
        self.losses = np.append(self.losses, loss)
        self.slopes = np.append(self.slopes, g.sum())
        self.beta = np.append(self.beta, 0.0)
        self._idle = np.append(self._idle, 0)
        self.flips.append(Flips.pack(z))

    def solve(self) -> tuple[Vector, float, float]:
        """w and b where the cuts are lowest together with λ/2‖w‖², and that value."""
        m, lam = self.losses.size, self._problem.lam
        equations = np.ones((1, m)) if not self._problem.free else np.stack([np.ones(m), self.slopes])
        r = np.array([1.0, 0.0])[: len(equations)]
        self.beta, nu = maximize(self._gram[:m, :m] / lam, self.losses, equations, r, self.beta)
        v = dense_tdot(self._V[:m], self.beta, 1)
        lower = float(self.beta @ self.losses) - dot(v, v) / (2.0 * lam)
        self._idle = np.where(self.beta > 0, 0, self._idle + 1)
        return -v / lam, -float(nu[1]) if self._problem.free else 0.0, lower

    def drop(self) -> None:
        keep = np.flatnonzero(self._idle < _IDLE)
        m = keep.size
        if m > 0.8 * self.losses.size:  # not for a few: what is left moves
            return
        self._V[:m], self._gram[:m, :m] = self._V[keep], self._gram[np.ix_(keep, keep)]
        self.losses, self.slopes, self.beta = self.losses[keep], self.slopes[keep], self.beta[keep]
        self._idle, self.flips = self._idle[keep], [self.flips[j] for j in keep]

    def law(self) -> Labelings:
        used = np.flatnonzero(self.beta)
        return Labelings(self.beta[used], self.losses[used], tuple(self.flips[j] for j in used))


class Bundle:
    """The cutting-plane method: `w`, `bias` and `primal` are of the best point, `law` and `dual` of the lower bound."""

    def __init__(
        self, problem: WholeSample, *, line_search: bool = True, start: tuple[Vector, float] | None = None
    ) -> None:
        self._problem, self._line_search = problem, line_search
        self.w, self.bias = np.zeros(problem.A.shape[1]), 0.0
        self._cuts = _Cuts(problem)
        self._scores = np.zeros(problem.y.size)
        self._guess = 1.0  # how far along the next segment to look first
        self._worst = self._begin()
        self.primal = self.trivial = self._worst.value
        self.law, self.dual = self._cuts.law(), -np.inf
        if start is not None:
            scores = problem.scores(start[0]) + start[1]
            worst = problem.worst(scores)
            value = 0.5 * problem.lam * dot(start[0], start[0]) + worst.value
            self._add(worst)
            if value < self.primal:
                self.w, self.bias, self.primal = start[0], start[1], value
                self._scores, self._worst = scores, worst

    @property
    def partial(self) -> float:
        """Products with some of the rows only, in shares of all rows."""
        return self._problem.partial

    def steps(self) -> Iterator[Step]:
        """Iterate for ever."""
        problem = self._problem
        while True:
            w, bias, lower = self._cuts.solve()
            if lower > self.dual:
                self.dual, self.law = lower, self._cuts.law()
            yield Step(self.primal, self.dual)
            self._cuts.drop()
            scores = problem.scores(w) + bias
            if self._line_search:
                beyond = self._search(w, bias, scores)
                apart = self.primal - self.dual > 1e-14 * abs(self.primal)
                if self.law.weights.size > _MANY and apart and not beyond.pairs:
                    z = self._nearest(beyond)
                    self._cuts.add(beyond.loss, z, problem.gradient(z))
                continue
            worst = problem.worst(scores)
            self._take(1.0, w - self.w, bias - self.bias, scores - self._scores, worst)
            self._add(worst)

    def _add(self, worst: WorstLabeling, even: bool = False) -> None:
        """The labeling; or the average of all with its table, which is as bad where scores are equal."""
        z = worst.marginals
        if even and not worst.pairs:
            positive = self._problem.y > 0
            z = np.where(positive, z[positive].mean(), z[~positive].mean() if not positive.all() else 0.0)
        self._cuts.add(worst.loss, z, self._problem.gradient(z))

    def _begin(self) -> WorstLabeling:
        """The first cuts, at w = 0 and, where b is free, at the b that is best with it."""
        problem, zeros = self._problem, self._scores
        worst = problem.worst(zeros)
        if not problem.free:
            self._add(worst, even=self._line_search)
            self._cuts.beta[:] = 1.0
            return worst
        sides: dict[bool, tuple[float, WorstLabeling]] = {}  # slope > 0: b, labeling
        b, reach = 0.0, 1.0
        for _ in range(60):
            slope = self._slope(worst)
            sides[slope > 0] = b, worst
            if len(sides) < 2:
                b -= np.sign(slope) * reach if slope else -reach
                reach *= 4.0
            else:
                (low, left), (high, right) = sides[False], sides[True]
                t_left, t_right = self._slope(left), self._slope(right)
                b = low + (right.value - left.value - t_right * (high - low)) / (t_left - t_right)
                lowest = left.value + t_left * (b - low)
                if min(left.value, right.value) - lowest <= 1e-9 * abs(lowest) or not low < b < high:
                    break
            worst = problem.worst(zeros + b)
        if len(sides) < 2:
            raise ArithmeticError("no labeling bounds the bias from one of the two sides")
        for _, cut in sides.values():
            self._add(cut, even=self._line_search)
        slopes = np.abs(self._cuts.slopes)
        self._cuts.beta = slopes[::-1] / slopes.sum() if slopes.any() else np.array([0.5, 0.5])
        self.bias, best = min(sides.values(), key=lambda side: side[1].value)
        self._scores = zeros + self.bias
        return best

    def _slope(self, worst: WorstLabeling) -> float:
        """In b."""
        return float(self._problem.gradient(worst.marginals).sum())

    def _take(self, t: float, dw: Vector, db: float, ds: Vector, worst: WorstLabeling) -> None:
        """Move to the point at t on the segment, if J is lower there."""
        w = self.w + t * dw
        value = 0.5 * self._problem.lam * dot(w, w) + worst.value
        if value < self.primal:
            self.w, self.bias, self.primal, self._worst = w, self.bias + t * db, value, worst
            self._scores = self._scores + t * ds

    def _search(self, w: Vector, bias: float, scores: Vector) -> WorstLabeling:
        """Minimize J on the segment to (w, b), with cuts on the way; the labeling just beyond the minimum."""
        problem = self._problem
        dw, db, ds = w - self.w, bias - self.bias, scores - self._scores
        line = _Line(problem.lam, self.w, dw)
        line.add(0.0, self._worst.value, dot(problem.gradient(self._worst.marginals), ds))
        best, beyond = (0.0, self.primal, self._worst), None
        t, goal = self._guess, _SEARCH * (self.primal - self.dual)
        for trial in range(_TRIALS):
            worst = problem.worst(self._scores + t * ds)
            g = problem.gradient(worst.marginals)
            self._cuts.add(worst.loss, worst.marginals, g, near=trial > 0)
            rising = line.add(t, worst.value, dot(g, ds))
            value = line.regularizer(t) + worst.value
            if value < best[1]:
                best = t, value, worst
            if rising:
                beyond = worst
            elif t == 1.0:  # J falls all the way
                break
            last, (t, lowest) = t, line.lowest()
            if best[1] - lowest <= goal or t == last:
                break
        self._take(best[0], dw, db, ds, best[2])
        # Without progress look nearer, and now and then at the end, which closes the gap in the end.
        near = 2.0 * best[0] if best[0] else 0.5 * self._guess
        self._guess = min(1.0, near) if near > _NEAR else 1.0
        return beyond or best[2]

    def _nearest(self, worst: WorstLabeling) -> Vector:
        """Of what has the table of that labeling, max over z of ⟨z, gains⟩ - μ/2 ‖z - z̄‖², with z̄ that of the bound."""
        problem = self._problem
        n = problem.y.size
        mu = _PULL * (self.primal - self.dual) / n
        pulled = self.law.marginals(n) - (2.0 / n / mu) * problem.y * self._scores
        z = np.empty(n)
        for own in (problem.y > 0, problem.y < 0):
            total = float(np.round(worst.marginals[own].sum()))
            z[own] = project_capped_simplex(pulled[own], 1.0, total).x if total else 0.0
        return z


class _Line:
    """λ/2‖w + t dw‖² plus the highest of some lines in t, for 0 ≤ t ≤ 1."""

    def __init__(self, lam: float, w: Vector, dw: Vector) -> None:
        self._q = 0.5 * lam * dot(w, w), lam * dot(w, dw), 0.5 * lam * dot(dw, dw)
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

"""The cuts of a bundle: Δ_j + ⟨v_j, w⟩ + t_j b for labelings j, with v = Xᵀ g, and the law β of the lower bound

D = max over β ≥ 0, Σ β = 1, Σ β t = 0 of  Σ β Δ - ‖Σ β v‖²/2λ ,   at  w = -Σ β v/λ,  b = multiplier of Σ β t = 0.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from minorant.kernels import dense_tdot, dot, gram_rows
from minorant.solvers.labelings import Flips, Labelings
from minorant.solvers.simplex_qp import maximize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.solvers.labelings import Order, WholeSample
    from minorant.solvers.line_search import Trial

    Vector = NDArray[np.float64]

__all__ = ["Cuts"]

_ROOM = 64  # cuts, before what is kept of them moves
_IDLE = 12  # iterations after which a cut that the lower bound does not use is dropped


class Cuts:
    """The cuts, their Gram matrix, and the law β of the lower bound. What they flip is kept in `order`."""

    def __init__(self, problem: WholeSample, order: Order | None) -> None:
        self._problem, self._order = problem, order
        self._size = self._compared = 0  # cuts, and how many of them are in the Gram matrix
        self._V = np.empty((_ROOM, problem.A.shape[1]))  # memory is used as it is written
        self._gram = np.empty((_ROOM, _ROOM))
        self._losses, self._slopes, self._beta, self._idle = np.empty((4, _ROOM))
        self._flips: list[Flips] = []
        self._image = np.zeros(problem.A.shape[1])  # of the last trial; before the first, of no flips
        self._known = False  # whether that labeling is a cut

    def add(self, loss: float, z: Vector) -> None:
        """What flips z of each example."""
        g = self._problem.gradient(z)
        kept = z if self._order is None else z[self._order]
        self._append(loss, float(g.sum()), Flips.pack(kept), self._problem.image(g))

    def add_even(self, loss: float, b: float, c: float) -> None:
        """The average of all labelings with that table."""
        problem = self._problem
        n, (n_pos, n_neg) = problem.y.size, problem.counts
        up, down = b / n_pos, c / max(n_neg, 1)
        z = np.where((problem.y if self._order is None else problem.y[self._order]) > 0, up, down)
        with np.errstate(over="ignore", invalid="ignore"):  # scores will say so
            image = (2.0 / n) * (down * self._sums[1] - up * self._sums[0])
        self._append(loss, 2.0 * (c - b) / n, Flips.pack(z), image)

    @cached_property
    def _sums(self) -> tuple[Vector, Vector]:
        """Of the rows of positives, and of those of negatives."""
        positive = self._problem.y > 0
        return self._problem.image(positive.astype(np.float64)), self._problem.image((~positive).astype(np.float64))

    def add_kept(self, loss: float, kept: Vector) -> None:
        """The same, in the order in which it is kept."""
        z = kept
        if self._order is not None:
            z = np.empty_like(kept)
            z[self._order] = kept
        self.add(loss, z)

    def add_trial(self, trial: Trial) -> None:
        """The labeling of a line search; it tells what changed since the one before."""
        problem = self._problem
        n = problem.y.size
        if trial.rows.size == 0 and not trial.whole and self._known:
            return
        if trial.rows.size > 0.5 * n:
            g = np.zeros(n)
            g[trial.rows] = trial.change
            image = problem.image(g)
            self._image = image if trial.whole else self._image + image
        else:
            base = np.zeros_like(self._image) if trial.whole else self._image
            self._image = problem.image_from(base, trial.rows, trial.change)
        self._append(trial.loss, trial.slope, trial.flips, self._image)
        self._known = True

    def _append(self, loss: float, slope: float, flips: Flips, image: Vector) -> None:
        m = self._size
        if m == len(self._V):
            self._V = np.concatenate([self._V, np.empty_like(self._V)])
            self._gram = np.pad(self._gram, (0, m))
            kept = self._losses, self._slopes, self._beta, self._idle
            self._losses, self._slopes, self._beta, self._idle = (np.pad(values, (0, m)) for values in kept)
        self._V[m] = image
        self._losses[m], self._slopes[m], self._beta[m], self._idle[m] = loss, slope, 0.0, 0.0
        self._flips.append(flips)
        self._size += 1

    @property
    def slopes(self) -> Vector:
        """The slopes of the cuts in b."""
        return self._slopes[: self._size]

    def begin(self, beta: Vector) -> None:
        """A feasible law to start from."""
        self._beta[: self._size] = beta

    def solve(self) -> tuple[Vector, float, float]:
        """w and b where the cuts are lowest together with λ/2‖w‖², and that value."""
        m, lam, losses, slopes = self._size, self._problem.lam, self._losses[: self._size], self.slopes
        new = slice(self._compared, m)
        self._gram[new, :m] = gram_rows(self._V[:m], self._compared)
        self._gram[:m, new] = self._gram[new, :m].T
        self._compared = m
        equations = np.ones((1, m)) if not self._problem.free else np.stack([np.ones(m), slopes])
        r = np.array([1.0, 0.0])[: len(equations)]
        beta, nu = maximize(self._gram[:m, :m] / lam, losses, equations, r, self._beta[:m])
        self._beta[:m] = beta
        v = dense_tdot(self._V[:m], beta, 1)
        lower = dot(beta, losses) - dot(v, v) / (2.0 * lam)
        self._idle[:m] = np.where(beta > 0, 0.0, self._idle[:m] + 1.0)
        return -v / lam, -float(nu[1]) if self._problem.free else 0.0, lower

    def drop(self) -> None:
        """Forget the cuts that have long been idle."""
        keep = np.flatnonzero(self._idle[: self._size] < _IDLE)
        m = keep.size
        if m > 0.8 * self._size:  # not for a few: what is left moves
            return
        self._known = False  # that labeling may be among them
        for values in (self._V, self._losses, self._slopes, self._beta, self._idle):
            values[:m] = values[keep]
        self._gram[:m, :m] = self._gram[np.ix_(keep, keep)]
        self._flips = [self._flips[j] for j in keep]
        self._size = self._compared = m

    def law(self) -> Labelings:
        """The labelings that the lower bound uses."""
        used = np.flatnonzero(self._beta[: self._size])
        return Labelings(self._beta[used], self._losses[used], tuple([self._flips[j] for j in used]), self._order)

"""The entropic law of labelings for a loss Δ(b, c), by product trees on a few rectangles of tables.

P(y') ∝ exp(κ Δ(b, c) + Σ flipped t_i), so that a table has the mass e₊(b) e₋(c) exp(κ Δ(b, c)), with e± the symmetric
sums of exp(t). Tilted by θ, a class becomes independent coins, e(b) = exp(K(θ) - θ b) P_θ(B = b), and where P_θ is not
tiny the tree of `PoissonTree` knows it to rounding. A tile is a rectangle of such b and c for one pair of tilts.

Δ is convex in b, so there may be several modes: tiles are laid where the bound of `_chernoff.py` is largest, until the
bound of all tables outside the tiles sums to next to nothing. Missing, as a share of the mass found, are at most
    inside:   (dropped₊ + dropped₋) · max exp(ℓ) of a tile, ℓ its log-weight beside the coins;
    outside:  Σ over the rectangles between the points of the two bounds of (tables in it) · max of the bound.
On a rectangle that bound is convex in b, so largest at an end; in c it is convex too (G-mean), or concave (Fβ), where
it exceeds its values at the ends by at most what its tangents there allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from minorant._native import core_or
from minorant.kernels import _numpy
from minorant.kernels._chernoff import Envelope, Symmetric
from minorant.measures import FBeta, GMean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant import _core

    Vector = NDArray[np.float64]

__all__ = ["Law", "table_law"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)

_OUTSIDE = 1e-13  # share of the mass that may stay outside the tiles
_TILES, _REFINEMENTS = 40, 6


@dataclass
class Law:
    """What has been found: log Σ of the masses, E[Δ], the flip probabilities of both classes, the share missing."""

    log_mass: float = -np.inf
    loss: float = 0.0
    pos: Vector = field(default_factory=lambda: np.empty(0))
    neg: Vector = field(default_factory=lambda: np.empty(0))
    missing: float = 0.0

    def add(self, log_mass: float, loss: float, pos: Vector, neg: Vector, missing: float) -> None:
        """Mix with another part of the law."""
        total = float(np.logaddexp(self.log_mass, log_mass))
        old, new = float(np.exp(self.log_mass - total)), float(np.exp(log_mass - total))
        self.pos = old * self.pos + new * pos if old else pos
        self.neg = old * self.neg + new * neg if old else neg
        self.loss = old * self.loss + new * loss
        self.missing = old * self.missing + new * missing
        self.log_mass = total


def table_law(
    which: FBeta | GMean,
    t: tuple[Vector, Vector],
    ordered: tuple[Vector, Vector],
    kappa: float,
    trim: float,
    start: tuple[int, int],
) -> Law:
    """The law of labelings for the log-odds t of flips, also sorted; `start` is a table to look at first."""
    return _Search(which, t, ordered, kappa, trim).run(start)


class _Search:
    def __init__(
        self,
        which: FBeta | GMean,
        t: tuple[Vector, Vector],
        ordered: tuple[Vector, Vector],
        kappa: float,
        trim: float,
    ) -> None:
        self.which, self.t, self.kappa, self.trim = which, t, kappa, trim
        self.sums = Symmetric(ordered[0]), Symmetric(ordered[1])
        self.sizes = t[0].size, t[1].size
        self.law = Law()
        self.tiles: list[tuple[float, float, float, float]] = []  # b₁, b₂, c₁, c₂

    def run(self, start: tuple[int, int]) -> Law:
        centers = [self.sums[0].tilt(start[0])], [self.sums[1].tilt(start[1])]
        refined, outside = 0, np.inf
        for _ in range(_TILES * (_REFINEMENTS + 1)):
            bounds = self.sums[0].envelope(centers[0]), self.sums[1].envelope(centers[1])
            outside, table = self._outside(bounds)
            if outside - self.law.log_mass <= np.log(_OUTSIDE) or len(self.tiles) == _TILES:
                break
            loose = max(bounds[0].looseness(table[0]), bounds[1].looseness(table[1]))
            tilts = self.sums[0].tilt(table[0]), self.sums[1].tilt(table[1])
            if refined < _REFINEMENTS and loose > 2.0:
                refined += 1
            else:
                refined = 0
                self._lay_tile(tilts)
            centers[0].append(tilts[0])
            centers[1].append(tilts[1])
        self.law.missing += float(np.exp(min(outside - self.law.log_mass, 700.0)))
        return self.law

    def _outside(self, bounds: tuple[Envelope, Envelope]) -> tuple[float, tuple[int, int]]:
        """The log of a bound of all mass outside the tiles, and a table where it is large."""
        points = []
        for side in (0, 1):
            ends = [v for tile in self.tiles for v in (tile[2 * side] - 0.5, tile[2 * side + 1] + 0.5)]
            both = np.concatenate([bounds[side].b, np.clip(ends, 0.0, float(self.sizes[side]))])
            points.append(np.unique(both))
        B, C = points
        top = bounds[0].at(B)[:, None] + bounds[1].at(C) + self.kappa * self._loss(B[:, None], C)
        corner = np.maximum(top[:, :-1], top[:, 1:]) + self.kappa * self._excess(B[:, None], C)
        bound = np.maximum(corner[:-1], corner[1:])
        counts = [np.floor(x[1:]) - np.ceil(x[:-1]) + 1.0 for x in points]
        tables = np.maximum(counts[0], 0.0)[:, None] * np.maximum(counts[1], 0.0)
        b, c = 0.5 * (B[1:] + B[:-1])[:, None], 0.5 * (C[1:] + C[:-1])
        for b1, b2, c1, c2 in self.tiles:
            tables[(b > b1 - 0.5) & (b < b2 + 0.5) & (c > c1 - 0.5) & (c < c2 + 0.5)] = 0.0
        with np.errstate(divide="ignore"):
            mass = bound + np.log(tables)
        j, i = np.unravel_index(int(np.argmax(mass)), mass.shape)
        largest = float(mass[j, i])
        if largest == -np.inf:
            return -np.inf, (0, 0)
        near = top[j : j + 2, i : i + 2]
        dj, di = np.unravel_index(int(np.argmax(near)), near.shape)
        table = tuple(
            int(np.clip(np.rint(x[k + d]), np.ceil(x[k]), np.floor(x[k + 1]))) for x, k, d in ((B, j, dj), (C, i, di))
        )
        return largest + float(np.log(np.exp(mass - largest).sum())), (table[0], table[1])

    def _loss(self, b: Vector, c: Vector) -> Vector:
        return self.which.loss(b, c, *self.sizes)

    def _excess(self, b: Vector, c: Vector) -> Vector:
        """How much Δ may exceed its chord between neighboring c: with slopes d ≥ s ≥ d' of tangents and chord."""
        if isinstance(self.which, GMean):
            return np.zeros((b.shape[0], c.size - 1))
        square = self.which.beta * self.which.beta
        slope = (1.0 + square) * (self.sizes[0] - b) / np.square((1.0 + square) * self.sizes[0] - b + c)
        chord = np.diff(self._loss(b, c), axis=1) / np.diff(c)
        left, right = np.maximum(slope[:, :-1] - chord, 0.0), np.maximum(chord - slope[:, 1:], 0.0)
        return np.asarray(left * right / np.maximum(left + right, 1e-300) * np.diff(c))

    def _lay_tile(self, tilts: tuple[float, float]) -> None:
        pos, neg = (_Tilted(t, theta, self.trim) for t, theta in zip(self.t, tilts, strict=True))
        covered = np.array(self.tiles, dtype=np.float64).ravel()
        n_pos, n_neg = self.sizes
        p, q, b, c = pos.law(), neg.law(), pos.center, neg.center
        if isinstance(self.which, FBeta):
            found, *weights = _core.couple_f(
                self.which.beta**2, n_pos, n_neg, self.kappa,
                p, pos.ends[0], b, pos.theta, q, neg.ends[0], c, neg.theta, covered,
            )  # fmt: skip
        else:
            found, *weights = _core.couple_gmean(
                n_pos, n_neg, self.kappa, p, pos.ends[0], b, pos.theta, q, neg.ends[0], c, neg.theta, covered
            )
        self.tiles.append((*pos.ends, *neg.ends))
        log_scale, total, rise, largest = found
        if total == 0.0:
            return
        loss = float(self._loss(np.array(b), np.array(c)))
        log_mass = self.kappa * loss + log_scale + float(np.log(total)) + pos.log_sum + neg.log_sum
        inside = (pos.tree.dropped + neg.tree.dropped) * float(np.exp(min(largest - log_scale, 700.0))) / total
        small = weights[0].size * weights[1].size * float(np.exp(-75.0))
        flips = pos.flips(weights[0] / total), neg.flips(weights[1] / total)
        self.law.add(log_mass, loss + rise / total, *flips, inside + small)


class _Tilted:
    """A class as coins, at one tilt, and the window of counts that are likely enough to be known to rounding."""

    def __init__(self, t: Vector, theta: float, trim: float) -> None:
        self.tree = _core.PoissonTree(t + theta, trim)
        self._law = self.tree.law
        well = np.flatnonzero(self._law >= trim**0.375 * self._law.max())
        self._window = slice(int(well[0]), int(well[-1]) + 1)
        self.ends = float(self.tree.first + well[0]), float(self.tree.first + well[-1])
        self.theta, self.center = theta, float(self.tree.first + int(np.argmax(self._law)))
        self.log_sum = self.tree.log_partition - theta * self.center

    def law(self) -> Vector:
        """P(count) on the window."""
        return np.ascontiguousarray(self._law[self._window])

    def flips(self, weight: Vector) -> Vector:
        """E[flip weight(count)] of each example."""
        r = np.zeros(self._law.size)
        r[self._window] = weight
        return self.tree.marginals(r)

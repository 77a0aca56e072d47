"""The law of the number of heads among independent coins, and of each coin given it, in plain NumPy.

`cpp/multivariate_tree.hpp` says how; here all leaves are tossed at once, and nodes meet by `np.convolve`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["PoissonTree"]

_LEAF, _TOGETHER = 64, 1024  # coins in a leaf; leaves tossed at once


class PoissonTree:
    """Coins with P(coin i) = σ(logits_i); windows of counts drop at most `trim` at each end of a node."""

    def __init__(self, logits: Vector, trim: float) -> None:
        tails = np.exp(-np.abs(logits))
        self._coins = logits.size
        self._trim = trim
        large = 1.0 / (1.0 + tails)
        self._heads = np.where(logits > 0, large, tails * large)
        self._tails = np.where(logits > 0, tails * large, large)
        self.log_partition = float(np.maximum(logits, 0.0).sum() + np.log1p(tails).sum())
        self.dropped = 0.0
        level = [self._window(0, law) for laws in self._leaves() for law in laws[-1]]
        level = level or [(0, np.ones(1))]
        self._levels = [level]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [
                self._window(p[0][0] + p[1][0], np.convolve(p[0][1], p[1][1])) if len(p) == 2 else p[0] for p in pairs
            ]
            self._levels.append(level)
        self.first, self.law = level[0]

    def _leaves(self) -> Iterator[NDArray[np.float64]]:
        """The laws of the first 0, ..., 64 coins, of some leaves at a time."""
        for start in range(0, self._coins, _LEAF * _TOGETHER):
            heads, tails = self._groups(start)
            laws = np.zeros((_LEAF + 1, heads.shape[0], _LEAF + 1))
            laws[0, :, 0] = 1.0
            for j in range(_LEAF):
                laws[j + 1] = tails[:, j, None] * laws[j]
                laws[j + 1, :, 1:] += heads[:, j, None] * laws[j, :, :-1]
            yield laws

    def _groups(self, start: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Heads and tails of some leaves; a leaf that is not full gets coins that always show tails."""
        some = self._heads[start : start + _LEAF * _TOGETHER]
        heads = np.zeros(-(-some.size // _LEAF) * _LEAF)
        tails = np.ones(heads.size)
        heads[: some.size], tails[: some.size] = some, self._tails[start : start + some.size]
        return heads.reshape(-1, _LEAF), tails.reshape(-1, _LEAF)

    def _window(self, first: int, law: Vector) -> tuple[int, Vector]:
        low = int(np.searchsorted(np.cumsum(law), self._trim))
        high = law.size - int(np.searchsorted(np.cumsum(law[::-1]), self._trim))
        low = min(low, law.size - 1)
        high = max(high, low + 1)
        self.dropped += float(law[:low].sum() + law[high:].sum())
        return first + low, law[low:high]

    def marginals(self, r: Vector) -> Vector:
        """E[coin_i r(B)] for r given on the window of counts."""
        above = [r]
        for level, parents in zip(self._levels[-2::-1], self._levels[:0:-1], strict=True):
            below = []
            for i, (first, law) in enumerate(level):
                mine = above[i // 2]
                if i ^ 1 < len(level):
                    other_first, other = level[i ^ 1]
                    padded = np.zeros(law.size + other.size - 1)
                    start = parents[i // 2][0] - first - other_first
                    padded[start : start + mine.size] = mine
                    mine = np.convolve(padded, other[::-1], mode="valid")
                below.append(mine)
            above = below
        out, done = np.empty(-(-self._coins // _LEAF) * _LEAF), 0
        for laws in self._leaves():
            leaves = self._levels[0][done // _LEAF :][: laws.shape[1]]
            heads, tails = self._groups(done)
            weight = np.zeros((len(leaves), _LEAF + 2))
            for row, (first, law), its in zip(weight, leaves, above[done // _LEAF :], strict=False):
                row[first : first + law.size] = its
            marginals = np.empty(heads.shape)
            for j in range(_LEAF - 1, -1, -1):
                marginals[:, j] = heads[:, j] * (laws[j] * weight[:, 1:]).sum(axis=1)
                weight[:, :-1] = tails[:, j, None] * weight[:, :-1] + heads[:, j, None] * weight[:, 1:]
            out[done : done + marginals.size] = marginals.ravel()
            done += marginals.size
        return out[: self._coins]

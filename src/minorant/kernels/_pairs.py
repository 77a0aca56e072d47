"""The hinge over all pairs of a positive and a negative example, in O(n log n).

With m_ij = 1 - (s_i - s_j) and pair weights c_i c_j / Σ c_i c_j,

    value = Σ_ij weight_ij h(m_ij),    h(m) = max over 0 ≤ p ≤ 1 of  p m - mu p²/2,    attained at p = clip(m/mu, 0, 1).

A positive sees two cuts in the sorted negatives, where m = 0 and where m = mu; sums of 1, s and s² up to the cuts do
the rest, and the same from the side of the negatives. mu = 0 is the hinge itself, p = 1[m > 0].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant._native import core_or
from minorant.kernels import _numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant import _core

    Vector = NDArray[np.float64]

__all__ = ["pair_hinge"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)


class _Class:
    """The scores of a class with the share of each in the class, and sums over those up to a cut."""

    def __init__(self, scores: Vector, weights: Vector) -> None:
        self._weights = weights
        if weights.size:
            order = np.argsort(scores)
            self._s, self._c = scores[order], weights[order] / weights.sum()
            self._up_to = np.concatenate([[0.0], np.cumsum(self._c)])
        else:
            self._s = np.sort(scores)

    def share(self, cuts: Vector, equal: bool, shift: float = 0.0) -> Vector:
        """Of the class, the share of the scores, shifted, below each cut, or not above it."""
        ranks = _core.ranks(self._s + shift if shift else self._s, cuts, equal)
        return self._up_to[ranks.astype(np.int64)] if self._weights.size else ranks / self._s.size

    def moments(self, low: Vector, high: Vector, equal: bool) -> tuple[Vector, Vector]:
        """Σ c s and Σ c s² of the scores between two cuts."""
        terms = self._s * (self._c if self._weights.size else 1.0 / self._s.size)
        ends = [_core.ranks(self._s, cuts, equal).astype(np.int64) for cuts in (low, high)]
        sums = [np.concatenate([[0.0], np.cumsum(term)]) for term in (terms, terms * self._s)]
        return sums[0][ends[1]] - sums[0][ends[0]], sums[1][ends[1]] - sums[1][ends[0]]

    def mean(self, values: Vector) -> float:
        """By the weights, of values in the order of the scores as they came."""
        return float(np.average(values, weights=self._weights)) if self._weights.size else float(values.mean())


def pair_hinge(scores: Vector, y: Vector, weights: Vector, mu: float) -> tuple[float, float, Vector]:
    """The value, the mean of p, and for each example the mean of p over its pairs."""
    if mu == 0 and not weights.size:
        return _core.swapped_pairs(scores, y)
    center = 0.5 * float(scores.min()) + 0.5 * float(scores.max())  # sums of what is small cancel less
    s, positive = scores - center, y > 0
    p, n = s[positive], s[~positive]
    pos, neg = (_Class(x, weights[own] if weights.size else weights) for x, own in ((p, positive), (n, ~positive)))
    of_pos, of_neg = (
        1.0 - neg.share(p - 1.0, equal=True),
        pos.share(n, equal=False, shift=-1.0),
    )  # of the pairs with m > 0
    value_of = 0.0
    if mu > 0:
        # Where 0 < m < mu: from the share of such pairs and the moments of the other score in them, p = m/mu.
        flat = np.minimum(1.0 - neg.share(p - 1.0 + mu, equal=True), of_pos)
        x, xx = neg.moments(p - 1.0, p - 1.0 + mu, equal=True)
        w, a = of_pos - flat, 1.0 - p
        of_pos = flat + (a * w + x) / mu
        squares = flat + np.maximum(a * (a * w + 2.0 * x) + xx, 0.0) / (mu * mu)
        value_of = -0.5 * mu * pos.mean(squares)
        flat = np.minimum(pos.share(n + 1.0 - mu, equal=False), of_neg)
        x, _ = pos.moments(n + 1.0 - mu, n + 1.0, equal=False)
        of_neg = flat + ((1.0 + n) * (of_neg - flat) - x) / mu
    marginals = np.empty(s.size)
    marginals[positive], marginals[~positive] = np.clip(of_pos, 0.0, 1.0), np.clip(of_neg, 0.0, 1.0)
    loss = pos.mean(of_pos)
    # Σ weight p m = Σ weight p - Σ s_i (its share of p) + Σ s_j (its share of p)
    return loss - pos.mean(p * of_pos) + neg.mean(n * of_neg) + value_of, loss, marginals

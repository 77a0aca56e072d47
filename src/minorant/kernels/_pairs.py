"""The hinge over all pairs of a positive and a negative example, in O(n log n).

With m_ij = 1 - (s_i - s_j) and pair weights c_i c_j / Σ c_i c_j,

    value = Σ_ij weight_ij h(m_ij),    h(m) = max over 0 ≤ p ≤ 1 of  p m - mu p²/2,    attained at p = clip(m/mu, 0, 1).

A positive sees two cuts in the sorted negatives, where m = 0 and where m = mu; sums of 1, s and s² up to the cuts do
the rest, and the same from the side of the negatives. mu = 0 is the hinge itself, p = 1[m > 0].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["pair_hinge"]


class _Class:
    """The scores of a class, sorted, with the sums of c, c s and c s² from the smallest on."""

    def __init__(self, scores: Vector, weights: Vector, moments: int) -> None:
        if weights.size:
            order = np.argsort(scores)
            self.s, c = scores[order], weights[order] / weights.sum()
            terms = [c, c * self.s, c * self.s * self.s][:moments]
            self.sums = [np.concatenate([[0.0], np.cumsum(term)]) for term in terms]
        else:
            self.s = np.sort(scores)
            terms = [self.s, self.s * self.s][: moments - 1]
            self.sums = [np.arange(self.s.size + 1.0) / self.s.size]
            self.sums += [np.concatenate([[0.0], np.cumsum(term)]) / self.s.size for term in terms]


def pair_hinge(scores: Vector, y: Vector, weights: Vector, mu: float) -> tuple[float, float, Vector]:
    """The value, the mean of p, and for each example the mean of p over its pairs."""
    center = 0.5 * (float(scores.min()) + float(scores.max()))  # sums of squares of what is small cancel less
    s, positive = scores - center, y > 0
    p, n = s[positive], s[~positive]
    cp, cn = (weights[positive], weights[~positive]) if weights.size else (weights, weights)
    others = _Class(n, cn, 3 if mu > 0 else 2)
    active = _from(others.s, p - 1.0)  # those with m > 0 are right of the cut
    full = np.maximum(_from(others.s, p - 1.0 + mu), active) if mu > 0 else active
    W, X = others.sums[0], others.sums[1]
    share = W[-1] - W[full]
    values = (1.0 - p - 0.5 * mu) * share + (X[-1] - X[full])
    if mu > 0:
        w, x, xx = W[full] - W[active], X[full] - X[active], others.sums[2][full] - others.sums[2][active]
        share = share + ((1.0 - p) * w + x) / mu
        values = values + np.maximum((1.0 - p) * ((1.0 - p) * w + 2.0 * x) + xx, 0.0) / (2.0 * mu)
    marginals = np.empty(s.size)
    marginals[positive] = np.clip(share, 0.0, 1.0)

    others = _Class(p, cp, 2 if mu > 0 else 1)
    W = others.sums[0]
    active = np.searchsorted(others.s, n + 1.0, side="left")  # those with m > 0 are left of the cut
    if mu > 0:
        full = np.minimum(np.searchsorted(others.s, n + 1.0 - mu, side="left"), active)
        x = others.sums[1][active] - others.sums[1][full]
        marginals[~positive] = np.clip(W[full] + ((1.0 + n) * (W[active] - W[full]) - x) / mu, 0.0, 1.0)
    else:
        marginals[~positive] = W[active]
    share_of = cp if cp.size else np.ones(p.size)
    mean = float(np.average(values, weights=share_of)), float(np.average(marginals[positive], weights=share_of))
    return *mean, marginals


def _from(ascending: Vector, cuts: Vector) -> NDArray[np.int64]:
    return np.searchsorted(ascending, cuts, side="right")

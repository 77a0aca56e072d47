"""The worst labeling of a whole sample, and the law that smooths it.

For labels y_i = ±1, scores s_i, a measure with the loss Δ of a labeling y', and c_i = 1/n or the weights,

    value = max over y' of  Δ(y', y) + Σ c_i s_i (y'_i - y_i)                      (multivariate_max)

`measures.py` lists the measures and their labelings. A labeling is told by what it flips: `marginals` is 1 where
y'_i ≠ y_i, else 0, and the value has the subgradient -2 c_i y_i marginals_i in s_i.

The ROC area has a label for each pair (i, j) of a positive and a negative example:

    value = Σ c_i c_j [1 - (s_i - s_j)]₊ / Σ c_i c_j,      marginals_i = the share of i's pairs that are swapped
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from minorant._native import core_or
from minorant.errors import InputError
from minorant.kernels import _numpy
from minorant.kernels._numpy_multivariate import concave_scan, submodular_scan, top_sums
from minorant.kernels._pairs import pair_hinge
from minorant.kernels._table_search import full_scan, monotone_scan
from minorant.measures import ContingencyLoss, FBeta, FixedCount, GMean, LinearLoss, Measure, ROCArea, measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant import _core

    Vector = NDArray[np.float64]

__all__ = ["Sample", "WorstLabeling", "checked_sample", "multivariate_max", "worst_table"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)

_SCANS = {"concave": concave_scan, "submodular": submodular_scan, "monotone": monotone_scan, "none": full_scan}


@dataclass(frozen=True)
class Sample:
    """Scores and labels that have been checked; gains of flips, of positives, then of negatives, the last first.

    The ROC area has no gains: it is a loss of pairs.
    """

    scores: Vector
    y: Vector
    weights: Vector  # empty: 1/n each
    gains: Vector = field(repr=False)
    n_pos: int

    @property
    def n_neg(self) -> int:
        """The number of negatives."""
        return self.y.size - self.n_pos

    def slopes(self, pairs: bool) -> Vector:
        """What a marginal is multiplied by in the gradient: -2 c y; for pairs, -y times the share of c in its class."""
        c = self.weights if self.weights.size else np.full(self.y.size, 1.0 / self.y.size)
        if not pairs:
            return np.asarray(-2.0 * c * self.y)
        positive = self.y > 0
        return np.asarray(-self.y * c / np.where(positive, c[positive].sum(), c[~positive].sum()))


@dataclass(frozen=True)
class WorstLabeling:
    """The value, the loss Δ of the worst labeling, and what it flips."""

    value: float
    loss: float
    marginals: Vector
    sample: Sample = field(repr=False)
    pairs: bool = field(default=False, repr=False)

    @property
    def gradient(self) -> Vector:
        """A subgradient of the value in the scores."""
        return self.sample.slopes(self.pairs) * self.marginals


def checked_sample(scores: ArrayLike, y: ArrayLike, weights: ArrayLike | None, which: Measure) -> Sample:
    """The sample, or InputError where something is wrong with it."""
    s = np.ascontiguousarray(scores, dtype=np.float64)
    labels = np.ascontiguousarray(y, dtype=np.float64)
    if s.ndim != 1 or s.size == 0:
        raise InputError(f"scores must be a vector with at least one entry; got shape {s.shape}")
    if labels.shape != s.shape:
        raise InputError(f"y must have the shape of scores, {s.shape}; got {labels.shape}")
    c = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if weights is not None:
        if c.shape != s.shape:
            raise InputError(f"weights must have the shape of scores, {s.shape}; got {c.shape}")
        if not (np.isfinite(c).all() and (c >= 0).all() and c.any()):
            raise InputError("weights must be finite, at least 0, and not all 0")
    n_pos = _core.count_positives(s, labels)
    which.check(n_pos, s.size - n_pos)
    gains = np.empty(0) if isinstance(which, ROCArea) else _core.flip_gains(s, labels, c)
    return Sample(s, labels, c, gains, n_pos)


def multivariate_max(
    scores: ArrayLike, y: ArrayLike, metric: str | Measure = "f1", *, weights: ArrayLike | None = None, **options: float
) -> WorstLabeling:
    """The value and the worst labeling, in O(n log n): a sort and a walk.

    Maximizes Δ(y', y) + Σ c_i s_i (y'_i - y_i) over labelings y'. Of labelings that are equally bad, one with the
    fewest missed positives and then the fewest accused negatives is returned, and of equal examples the first are
    flipped.

    Parameters
    ----------
    scores, y : arrays of shape (n,)
        Scores and labels +1 or -1.
    metric : str or Measure
        "f1", "fbeta" (with `beta`), "gmean", "error_rate", "balanced_error", "precision_at_k" and "recall_at_k" (with
        `k`), "prbep", "roc_auc", or a measure of `minorant.measures`, such as a ContingencyLoss.
    weights : array of shape (n,), optional
        The c_i, by default 1/n. They weigh the scores; the table counts examples.
    **options
        `beta`, `k`.

    Returns
    -------
    WorstLabeling
        `value`, `loss` (its Δ), `marginals` (1 where flipped) and `gradient`.

    Raises
    ------
    InputError
        If a score is not finite, a label is not ±1, a class that the measure needs is empty, k > n or beta ≤ 0.

    Examples
    --------
    >>> from minorant.kernels import multivariate_max
    >>> worst = multivariate_max([2.0, -0.5, 0.1, -3.0], [1, 1, -1, -1], "f1")
    >>> worst.marginals
    array([0., 1., 1., 0.])
    """
    which = measure(metric, **options)  # type: ignore[arg-type]
    at = checked_sample(scores, y, weights, which)
    if isinstance(which, ROCArea):
        value, loss, marginals = pair_hinge(at.scores, at.y, at.weights, 0.0)
        return WorstLabeling(value, loss, marginals, at, pairs=True)
    if isinstance(which, LinearLoss):
        up, down = which.rates(at.n_pos, at.n_neg)
        pos, neg = at.gains[: at.n_pos] + up, at.gains[at.n_pos :] + down
        flipped = _core.flip_from(at.scores, at.y, at.weights, np.nextafter(-up, 0.0), np.nextafter(-down, 0.0))
        value = float(np.maximum(pos, 0.0, out=pos).sum() + np.maximum(neg, 0.0, out=neg).sum())
        b, c = int(np.count_nonzero(pos)), int(np.count_nonzero(neg))
        return WorstLabeling(value, up * b + down * c, flipped, at)
    found = _selected(which, at)
    if found is not None:
        value, b, c, flipped = found
        return WorstLabeling(value, _loss(which, b, c, at), flipped, at)
    pos, neg = at.gains[: at.n_pos], at.gains[at.n_pos :]
    pos.sort()
    neg.sort()
    value, b, c = worst_table(which, pos, neg)
    flipped = _core.flip_top(at.scores, at.y, at.weights, pos, b, neg, c)
    return WorstLabeling(value, _loss(which, b, c, at), flipped, at)


def _selected(which: Measure, at: Sample) -> tuple[float, int, int, Vector] | None:
    """The worst labeling without a sort, with b and c, where that is known to be faster."""
    if isinstance(which, FBeta):
        return _core.f_select(at.scores, at.y, at.weights, at.gains, at.n_pos, which.beta * which.beta)
    if isinstance(which, GMean):
        return _core.gmean_select(at.scores, at.y, at.weights, at.gains, at.n_pos)
    return None


def _loss(which: Measure, b: int, c: int, at: Sample) -> float:
    return float(which.loss(np.array([float(b)]), np.array([float(c)]), at.n_pos, at.n_neg)[0])


def worst_table(which: Measure, pos: Vector, neg: Vector) -> tuple[float, int, int]:
    """The largest Δ(b, c) + S₊(b) + S₋(c), with b and c, for sorted gains."""
    if isinstance(which, FBeta):
        return _core.f_scan(pos, neg, which.beta * which.beta)
    if isinstance(which, GMean):
        return _core.gmean_scan(pos, neg)
    if isinstance(which, FixedCount):
        return _core.count_scan(pos, neg, which.count(pos.size), which.rate(pos.size))
    scan = _SCANS[which.structure if isinstance(which, ContingencyLoss) else "none"]
    return scan(top_sums(pos), top_sums(neg), partial(which.loss, n_pos=pos.size, n_neg=neg.size))

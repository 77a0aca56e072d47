"""The worst labeling of a whole sample, smoothed by the entropy of laws of labelings.

With the measure's Δ, the weights c and T = mu/n,

    value = max over laws P of labelings of  E_P[Δ + Σ c_i s_i (y'_i - y_i)] + T (H(P) - n log 2)
          = T log Σ_{y'} exp((Δ(y', y) + Σ c_i s_i (y'_i - y_i))/T) - mu log 2,

so that  multivariate_max - mu log 2 ≤ value ≤ multivariate_max.  The best P is the law with these weights; `marginals`
are its P(y'_i ≠ y_i), the gradient in s_i is -2 c_i y_i marginals_i, and `loss` = E_P[Δ] is the dual value -g(α) of
α = P: with v = Xᵀ gradient, loss - ‖v‖²/(2λ) is a lower bound of λ/2‖w‖² + multivariate_max(X w) over all w.

The ROC area is smoothed by a square for each pair, p m - mu p²/2 over 0 ≤ p ≤ 1 in place of max(0, m):
multivariate_max - mu/2 ≤ value ≤ multivariate_max.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from minorant._native import core_or
from minorant.errors import InputError, unknown_option
from minorant.kernels import _numpy
from minorant.kernels._chernoff import Symmetric
from minorant.kernels._pairs import pair_hinge
from minorant.kernels._recursion import recursion_law
from minorant.kernels._smoothing import Law, table_law
from minorant.kernels.multivariate import Sample, checked_sample, worst_table
from minorant.measures import FBeta, FixedCount, GMean, LinearLoss, Measure, ROCArea, measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant import _core

    Vector = NDArray[np.float64]

__all__ = ["SmoothedLabeling", "multivariate_marginals"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)

_RECURSION = 6000  # examples that the recursion takes, O(n²) in time and memory
_FEW = 400  # examples for which it is the faster method
_METHODS = ("auto", "recursion", "tree")


@dataclass(frozen=True)
class SmoothedLabeling:
    """The smoothed value, E[Δ], the flip probabilities, and what leaving out labelings may have cost.

    `bound` is a bound of the error of each marginal and, times the range of Δ, of the loss; that of the value is
    bound·mu/n. It does not count rounding, about 1e-16 n/mu.
    """

    value: float
    loss: float
    marginals: Vector
    bound: float
    sample: Sample = field(repr=False)
    pairs: bool = field(default=False, repr=False)

    @property
    def gradient(self) -> Vector:
        """The gradient of the value in the scores."""
        return self.sample.slopes(self.pairs) * self.marginals


def multivariate_marginals(
    scores: ArrayLike,
    y: ArrayLike,
    metric: str | Measure = "f1",
    *,
    mu: float,
    weights: ArrayLike | None = None,
    trim: float = 1e-120,
    method: str = "auto",
    **options: float,
) -> SmoothedLabeling:
    """The value of `multivariate_max`, smoothed by entropy, with the probabilities of flips.

    Parameters
    ----------
    scores, y : arrays of shape (n,)
        Scores and labels +1 or -1.
    metric : str or Measure
        As for `multivariate_max`.
    mu : float
        Positive; the smoothed value is at most mu log 2 below the exact one (ROC area: mu/2).
    weights : array of shape (n,), optional
        The c_i, by default 1/n. They weigh the scores; the table counts examples.
    trim : float, default 1e-120
        Mass that a node of the tree may drop, from 1e-150 to 1e-20.
    method : "auto", "tree" or "recursion"
        The tree takes about w² log n + 64 n operations for laws of width w; the recursion over the examples n², and
        leaves nothing out. A ContingencyLoss needs the recursion, of at most 6000 examples.
    **options
        `beta`, `k`.

    Returns
    -------
    SmoothedLabeling
        `value`, `loss` (E[Δ], the dual value), `marginals`, `bound` and `gradient`.

    Raises
    ------
    InputError
        As `multivariate_max`, or if mu is not positive.

    Examples
    --------
    >>> from minorant.kernels import multivariate_marginals
    >>> smooth = multivariate_marginals([2.0, -0.5, 0.1, -3.0], [1, 1, -1, -1], "f1", mu=1.0)
    >>> smooth.marginals.round(3)
    array([0.14 , 0.912, 0.685, 0.004])
    """
    which = measure(metric, **options)  # type: ignore[arg-type]
    if not (np.isfinite(mu) and mu > 0):
        raise InputError(f"mu must be positive and finite; got {mu}")
    if not 1e-150 <= trim <= 1e-20:
        raise InputError(f"trim must be from 1e-150 to 1e-20; got {trim}")
    if method not in _METHODS:
        raise unknown_option("method", method, _METHODS)
    at = checked_sample(scores, y, weights, which)
    if isinstance(which, ROCArea):
        value, loss, marginals = pair_hinge(at.scores, at.y, at.weights, mu)
        return SmoothedLabeling(value, loss, marginals, 0.0, at, pairs=True)
    T = mu / at.y.size
    law = _law(which, at, T, trim, method)
    marginals = np.empty(at.y.size)
    marginals[at.y > 0], marginals[at.y < 0] = law.pos, law.neg
    value = T * law.log_mass - mu * float(np.log(2.0))
    return SmoothedLabeling(value, law.loss, np.clip(marginals, 0.0, 1.0), law.missing, at)


def _law(which: Measure, at: Sample, T: float, trim: float, method: str) -> Law:
    pos, neg = at.gains[: at.n_pos], np.ascontiguousarray(at.gains[: at.n_pos - 1 if at.n_pos else None : -1])
    fast = isinstance(which, LinearLoss | FixedCount | FBeta | GMean)
    if method == "recursion" or not fast or (method == "auto" and at.y.size <= _FEW):
        if at.y.size > _RECURSION or method == "tree":
            known = "" if fast else f"; {type(which).__name__} has no other method"
            raise InputError(f"the recursion takes at most {_RECURSION} examples; there are {at.y.size}{known}")
        return recursion_law(which, pos, neg, T)
    if isinstance(which, LinearLoss):
        return _independent(pos / T, neg / T, which.rates(pos.size, neg.size), T)
    if isinstance(which, FixedCount):
        return _fixed_count(pos, neg, which.count(pos.size), which.rate(pos.size), T, trim)
    assert isinstance(which, FBeta | GMean)  # noqa: S101 - for the type checker
    ordered = np.sort(pos), np.sort(neg)
    _, b, c = worst_table(which, *ordered)
    return table_law(which, (pos / T, neg / T), (ordered[0] / T, ordered[1] / T), 1.0 / T, trim, (b, c))


def _independent(pos: Vector, neg: Vector, rates: tuple[float, float], T: float) -> Law:
    """Δ is a sum over examples: each flips on its own."""
    law = Law(0.0)
    for t, rate, name in ((pos, rates[0], "pos"), (neg, rates[1], "neg")):
        x = t + rate / T
        tails = np.exp(-np.abs(x))
        flips = np.where(x > 0, 1.0, tails) / (1.0 + tails)
        law.log_mass += float(np.maximum(x, 0.0).sum() + np.log1p(tails).sum())
        law.loss += rate * float(flips.sum())
        setattr(law, name, flips)
    return law


def _fixed_count(pos: Vector, neg: Vector, count: int, rate: float, T: float, trim: float) -> Law:
    """Δ = 1 - rate·a and `count` predicted positives: independent predictions, given their number; and the truth.

    With u_i = 1 for a predicted positive, the exponent is (1 + Σ gains₊)/T + Σ u_i x_i, x = (-gain - rate)/T for a
    positive and gain/T for a negative example.
    """
    x = np.concatenate([(-pos - rate) / T, neg / T])
    theta = Symmetric(np.sort(x)).tilt(count)
    tree = _core.PoissonTree(x + theta, trim)
    known = tree.law
    r = np.zeros(known.size)
    chance = float(known[count - tree.first])
    r[count - tree.first] = 1.0 / chance
    predicted = tree.marginals(r)
    law = Law(
        (1.0 + float(pos.sum())) / T + tree.log_partition - theta * count + float(np.log(chance)),
        1.0 - rate * float(predicted[: pos.size].sum()),
        1.0 - predicted[: pos.size],
        predicted[pos.size :],
        tree.dropped / chance,
    )
    if count != pos.size:
        law.add(0.0, 0.0, np.zeros(pos.size), np.zeros(neg.size), 0.0)
    return law

"""A measure of the whole sample as a loss of the framework: `Problem(WholeSampleLoss(y), X, L2(lam))`, `solve`.

    g*(u)    = max over labelings y' of  Δ(y') + ⟨(y' - y)/n, u⟩                  (`kernels.multivariate_max`)
    g*_mu(u) = the same over laws of labelings, less mu·d, d = log 2 - entropy/n   (`kernels.multivariate_marginals`)

The dual point is a law P of 2^n labelings. What the framework needs of it is linear in P, so that α carries it along:

    α = (E[y' - y]/n,  E[Δ],  d),     g(α) = -E[Δ],     the scores of the last two entries being 0.

A convex combination of laws has the combination of the first two, and at most that of d: lower bounds remain so.
E[Δ] is taken at its word: it comes from `smoothed`, and a law cannot be told from its marginals. For the ROC area, d is
half the mean square of the shares p of pairs. The smoothing has one center, the uniform law (where a measure excludes
labelings, d is more than 0 there), and there is no free bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import WeightedEuclidean
from minorant.kernels import dot, multivariate_marginals, multivariate_max
from minorant.losses import Loss, Smoothed
from minorant.measures import Measure, ROCArea, measure
from minorant.operators import LinearMap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["WholeSampleLoss"]

_FEASIBLE = 1e-9  # violation of Q that still counts as rounding
_MORE = 2  # entries behind the slopes: E[Δ] and d


class _Padded(LinearMap):
    """A map with rows of zeros below."""

    def __init__(self, base: LinearMap) -> None:
        self.base, self.shape = base, (base.shape[0] + _MORE, base.shape[1])

    def dot(self, w: Vector) -> Vector:
        return np.concatenate([self.base.dot(w), np.zeros(_MORE)])

    def tdot(self, alpha: Vector) -> Vector:
        return self.base.tdot(np.ascontiguousarray(alpha[:-_MORE]))

    def row_norms(self) -> Vector:
        return np.concatenate([self.base.row_norms(), np.zeros(_MORE)])

    def column_norms(self, weights: Vector) -> Vector:
        return self.base.column_norms(np.ascontiguousarray(weights[:-_MORE]))

    def bound(self, rows: Vector, columns: Vector | None = None) -> float:
        return self.base.bound(np.ascontiguousarray(rows[:-_MORE]), columns)


class WholeSampleLoss(Loss):
    """The worst labeling's loss for a measure of the whole sample.

    Parameters
    ----------
    y : array of shape (n,)
        Labels +1 and -1.
    metric : str or Measure, default "f1"
        As for `MultivariateSVC`, with `beta` and `k`. A ContingencyLoss is smoothed in O(n²), for n up to 6000.

    Examples
    --------
    >>> import numpy as np
    >>> from minorant import Problem, solve
    >>> from minorant.regularizers import L2
    >>> from minorant.whole_sample_loss import WholeSampleLoss
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(np.arange(60) % 3 == 0, 1, -1)
    >>> X = rng.normal(size=(60, 4)) + y[:, None]
    >>> result = solve(Problem(WholeSampleLoss(y, "f1"), X, L2(0.01)), tol=1e-2)
    >>> result.certificate.relative_gap <= 1e-2
    True
    """

    bias = False
    movable = False

    def __init__(self, y: ArrayLike, metric: str | Measure = "f1", *, beta: float = 1.0, k: int | None = None) -> None:
        self.measure = measure(metric, beta=beta, k=k)
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        if self.y.ndim != 1:
            raise InputError(f"y must be a vector of labels; got shape {self.y.shape}")
        self.n = self.y.size
        worst = multivariate_max(np.zeros(self.n), self.y, self.measure)
        self._slopes, self._largest = worst.sample.slopes(worst.pairs), worst.loss
        self.size = self.n + _MORE
        self.radius = 0.5 if isinstance(self.measure, ROCArea) else float(np.log(2.0))
        self.geometry = WeightedEuclidean(np.ones(self.size))

    def attach(self, X: LinearMap) -> LinearMap:
        if X.shape[0] != self.n:
            raise InputError(f"X has {X.shape[0]} rows, but the loss has {self.n} examples")
        return _Padded(X)

    def value(self, u: Vector) -> float:
        return multivariate_max(u[: self.n], self.y, self.measure).value

    def smoothed(self, u: Vector, mu: float) -> Smoothed:
        scores = u[: self.n]
        at = multivariate_marginals(scores, self.y, self.measure, mu=mu)
        slopes = at.gradient
        d = (dot(slopes, np.ascontiguousarray(scores)) + at.loss - at.value) / mu
        return Smoothed(at.value, np.append(slopes, [at.loss, np.clip(d, 0.0, self.radius)]))

    def conjugate(self, alpha: Vector) -> float:
        z, loss = alpha[: self.n] / self._slopes, float(alpha[self.n])
        inside = z.min() >= -_FEASIBLE and z.max() <= 1.0 + _FEASIBLE and loss <= self._largest + _FEASIBLE
        return -loss if inside else np.inf

    def project(self, alpha: Vector) -> Vector:
        """Slopes into their box; E[Δ] and d stay what they are, up to what they can be."""
        slopes = np.clip(alpha[: self.n] / self._slopes, 0.0, 1.0) * self._slopes
        return np.append(slopes, [min(alpha[self.n], self._largest), np.clip(alpha[self.n + 1], 0.0, self.radius)])

    def start(self) -> Vector:
        if isinstance(self.measure, ROCArea):
            return np.zeros(self.size)
        return self.smoothed(np.zeros(self.size), 1e6).alpha

    def prox(self, alpha: Vector) -> float:
        return float(alpha[-1])

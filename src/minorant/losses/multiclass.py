"""What the losses of k scores per example share.

The scores are U = X W, one row u_i for each example, flattened row by row; c_i = weight_i / Σ weight. With E_i the unit
vector of the label y_i, a dual point is the gradient of a loss of score differences:

    α_i = c_i (P_i - E_i),   P_i in the simplex;   with k free biases also  Σ_i α_i = 0

so that Q contains 0 (P = E). In the entropy d(α) = Σ c_i Σ_y P_iy log P_iy + const, smoothed at temperature T,

    max over P of ⟨v, P⟩ - T Σ P log P  =  T log Σ_y exp(v_y/T),   at  P = softmax(v/T).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError
from minorant.geometry import BlockEntropy
from minorant.losses.base import Loss, Smoothed, normalized_weights
from minorant.losses.biases import project_with_sums, simplex_rows
from minorant.operators import Columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

__all__ = ["Multiclass"]

_FEASIBLE = 1e-9  # relative violation of Q that still counts as rounding
_EPS = float(np.finfo(np.float64).eps)


class Multiclass(Loss):
    """A loss of k scores per example, for labels 0, ..., k - 1; `w` is W of shape (p, k), flattened row by row."""

    bias: bool

    def __init__(self, y: ArrayLike, n_classes: int | None, sample_weight: ArrayLike | None) -> None:
        self.y, self.k = _labels(y, n_classes, type(self).__name__)
        n = self.y.size
        self.c = normalized_weights(sample_weight, n)
        self.size = n * self.k
        self._own = (np.arange(n), self.y)
        self._E = np.zeros((n, self.k))
        self._E[self._own] = 1.0
        self._entropy = BlockEntropy(self.c, self._E)
        self._frequencies: Vector = np.bincount(self.y, weights=self.c, minlength=self.k).astype(np.float64)

    @property
    def labels(self) -> Matrix:
        """E: the label of each example as a row of zeros and a one."""
        return self._E

    @abstractmethod
    def value_at(self, u: Vector, intercept: float | Vector) -> float:
        """The loss at given biases, not the best ones."""

    def attach(self, X: LinearMap) -> LinearMap:
        if X.shape[0] != self.y.size:
            raise InputError(f"X has {X.shape[0]} rows, but the loss has {self.y.size} examples")
        return Columns(X, self.k)

    def project(self, alpha: Vector) -> Vector:
        if self._exactly_contains(alpha):
            return alpha.copy()
        if self.bias:
            c = self.c[:, None]
            masses = project_with_sums(alpha.reshape(self._E.shape) + c * self._E, self.c, self._frequencies)
            return np.ravel(masses - c * self._E)
        return self._alpha(simplex_rows(self._entropy.probabilities(alpha)))

    def _need_every_class(self) -> None:
        if not (self._frequencies > 0).all():
            raise InputError(
                "with free biases every class needs an example of positive weight; "
                f"class {int(self._frequencies.argmin())} of {self.k} has none"
            )

    def _alpha(self, P: Matrix) -> Vector:
        return np.ravel(self.c[:, None] * (P - self._E))

    def _contains(self, alpha: Vector) -> bool:
        """Whether α is in Q up to rounding."""
        off = self.c[:, None] * np.maximum(-self._entropy.probabilities(alpha), 0.0)
        blocks = alpha.reshape(self._E.shape)
        sums = np.abs(blocks.sum(axis=1)).max()
        across = np.abs(blocks.sum(axis=0)).max() if self.bias else 0.0
        least = _FEASIBLE * self.c.max()
        return bool(off.max() <= least and sums <= least and across <= _FEASIBLE)

    def _exactly_contains(self, alpha: Vector) -> bool:
        """Whether α is in Q as nearly as a projection onto it would be."""
        P = self._entropy.probabilities(alpha)
        if not (P >= 0.0).all() or np.abs(P.sum(axis=1) - 1.0).max() > 0.5 * self.k * _EPS:
            return False
        return not self.bias or float(np.abs(alpha.reshape(P.shape).sum(axis=0)).max()) <= 4.0 * _EPS

    def _entropic_divergence(self, p: Vector, at_p: Smoothed, q: Vector, at_q: Smoothed, temperature: float) -> float:
        # T Σ c_i KL(P_q ‖ P_p), whose error is that of P_p - P_q; far apart P_p may have underflowed, and there the
        # difference of the values is exact enough. Neither exceeds the true value by more than rounding.
        near = temperature * self._entropy.divergence(at_q.alpha, at_p.alpha)
        near -= _EPS * float(np.abs(at_p.alpha - at_q.alpha).sum())
        return max(near, super().smoothed_divergence(p, at_p, q, at_q, temperature))


def softmax_rows(V: Matrix) -> tuple[Vector, Matrix]:
    """log Σ exp of each row, and the rows of its gradient."""
    top = V.max(axis=1, keepdims=True)
    P = np.exp(V - top)
    total = P.sum(axis=1, keepdims=True)
    P /= total
    return np.asarray((top + np.log(total))[:, 0]), P


def _labels(y: ArrayLike, n_classes: int | None, name: str) -> tuple[NDArray[np.intp], int]:
    given = np.asarray(y)
    if given.ndim != 1 or given.dtype.kind not in "iufb" or given.size == 0:
        raise InputError(f"{name} takes a vector of labels 0, 1, ..., k - 1; got shape {given.shape}")
    labels = given.astype(np.intp) if np.isfinite(given).all() else np.full(given.size, -1, np.intp)
    if (labels != given).any() or labels.min() < 0:
        bad = given[(labels != given) | (labels < 0)][0]
        raise InputError(f"{name} takes labels 0, 1, ..., k - 1; {bad} is not one: number the classes from 0")
    k = max(int(labels.max()) + 1, 2) if n_classes is None else int(n_classes)
    if k < 2 or labels.max() >= k:
        raise InputError(f"{name} needs n_classes of at least {max(2, int(labels.max()) + 1)}; got {k}")
    return labels, k

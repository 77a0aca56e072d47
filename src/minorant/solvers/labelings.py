"""Labelings of a sample as the cuts of a bundle know them.

For labels y = ±1 and scores s a labeling y' has the slopes g = (y' - y)/n in s. It is told by what it flips, z_i = 1
where y'_i ≠ y_i: g_i = -2 y_i z_i/n. An average of labelings has z_i between 0 and 1; so has the ROC area, whose z_i is
the share of the pairs of i that are swapped, with slopes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minorant.errors import InputError
from minorant.kernels import flip_shares, multivariate_max
from minorant.kernels.multivariate import checked_sample
from minorant.measures import ROCArea
from minorant.operators import RowMatrix, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.kernels import WorstLabeling
    from minorant.measures import Measure
    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]
    Order = NDArray[np.int32]

__all__ = ["Flips", "Labelings", "WholeSample"]


class WholeSample:
    """R(X w + b) for labels y = ±1, with rows of X repeated where `index` says so."""

    def __init__(self, A: LinearMap, y: Vector, measure: Measure, lam: float, free: bool, index: Any = None) -> None:
        self.A, self.measure, self.lam, self.free = A, measure, lam, free
        self._index, self._stored = index, stored(A)
        self.partial = 0.0  # products with some rows only, in shares of all rows
        self.y = y if index is None else y[index]
        self.slopes = checked_sample(np.zeros(self.y.size), self.y, None, measure).slopes(isinstance(measure, ROCArea))

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Of positives and of negatives."""
        n_pos = int(np.count_nonzero(self.y > 0))
        return n_pos, self.y.size - n_pos

    def worst(self, scores: Vector) -> WorstLabeling:
        """The worst labeling at these scores, one for each repetition."""
        try:
            return multivariate_max(scores, self.y, self.measure)
        except InputError as error:
            if np.isfinite(scores).all():
                raise
            raise InputError("the data are too large: scores overflow; scale the columns first") from error

    def gradient(self, flips: Vector) -> Vector:
        """The slopes g in the scores of what flips so much of each example."""
        return self.slopes * flips

    def scores(self, w: Vector) -> Vector:
        """X w, repeated."""
        rows = self.A @ w
        return rows if self._index is None else rows[self._index]

    def image(self, g: Vector) -> Vector:
        """Xᵀ g."""
        if self._index is None:
            return self.A.T @ g
        return self.A.T @ np.bincount(self._index, weights=g, minlength=self.A.shape[0]).astype(np.float64)

    def image_from(self, base: Vector, examples: Order, change: Vector) -> Vector:
        """Xᵀ g from that of another, g being changed for these examples: their rows alone are read."""
        rows = examples if self._index is None else self._index[examples].astype(np.int32)
        self.partial += examples.size / self.y.size
        return self._stored.add_rows(base, rows, change)

    def rows(self, examples: Order) -> RowMatrix | None:
        """The rows of X of some examples, where they can be had."""
        if not isinstance(self._stored, RowMatrix):
            return None
        return self._stored.part(examples if self._index is None else self._index[examples])


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


@dataclass(frozen=True)
class Labelings:
    """A law of labelings, or of averages of labelings with one table: weights, losses, and what each flips.

    The flips are those of the examples in `order`, if there is one.
    """

    weights: Vector
    losses: Vector
    flips: tuple[Flips, ...]
    order: Order | None = None

    def marginals(self, n: int) -> Vector:
        """The probability that an example is flipped."""
        return self._restored(self.kept_marginals(n))

    def kept_marginals(self, n: int) -> Vector:
        """The same in the order of the flips."""
        total = np.zeros(n)
        for weight, flips in zip(self.weights, self.flips, strict=True):
            flip_shares(*flips, weight, total)
        return total

    def each(self, n: int) -> Iterator[Vector]:
        """What each flips of every example."""
        return (self._restored(flips.unpack(n)) for flips in self.flips)

    def _restored(self, z: Vector) -> Vector:
        if self.order is None:
            return z
        restored = np.empty_like(z)
        restored[self.order] = z
        return restored

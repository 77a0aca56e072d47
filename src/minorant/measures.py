"""Measures of a whole sample, as losses Δ(b, c) of its contingency table.

A labeling y' of n₊ positives and n₋ negatives misses b positives and accuses c negatives; a = n₊ - b, d = n₋ - c.

| measure                | Δ(b, c)                                  | labelings                        |
|------------------------|------------------------------------------|----------------------------------|
| ErrorRate              | (b + c)/n                                | all                              |
| BalancedError          | ½ (b/n₊ + c/n₋)                          | all                              |
| FBeta                  | (β² b + c)/((1 + β²) n₊ - b + c) = 1 - Fβ | all                              |
| GMean                  | 1 - √((a/n₊)(d/n₋))                      | all                              |
| PrecisionAtK, RecallAtK| 1 - a/k,   1 - a/n₊                      | k predicted positives, and y     |
| BreakEven              | 1 - a/n₊                                 | n₊ predicted positives           |
| ROCArea                | share of the pairs in the wrong order    | orders of the n₊ n₋ pairs        |
| ContingencyLoss        | any function of the table                | those where it is not -inf       |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.errors import InputError, unknown_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = [
    "BalancedError",
    "BreakEven",
    "ContingencyLoss",
    "ErrorRate",
    "FBeta",
    "FixedCount",
    "GMean",
    "LinearLoss",
    "Measure",
    "PrecisionAtK",
    "ROCArea",
    "RecallAtK",
    "measure",
]

STRUCTURES = ("concave", "monotone", "none", "submodular")


class Measure(ABC):
    """A loss of whole labelings: 0 for the true one, and larger the worse the labeling."""

    @abstractmethod
    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        """Δ(b, c) for arrays of equal shape; -inf where no labeling has that table."""

    def check(self, n_pos: int, n_neg: int) -> None:
        """Raise InputError where the measure is not defined for a sample of these sizes."""
        if n_pos < 1:
            raise InputError(f"there are no positive examples: {self} needs at least one label +1 in y")


class LinearLoss(Measure):
    """Δ = rate₊ b + rate₋ c: a mean over examples."""

    @abstractmethod
    def rates(self, n_pos: int, n_neg: int) -> tuple[float, float]:
        """(rate₊, rate₋)."""

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        up, down = self.rates(n_pos, n_neg)
        return up * b + down * c


@dataclass(frozen=True)
class ErrorRate(LinearLoss):
    """The share of wrong labels."""

    def rates(self, n_pos: int, n_neg: int) -> tuple[float, float]:
        return 1.0 / (n_pos + n_neg), 1.0 / (n_pos + n_neg)


@dataclass(frozen=True)
class BalancedError(LinearLoss):
    """The mean of the shares of wrong labels in the two classes."""

    def rates(self, n_pos: int, n_neg: int) -> tuple[float, float]:
        return 0.5 / n_pos, 0.5 / n_neg

    def check(self, n_pos: int, n_neg: int) -> None:
        super().check(n_pos, n_neg)
        _check_negatives(self, n_neg)


@dataclass(frozen=True)
class FBeta(Measure):
    """1 - Fβ, with β the weight of recall against precision."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not 1e-6 <= self.beta <= 1e6:
            raise InputError(f"beta must be positive, from 1e-6 to 1e6; got {self.beta}")

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        square = self.beta * self.beta
        return (square * b + c) / ((1.0 + square) * n_pos - b + c)


@dataclass(frozen=True)
class GMean(Measure):
    """1 - the geometric mean of the recalls of the two classes."""

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        return np.asarray(1.0 - np.sqrt(((n_pos - b) / n_pos) * ((n_neg - c) / n_neg)))

    def check(self, n_pos: int, n_neg: int) -> None:
        super().check(n_pos, n_neg)
        _check_negatives(self, n_neg)


class FixedCount(Measure):
    """Δ = 1 - a·rate for the labelings with a fixed number of predicted positives, and Δ = 0 for the true one."""

    @abstractmethod
    def count(self, n_pos: int) -> int:
        """The number of predicted positives."""

    @abstractmethod
    def rate(self, n_pos: int) -> float:
        """What a true positive is worth."""

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        on_line = c - b == self.count(n_pos) - n_pos
        values = np.where(on_line, 1.0 - self.rate(n_pos) * (n_pos - b), -np.inf)
        return np.where((b == 0) & (c == 0), 0.0, values)

    def check(self, n_pos: int, n_neg: int) -> None:
        super().check(n_pos, n_neg)
        if self.count(n_pos) > n_pos + n_neg:
            raise InputError(f"k = {self.count(n_pos)} is more than the {n_pos + n_neg} examples; choose a smaller k")


@dataclass(frozen=True)
class _AtK(FixedCount):
    k: int

    def __post_init__(self) -> None:
        if self.k != int(self.k) or self.k < 1:
            raise InputError(f"k must be a whole number, at least 1; got {self.k}")

    def count(self, n_pos: int) -> int:
        return int(self.k)


class PrecisionAtK(_AtK):
    """1 - the share of positives among the k examples predicted positive."""

    def rate(self, n_pos: int) -> float:
        return 1.0 / self.k


class RecallAtK(_AtK):
    """1 - the share of the positives that is among the k examples predicted positive."""

    def rate(self, n_pos: int) -> float:
        return 1.0 / n_pos


@dataclass(frozen=True)
class BreakEven(FixedCount):
    """1 - precision where it equals recall: as many predicted positives as there are positives."""

    def count(self, n_pos: int) -> int:
        return n_pos

    def rate(self, n_pos: int) -> float:
        return 1.0 / n_pos


@dataclass(frozen=True)
class ROCArea(Measure):
    """1 - the area under the ROC curve: the share of pairs in the wrong order. It is no function of the table."""

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        raise InputError("the ROC area is a loss of pairs, not of the contingency table")

    def check(self, n_pos: int, n_neg: int) -> None:
        super().check(n_pos, n_neg)
        _check_negatives(self, n_neg)


@dataclass(frozen=True)
class ContingencyLoss(Measure):
    """A loss of your own, function(b, c, n_pos, n_neg), for arrays b and c of equal shape.

    The worst labeling of an arbitrary table can hide in any of its n₊ n₋ entries. What is known of the function saves
    reading them all:

    | structure    | says                                     | entries read                                      |
    |--------------|------------------------------------------|---------------------------------------------------|
    | "monotone"   | never falls with b or c                  | by branch and bound: about n for smooth functions |
    | "concave"    | concave in c for each b                  | n₊ log n₋                                         |
    | "submodular" | Δ(b+1, c) - Δ(b, c) never rises with c   | (n₊ + n₋) log n₊                                  |
    | "none"       | nothing                                  | all n₊ n₋                                         |

    A function seen to break "monotone" is refused; the other two are taken at their word.
    """

    function: Callable[[Vector, Vector, int, int], Any]
    structure: str = "monotone"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError("function must be callable as function(b, c, n_pos, n_neg) with arrays b and c")
        if self.structure not in STRUCTURES:
            raise unknown_option("structure of a contingency loss", self.structure, STRUCTURES)

    def loss(self, b: Vector, c: Vector, n_pos: int, n_neg: int) -> Vector:
        values = np.asarray(self.function(b, c, n_pos, n_neg), dtype=np.float64)
        if values.shape != np.broadcast_shapes(np.shape(b), np.shape(c)):
            raise InputError(f"the loss returned shape {values.shape} for arrays of shape {np.shape(b)}")
        if np.isnan(values).any() or (values == np.inf).any():
            raise InputError("the loss returned nan or inf; it must be finite, or -inf for tables that are excluded")
        return values


def _check_negatives(which: Measure, n_neg: int) -> None:
    if n_neg < 1:
        raise InputError(f"there are no negative examples: {which} needs at least one label -1 in y")


_NAMED: dict[str, type[Measure]] = {
    "error_rate": ErrorRate,
    "balanced_error": BalancedError,
    "f1": FBeta,
    "fbeta": FBeta,
    "gmean": GMean,
    "precision_at_k": PrecisionAtK,
    "recall_at_k": RecallAtK,
    "prbep": BreakEven,
    "roc_auc": ROCArea,
}


def measure(name: str | Measure, *, beta: float = 1.0, k: int | None = None) -> Measure:
    """The measure of that name; `beta` is for "fbeta", `k` for "precision_at_k" and "recall_at_k"."""
    if isinstance(name, Measure):
        return name
    if name not in _NAMED:
        raise unknown_option("measure", name, _NAMED)
    if name == "fbeta":
        return FBeta(beta)
    if issubclass(_NAMED[name], _AtK):
        if k is None:
            raise InputError(f"{name} needs k, the number of predicted positives")
        return _NAMED[name](k)  # type: ignore[call-arg]
    return _NAMED[name]()

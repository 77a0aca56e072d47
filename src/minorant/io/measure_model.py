"""The file of a model trained for a measure of the whole sample: the model, and the labelings that prove it.

Row r of `coef` separates one class from the rest; two classes need one row, and classes[1] is its positive one. With
s_i = ⟨coef_r, x_i⟩ + intercept_r (no intercept in J where `bias` is false: it is a threshold then) and N examples,

    J = lam/2 ‖coef_r‖² + max over labelings y' of  loss(y') + Σ (y'_i - y_i) s_i / N.

The proof is a law of labelings: m of them, each with its row r and its weight, and what it flips of every example:
all of it (a bit of `ones`), or a part. Tensors: coef (k, p), intercept (k,); law_weights (m,), law_rows (m,),
law_ones (m, ⌈N/8⌉) as `numpy.packbits` packs; for each part, part_labelings, part_examples, part_values (q,);
repeats (n,), where a row counts as several examples, or as none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.errors import InputError
from minorant.io._model_base import FittedModel, check_classes, check_flag, check_tensor, is_number, need, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["MeasureModel"]

MODEL = "multivariate_svc"
METRICS = ("balanced_error", "error_rate", "fbeta", "gmean", "prbep", "precision_at_k", "recall_at_k", "roc_auc")
_AT_K = ("precision_at_k", "recall_at_k")
_LAW = ("law_weights", "law_rows", "law_ones", "part_labelings", "part_examples", "part_values")


@dataclass(frozen=True, kw_only=True)
class MeasureModel(FittedModel):
    """A model trained for a measure as a file holds it; every instance has passed the checks of the format.

    Parameters
    ----------
    coef, intercept, lam, classes, certificates, tol : as for LinearModel
    metric : str
        A name of `minorant.measures`, "fbeta" for F1 too.
    beta, k : numbers where the measure has them, else None
    bias : bool
        Whether J has the intercept.
    n_rows : int
    law_weights, law_rows, law_ones, part_labelings, part_examples, part_values : arrays
        The law of labelings; `packed_law` makes them.
    repeats : array of shape (n_rows,), int32, optional
        How many examples a row counts as; absent where it is 1.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    """

    metric: str
    beta: float | None
    k: int | None
    bias: bool
    n_rows: int
    law_weights: Vector
    law_rows: NDArray[np.int32]
    law_ones: NDArray[np.uint8]
    part_labelings: NDArray[np.int32]
    part_examples: NDArray[np.int32]
    part_values: Vector
    repeats: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        one_of("metric", self.metric, METRICS)
        n_classes = check_classes(self.classes)
        rows = 1 if n_classes == 2 else n_classes
        p = self._check_scores(rows, rows)
        check_flag("bias", self.bias)
        if (self.metric == "fbeta") != (self.beta is not None) or (self.metric in _AT_K) != (self.k is not None):
            raise InputError("beta belongs to fbeta, k to precision_at_k and recall_at_k")
        if self.beta is not None and not (is_number(self.beta) and self.beta > 0):
            raise InputError(f"beta must be a positive number; got {self.beta!r:.60}")
        if self.k is not None and not (type(self.k) is int and self.k >= 1):
            raise InputError(f"k must be a whole number, at least 1; got {self.k!r:.60}")
        if type(self.n_rows) is not int or p == 0 or self.n_rows < 1:
            raise InputError(f"a model needs features and rows; got {p} features and {self.n_rows!r:.60} rows")
        n = self.n_rows
        if self.repeats is not None:
            check_tensor("repeats", self.repeats, (np.int32,), (n,))
            n = int(self.repeats.sum(dtype=np.int64))
            if self.repeats.min() < 0 or n == 0:
                raise InputError("repeats must be nonnegative and not all 0")
        self._check_law(rows, n)

    def _check_law(self, rows: int, n: int) -> None:
        (m,) = check_tensor("law_weights", self.law_weights, (np.float64,), (None,))
        check_tensor("law_rows", self.law_rows, (np.int32,), (m,))
        check_tensor("law_ones", self.law_ones, (np.uint8,), (m, -(-n // 8)))
        if not np.array_equal(np.unique(self.law_rows), np.arange(rows)):
            raise InputError(f"law_rows must have labelings for each row of coef, 0 to {rows - 1}, and no other")
        (q,) = check_tensor("part_values", self.part_values, (np.float64,), (None,))
        for name, end in (("part_labelings", m), ("part_examples", n)):
            part = getattr(self, name)
            check_tensor(name, part, (np.int32,), (q,))
            if q and not 0 <= part.min() <= part.max() < end:
                raise InputError(f"{name} must be from 0 to {end - 1}")

    def _tensors(self) -> dict[str, NDArray[Any]]:
        law = {name: getattr(self, name) for name in _LAW}
        return law if self.repeats is None else {**law, "repeats": self.repeats}

    def _description(self) -> dict[str, Any]:
        names = ("metric", "beta", "k", "bias", "n_rows")
        return {"model": MODEL, **{name: getattr(self, name) for name in names}}

    @classmethod
    def _parts(cls, tensors: dict[str, NDArray[Any]], meta: dict[str, Any]) -> dict[str, Any]:
        one_of("model", meta["model"], (MODEL,))
        names = ("metric", "beta", "k", "bias", "n_rows")
        need(meta, names, "description")
        need(tensors, _LAW, "tensor")
        law = {name: tensors[name] for name in _LAW}
        return {**{name: meta[name] for name in names}, **law, "repeats": tensors.get("repeats")}


def packed_law(rows: Iterable[tuple[Vector, Iterable[Vector]]]) -> dict[str, Any]:
    """The tensors of the law: for each row of coef, the weights of its labelings and what each flips."""
    weights: list[float] = []
    of_row, ones, labelings, examples, values = [], [], [], [], []
    for r, (betas, flips) in enumerate(rows):
        for beta, z in zip(betas, flips, strict=True):
            between = np.flatnonzero((z > 0) & (z < 1))
            labelings.append(np.full(between.size, len(weights), dtype=np.int32))
            examples.append(between.astype(np.int32))
            values.append(z[between])
            weights.append(float(beta))
            of_row.append(r)
            ones.append(np.packbits(z >= 1))
    return {
        "law_weights": np.array(weights),
        "law_rows": np.array(of_row, dtype=np.int32),
        "law_ones": np.stack(ones),
        "part_labelings": np.concatenate(labelings),
        "part_examples": np.concatenate(examples),
        "part_values": np.concatenate(values),
    }

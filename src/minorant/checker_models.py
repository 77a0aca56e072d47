"""Check the model of any file, with NumPy and the other checkers alone.

    one score for each example                   checker.py
    a score for each class, in one problem       checker_multiclass.py
    a measure of the whole sample                checker_measures.py, and how a file holds its law of labelings:

labeling j has weight β_j and flips the bits of row j of `law_ones` (all of an example), and of the example
part_examples[q] the share part_values[q], where part_labelings[q] = j. It belongs to row law_rows[j] of coef.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minorant import checker
from minorant.checker import Parts, Triplets, Unusable, Verdict, check_problems
from minorant.checker_measures import check_measure
from minorant.checker_multiclass import LOSSES, check_multiclass

__all__ = ["as_triplets", "check_any"]


def as_triplets(X: Any) -> Any:
    """A SciPy matrix as `checker.Triplets`, an array as it is."""
    coo = X.tocoo() if hasattr(X, "tocoo") else None
    return X if coo is None else Triplets(coo.row, coo.col, coo.data, coo.shape)


def check_any(tensors: Parts, about: Parts, X: Any, labels: Any) -> dict[str, Verdict]:
    """The verdict of each problem of a model that `checker.read_model` has read, by its name.

    Raises
    ------
    checker.Unusable
        If the file is damaged, or the data are not those of the model.
    """
    X = as_triplets(X)
    if about.get("metric") is None and about.get("loss") not in LOSSES:
        return checker.check_model(tensors, about, X, labels)
    try:
        return (_check_joint if "loss" in about else _check_measure)(tensors, about, X, labels)
    except Unusable:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise Unusable(f"not a usable model file: {type(error).__name__}: {error}") from None


def _check_joint(tensors: Parts, about: Parts, X: Any, labels: Any) -> dict[str, Verdict]:
    W, b, alpha, classes = tensors["coef"], tensors["intercept"], tensors["alpha"], about["classes"]
    n, k = alpha.shape
    c = tensors.get("weights", np.full(n, 1.0 / n))
    if len(W) != k or len(set(classes)) != k or c.shape != (n,) or len(about["certificates"]) != 1:
        raise Unusable("not a usable model file: its arrays do not fit each other")

    def check(_row: int, _y: Any, unit: float) -> Verdict:
        index = (np.asarray(labels)[:, None] == np.array(classes)).argmax(axis=1)
        return check_multiclass(X, index, W, b, alpha, c, about, unit)

    return check_problems(tensors, about, X, labels, n, check)


def _check_measure(tensors: Parts, about: Parts, X: Any, labels: Any) -> dict[str, Verdict]:
    n, repeats, classes = about["n_rows"], tensors.get("repeats"), about["classes"]
    k = 1 if len(classes) == 2 else len(set(classes))
    index = None if repeats is None else np.repeat(np.arange(n), repeats)
    if repeats is not None and repeats.shape == np.shape(labels):
        labels = np.where(repeats > 0, labels, classes[0])  # what is left out may have any label
    size = n if index is None else index.size
    m = tensors["law_weights"].size
    shapes = {"coef": (k, about["n_features"]), "law_rows": (m,), "law_ones": (m, -(-size // 8))}
    fits = all(tensors[name].shape == shape for name, shape in shapes.items()) and len(about["certificates"]) == k
    if not fits or (repeats is not None and repeats.shape != (n,)) or about["metric"] == "custom":
        raise Unusable("not a usable model file: its arrays do not fit each other")

    def check(r: int, y: Any, unit: float) -> Verdict:
        own = np.flatnonzero(tensors["law_rows"] == r)
        b = float(tensors["intercept"][r]) if about["bias"] else 0.0  # else it is a threshold, and not in J
        flips = (_flips(tensors, int(j), size) for j in own)
        return check_measure(X, y, tensors["coef"][r], b, tensors["law_weights"][own], flips, about, index, unit)

    return check_problems(tensors, about, X, labels, n, check)


def _flips(tensors: Parts, j: int, size: int) -> Any:
    """What labeling j flips of each example."""
    z = np.unpackbits(tensors["law_ones"][j], count=size).astype(np.float64)
    of_j = tensors["part_labelings"] == j
    z[tensors["part_examples"][of_j]] = tensors["part_values"][of_j]
    return z

"""Check a model trained for a measure of the whole sample, and its proof of optimality, with NumPy alone.

The claim is about, over w and b (b = 0 where there is no free bias), with s_i = ⟨x_i, w⟩ + b and n examples,

    J(w, b) = lam/2 |w|² + max over labelings y' of  loss(y') + Σ (y'_i - y_i) s_i / n.

Why nothing is lower than D: a maximum is at least any average. For labelings with weights β ≥ 0, Σ β = 1, let z_i be
the weight of those with y'_i ≠ y_i, α_i = -2 y_i z_i / n and v = Σ α_i x_i. Then

    J(w, b) ≥ lam/2 |w|² + Σ β loss + ⟨v, w⟩ + b Σ α_i ≥ Σ β loss - |v|²/(2 lam) + b Σ α_i.

What flips parts of examples, b positives and c negatives in all, b and c whole, is an average of labelings that flip
so many, and has their loss. Σ α_i = 0 up to rounding, which is charged with a bound of |b| at the optimum. The ROC area
has a label for each pair of a positive and a negative example: loss = share of swapped pairs, α_i = -y_i z_i / n_±,
z_i = the share of i's pairs that are swapped; such shares belong to swaps where the condition of Gale and Ryser holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.checker import FEW, Triplets, Verdict, gamma, lower_bound, product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["check_measure", "risk"]


def table_loss(claim: Mapping[str, Any], b: Any, c: Any, n_pos: int, n_neg: int) -> Any:
    """The loss of labelings that miss b positives and accuse c negatives; -inf where the measure has none such."""
    name = claim["metric"]
    if name == "error_rate":
        return (b + c) / (n_pos + n_neg)
    if name == "balanced_error":
        return 0.5 * (b / n_pos + c / n_neg)
    if name == "fbeta":
        square = claim["beta"] ** 2
        return (square * b + c) / ((1.0 + square) * n_pos - b + c)
    if name == "gmean":
        return 1.0 - np.sqrt((1.0 - b / n_pos) * (1.0 - c / n_neg))
    if name == "custom":
        return claim["function"](b, c, n_pos, n_neg)
    count, gain = {  # how many are predicted positive, and what each true one is worth
        "precision_at_k": (claim["k"], 1.0 / (claim["k"] or 1)),
        "recall_at_k": (claim["k"], 1.0 / n_pos),
        "prbep": (n_pos, 1.0 / n_pos),
    }[name]
    value = np.where(c - b == count - n_pos, 1.0 - gain * (n_pos - b), -np.inf)
    return np.where((b == 0) & (c == 0), 0.0, value)


def risk(s: Any, y: Any, claim: Mapping[str, Any]) -> float:
    """The worst labeling's loss + Σ (y'_i - y_i) s_i / n."""
    n, positive = y.size, y > 0
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if claim["metric"] == "roc_auc":
        return _pair_risk(np.sort(s[positive]), np.sort(s[~positive]))
    up, down = (
        np.concatenate([[0.0], np.cumsum(np.sort(g)[::-1])]) for g in (-2.0 * s[positive] / n, 2.0 * s[~positive] / n)
    )

    def value(b: Any, c: Any) -> Any:
        return table_loss(claim, b, c, n_pos, n_neg) + up[b] + down[c]

    rows, columns = np.arange(n_pos + 1), np.arange(n_neg + 1)
    if claim["metric"] in ("error_rate", "balanced_error"):  # a sum of one term for b and one for c
        return float(value(rows, 0 * rows).max() + value(0 * columns, columns).max())
    if claim["metric"] == "fbeta":
        return float(value(rows, _first_fall(value, n_pos, n_neg)).max())
    if claim["metric"] == "gmean":
        return _monotone(value, n_pos, n_neg)
    if claim["metric"] == "custom":
        return max(float(np.max(value(np.full_like(columns, b), columns))) for b in rows)
    shift = (claim["k"] or n_pos) - n_pos if claim["metric"] != "prbep" else 0
    on_line = rows[(rows + shift >= 0) & (rows + shift <= n_neg)]
    return float(max(value(on_line, on_line + shift).max(), 0.0))


def _first_fall(value: Callable[..., Any], n_pos: int, n_neg: int) -> Any:
    """For each b, the c of the maximum of a function that is concave in c, by bisection."""
    rows = np.arange(n_pos + 1)
    low, high = np.zeros_like(rows), np.full_like(rows, n_neg)
    while (low < high).any():
        middle = (low + high) // 2
        falls = value(rows, np.minimum(middle + 1, n_neg)) <= value(rows, middle)
        low, high = np.where(falls, low, np.minimum(middle + 1, high)), np.where(falls, middle, high)
    return low


def _monotone(value: Callable[..., Any], n_pos: int, n_neg: int) -> float:
    """The maximum of a function whose best c never rises with b: halves of the rows, each with its own columns."""
    best: float = -math.inf
    todo = [(0, n_pos, 0, n_neg)]
    while todo:
        first, last, left, right = todo.pop()
        b, columns = (first + last) // 2, np.arange(left, right + 1)
        values = value(np.full_like(columns, b), columns)
        c = left + int(values.argmax())
        best = max(best, float(values[c - left]))
        if first < b:
            todo.append((first, b - 1, c, right))
        if b < last:
            todo.append((b + 1, last, left, c))
    return best


def _pair_risk(pos: Any, neg: Any) -> float:
    """The mean over pairs of [1 - (s_i - s_j)]₊, for sorted scores."""
    above = np.concatenate([np.cumsum(neg[::-1])[::-1], [0.0]])
    first = np.searchsorted(neg, pos - 1.0, side="right")
    count = neg.size - first
    return float((count * (1.0 - pos) + above[first]).sum() / (pos.size * neg.size))


def _swaps_exist(z: Any, positive: Any) -> bool:
    """Whether 0 ≤ p_ij ≤ 1 exist with these means over rows and columns."""
    r, q = np.sort(z[positive])[::-1], np.sort(z[~positive])
    rows, columns = r * q.size, q * r.size
    slack = gamma(z.size + FEW) * r.size * q.size
    if abs(rows.sum() - columns.sum()) > slack:
        return False
    k = np.arange(1, r.size + 1)
    below = np.searchsorted(columns, k)
    least = np.concatenate([[0.0], np.cumsum(columns)])[below] + k * (q.size - below)
    return bool((np.cumsum(rows) <= least + slack).all())


def check_measure(
    X: Any,
    y: Any,
    w: Any,
    b: float,
    beta: Any,
    flips: Iterable[Any],
    claim: Mapping[str, Any],
    index: Any = None,
    unit: float = 0.0,
) -> Verdict:
    """J and D recomputed for labels ±1, and what is wrong with the labelings (nothing, one hopes).

    `flips` has what each labeling flips of the examples (shares, for the ROC area); `index` repeats rows of X and y.
    X is known up to `unit`, relative.
    """
    w = np.asarray(w, dtype=np.float64)
    rows, blur = product(X, w, unit)
    rows, blur = rows + b, blur + (gamma(5) + unit) * abs(b)
    s, blur, labels = (rows, blur, y) if index is None else (rows[index], blur[index], y[index])
    positive, n, lam = labels > 0, labels.size, claim["lam"]
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    J = 0.5 * lam * float(w @ w) + risk(s, labels, claim)
    few = gamma(n + w.size + beta.size + FEW)
    # a labeling moves each score by 2/n or less, a pair by 1 over the size of its class: so much is J off
    changes = blur + few * np.abs(s)
    lost = few * (1.0 + abs(J)) + 2.0 * float(changes[positive].mean() + changes[~positive].mean())
    problems = []
    if (beta < 0).any() or abs(beta.sum() - 1.0) > gamma(beta.size + FEW):
        problems.append("the weights of the labelings are not probabilities")
    z, loss = np.zeros(n), 0.0
    for weight, flip in zip(beta, flips, strict=True):
        flipped = np.asarray(flip, dtype=np.float64)
        z += weight * flipped
        if claim["metric"] == "roc_auc":
            loss += weight * float(flipped[positive].mean())
            if flipped.min() < 0 or flipped.max() > 1 or not _swaps_exist(flipped, positive):
                problems.append("no swaps of pairs have the shares of a labeling")
            continue
        sums = np.array([flipped[positive].sum()]), np.array([flipped[~positive].sum()])
        counts = np.round(sums[0]), np.round(sums[1])
        off = max(abs(float(total[0] - count[0])) for total, count in zip(sums, counts, strict=True))
        if flipped.min() < 0 or flipped.max() > 1 or off > few * n:
            problems.append("a labeling flips less than nothing, more than an example, or no whole number of them")
        loss += weight * float(table_loss(claim, *counts, n_pos, n_neg)[0])
    share = np.where(positive, n_pos, n_neg) if claim["metric"] == "roc_auc" else 0.5 * n
    alpha = -labels * z / share
    folded = alpha if index is None else np.bincount(index, weights=alpha, minlength=rows.size)
    v = product(X.T, folded, unit + few)
    D, slack = lower_bound(np.array([loss]), 1.0 + abs(loss), *v, unit + few, {"penalty": "l2", "lam": lam})
    if claim["bias"]:
        reach = bias_bound(J, lam, longest_row(X), n_pos, n_neg, claim)
        D -= reach * abs(float(alpha.sum()))
        slack += reach * few * float(np.abs(alpha).sum())
    return Verdict(float(J), float(D), problems, (float(lost), float(slack)))


def longest_row(X: Any) -> float:
    """The length of the longest row, of an array or of `checker.Triplets`."""
    sparse = isinstance(X, Triplets)
    squares = np.bincount(X.rows, X.values**2, minlength=X.shape[0]) if sparse else (X * X).sum(axis=1)
    return math.sqrt(float(squares.max()))


def bias_bound(J: float, lam: float, longest: float, n_pos: int, n_neg: int, claim: Mapping[str, Any]) -> float:
    """Of |b| at the optimum, where J(w, b) is at most J: the labelings of one class alone make J large beyond it."""
    ends = table_loss(claim, np.array([n_pos, 0]), np.array([0, n_neg]), n_pos, n_neg)
    least = min(n_pos, n_neg) / (n_pos + n_neg)
    return (J + max(0.0, -float(ends.min()))) / (2.0 * least) + longest * math.sqrt(2.0 * max(J, 0.0) / lam)

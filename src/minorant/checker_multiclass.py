"""Check a linear model of several classes that was fitted as one problem, with NumPy and `checker.py` alone.

For weights c_i ≥ 0 that sum to 1 the model claims to minimize, over W and b, with scores s_i = W x_i + b in R^k,

    J(W, b) = Ω(W) + Σ c_i loss(s_i, y_i).

Why nothing is lower than D: each loss is a maximum over the probabilities P of the k classes,
loss(s, y) ≥ gain(P, y) + ⟨P - E, s⟩ with E the unit vector of y. So for any P_i, with α_i = c_i (P_i - E_i) and
V = -Σ α_i x_iᵀ,

    J(W, b) ≥ Ω(W) - ⟨V, W⟩ + Σ c_i gain(P_i, y_i) + ⟨b, Σ α_i⟩ ≥ Σ c_i gain(P_i, y_i) - Ω*(V) + ⟨b, Σ α_i⟩.

With Σ α_i = 0 in every class (or no b) the last term goes, and D(α) is the rest. What rounding leaves of those sums is
charged: a loss is at least s_z - s_y, so where J is as small as here, with π_y the weight of the class y,
b_z - b_y ≤ J/π_y + 2 max |⟨x_i, w⟩|; and a constant added to b changes nothing, so that |b| is no larger than that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.checker import FEW, Verdict, bounds, gamma, lower_bound, penalty, plogp, product

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _log_sum_exp(s: Any) -> Any:
    top = s.max(axis=1, keepdims=True)
    return top[:, 0] + np.log(np.exp(s - top).sum(axis=1))


# name: loss(s, E) of each row, and gain(P, E); E has a 1 at the label, else 0
LOSSES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "multinomial": (lambda s, E: _log_sum_exp(s) - (s * E).sum(axis=1), lambda P, _: -plogp(P).sum(axis=1)),
    "crammer_singer": (
        lambda s, E: (1.0 - E + s).max(axis=1) - (s * E).sum(axis=1),
        lambda P, E: ((1.0 - E) * P).sum(axis=1),
    ),
}


def check_multiclass(
    X: Any, y: Any, W: Any, b: Any, alpha: Any, c: Any, claim: Mapping[str, Any], unit: float = 0.0
) -> Verdict:
    """Recompute J(W, b) and D(alpha) for labels y = 0, ..., k - 1, W of shape (k, p) and alpha of shape (n, k).

    X, `claim` and `unit` are as for `checker.check_linear`. Both losses change by no more than the scores do, twice.
    """
    W, b, alpha, c = (np.asarray(v, dtype=np.float64) for v in (W, b, alpha, c))
    loss, gain = LOSSES[claim["loss"]]
    if not (c.min() >= 0 and abs(math.fsum(np.minimum(c, 2.0)) - 1.0) <= gamma(c.size + FEW)):
        return Verdict(math.nan, math.nan, ["the weights must not be negative and must sum to 1"])
    problems = []
    if not claim["fit_intercept"] and b.any():
        problems.append(f"a model without intercepts has the intercepts {b.tolist()}")
    E = (np.asarray(y)[:, None] == np.arange(len(W))).astype(np.float64)

    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported by `bounds`
        scores, blur = (np.stack(parts, axis=1) for parts in zip(*(product(X, w, unit) for w in W), strict=True))
        blur = blur + (gamma(5) + unit) * (np.abs(b) + 1.0)
        primal = penalty(claim)[0](W.ravel()) + float(c @ loss(scores + b, E))
        lost = 2.0 * float(c @ blur.max(axis=1)) + gamma(c.size + W.size + FEW) * (1.0 + primal)

    used = (c > 0)[:, None]
    P = E + np.divide(alpha, c[:, None], out=np.zeros_like(alpha), where=used)
    outside = np.maximum(-P.min(axis=1), np.abs(P.sum(axis=1) - 1.0))
    outside = np.where(used[:, 0], outside, np.abs(alpha).max(axis=1))
    if not outside.max() <= gamma(len(W) + FEW):
        i = int(outside.argmax())
        problems.append(f"alpha of row {i + 1} is off the probabilities by {outside[i]:.3g}")
    P = np.maximum(P, 0.0)
    P = P / P.sum(axis=1, keepdims=True)  # whatever the file says, the bound below is then a bound
    toward = c[:, None] * (P - E)
    V, off_by = map(np.concatenate, zip(*(product(X.T, a, unit) for a in toward.T.copy()), strict=True))
    gains = c * gain(P, E)
    dual, slack = lower_bound(gains, float(gains.sum()) + len(W), V, off_by, unit, claim)
    if claim["fit_intercept"]:
        off = float(sum(abs(math.fsum(column)) for column in toward.T))
        if not off <= gamma(c.size + FEW):
            problems.append(f"the alpha of the classes sum to {off:.3g}; free intercepts need 0")
        rarest = float((c @ E).min())
        range_of_b = primal / rarest + 2.0 * _largest_score(X, claim, primal) if rarest > 0 else math.inf
        slack += off * range_of_b if off > 0 else 0.0
    return bounds(primal, dual, problems, (lost, slack))


def _largest_score(X: Any, claim: Mapping[str, Any], primal: float) -> float:
    """|⟨x_i, w⟩| ≤ Σ_j |x_ij| · |w|, in the norm in which Ω(w) ≤ J bounds |w|."""
    r = {"l1": 1.0, "elasticnet": claim.get("l1_ratio", 0.0)}.get(claim["penalty"], 0.0)
    size = primal / claim["lam"] if r == 1 else math.sqrt(2.0 * primal / (claim["lam"] * (1.0 - r)))
    return float(product(X, np.ones(X.shape[1]), 1.0)[1].max()) * size

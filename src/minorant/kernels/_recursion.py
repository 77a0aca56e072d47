"""The entropic law of labelings by the forward and backward recursion over the examples, in energies.

    P(y') ∝ exp((Δ(b, c) + Σ flipped gains)/T);   E_k(v) = T log Σ over v flips of the first k of exp(Σ gains/T)

Energies stay of the size of the gains whatever T is; T → 0 is the maximum itself. For every Δ; O(n²) time and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.kernels._smoothing import Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.measures import Measure

    Vector = NDArray[np.float64]

__all__ = ["recursion_law"]


def _soft(a: Vector, b: Vector, T: float) -> Vector:
    return np.asarray(T * np.logaddexp(a / T, b / T))


def _soft_sum(values: Vector, axis: int, T: float) -> Vector:
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(top.squeeze(axis) + T * np.log(np.exp((values - top) / T).sum(axis=axis)))


def _forward(gains: Vector, T: float) -> list[Vector]:
    energies = [np.zeros(1)]
    for gain in gains:
        last, end = energies[-1], [-np.inf]
        energies.append(_soft(np.concatenate([last, end]), np.concatenate([end, last + gain]), T))
    return energies


def _backward(gains: Vector, energies: list[Vector], weight: Vector, log_mass: float, T: float) -> Vector:
    """P(flip of each), for the energies `weight` of what the number of flips does to the rest."""
    flips = np.empty(gains.size)
    for k in range(gains.size - 1, -1, -1):
        flipped = gains[k] + weight[1:]
        flips[k] = np.exp((energies[k] + flipped - log_mass) / T).sum()
        weight = _soft(weight[:-1], flipped, T)
    return flips


def recursion_law(which: Measure, pos: Vector, neg: Vector, T: float) -> Law:
    """The law for the gains of the positives and the negatives; nothing is left out."""
    up, down = _forward(pos, T), _forward(neg, T)
    b, c = np.meshgrid(np.arange(pos.size + 1.0), np.arange(neg.size + 1.0), indexing="ij")
    loss = which.loss(b, c, pos.size, neg.size)
    eta_pos, eta_neg = _soft_sum(loss + down[-1], 1, T), _soft_sum(loss + up[-1][:, None], 0, T)
    log_mass = float(_soft_sum(up[-1] + eta_pos, 0, T))
    P = np.exp((loss + up[-1][:, None] + down[-1] - log_mass) / T)
    mean = float((P * np.where(P > 0, loss, 0.0)).sum())
    flips = _backward(pos, up, eta_pos, log_mass, T), _backward(neg, down, eta_neg, log_mass, T)
    return Law(log_mass / T, mean, np.minimum(flips[0], 1.0), np.minimum(flips[1], 1.0))

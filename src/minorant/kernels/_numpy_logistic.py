"""The sums of the logistic loss in plain NumPy, with the signatures of `cpp/bind_logistic.hpp`; t = α/c."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlog1py, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["logistic_conjugate", "logistic_conjugate_slope", "logistic_loss", "softmax_sums"]


def logistic_loss(r: Vector, c: Vector) -> float:
    """Σ c log(1 + e^r)."""
    return float((c * np.logaddexp(0.0, r)).sum())


def logistic_conjugate(alpha: Vector, c: Vector) -> float:
    """Σ c (t log t + (1 - t) log(1 - t)), t rounded into [0, 1]."""
    t = np.clip(_ratio(alpha, c), 0.0, 1.0)
    return float((c * (xlogy(t, t) + xlog1py(1.0 - t, -t))).sum())


def logistic_conjugate_slope(alpha: Vector, c: Vector, s: float) -> float:
    """Σ α (log(s t) - log(1 - s t)), the slope in s of the conjugate of s α."""
    t = s * _ratio(alpha, c)
    a, t = alpha[t > 0], t[t > 0]
    return float((a * (np.log(t) - np.log1p(-t))).sum())


def _ratio(alpha: Vector, c: Vector) -> Vector:
    return np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)


def softmax_sums(
    V: NDArray[np.float64], c: Vector, temperature: float, b: Vector
) -> tuple[float, Vector, NDArray[np.float64]]:
    """Σ c_i T log Σ exp((v_i + b)/T), Σ c_i P_i and Σ c_i P_i P_iᵀ for P_i = softmax((v_i + b)/T)."""
    Z = (V + b) / temperature
    top = Z.max(axis=1)
    P = np.exp(Z - top[:, None])
    total = P.sum(axis=1)
    P /= total[:, None]
    weighted = c[:, None] * P
    value = temperature * float((c * (top + np.log(total))).sum())
    return value, weighted.sum(axis=0), np.einsum("iy,iz->yz", weighted, P)

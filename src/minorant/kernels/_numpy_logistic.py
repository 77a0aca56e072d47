"""The sums of the logistic loss in plain NumPy, with the signatures of `cpp/bind_logistic.hpp`; t = α/c."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlog1py, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["logistic_conjugate", "logistic_conjugate_slope", "logistic_loss"]


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

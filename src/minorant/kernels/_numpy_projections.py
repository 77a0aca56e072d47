"""The projections in plain NumPy, by sorting: O(n log n) where the C++ core takes linear time.

Onto the simplex and the elastic-net ball a point moves by shrinking: entries leave in the order of their size. If the
k largest are left, one equation gives the shift; the true shift is the least of these n, for the constraint function
is the maximum over k of n increasing ones. Each equation is written relative to the largest entry, which costs no
digits however large the entries or small the set.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, log
from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


def box_plane(
    center: Vector, lower: Vector, upper: Vector, normal: Vector, offset: float, weights: Vector
) -> tuple[Vector, float, int]:
    """Minimize ½ Σ d_i (x_i - m_i)² over l ≤ x ≤ u, ⟨s, x⟩ = z, for d = weights, m = center, s = normal, z = offset.

    x(λ) = clip(m + λ s/d, l, u) for the root λ of ⟨s, x(λ)⟩ = z, which does not decrease in λ: bisection over
    the sorted kinks d (l - m)/s and d (u - m)/s, then interpolation. Returns x, λ and the elements visited.
    """
    m, l, u, s, d, z = center, lower, upper, normal, weights, float(offset)
    moving = s != 0
    ends = np.sort(s[moving] * np.stack([l[moving], u[moving]]), axis=0)
    least, most = float(ends[0].sum()), float(ends[1].sum())
    slack = 1e-12 * max(1.0, abs(z), float(np.abs(ends[np.isfinite(ends)]).sum()))
    if not least - slack <= z <= most + slack:
        raise InputError(f"no point of the box has ⟨normal, x⟩ = {z}: it ranges over [{least}, {most}]")

    def point(lam: float) -> Vector:
        return np.asarray(np.clip(m + lam * (s / d), l, u))

    def excess(lam: float) -> float:
        return float(s[moving] @ point(lam)[moving]) - z

    rate = d[moving] / s[moving]
    kinks = np.concatenate([rate * (l - m)[moving], rate * (u - m)[moving]])
    kinks = np.unique(kinks[np.isfinite(kinks)])
    work = m.size
    if not kinks.size:
        lam = -excess(0.0) / float((s[moving] / rate).sum()) if moving.any() else 0.0
        return point(lam), lam, work
    low, high = -1, kinks.size  # excess(kinks[low]) ≤ 0 ≤ excess(kinks[high]) where both exist
    while high - low > 1:
        middle = (low + high) // 2
        work += m.size
        low, high = (middle, high) if excess(kinks[middle]) <= 0 else (low, middle)
    base = float(kinks[max(low, 0)])
    step = max(1.0, abs(base))  # beyond the outermost kinks only unbounded coordinates move
    inside = base - step if low < 0 else base + step if high == kinks.size else 0.5 * (base + float(kinks[high]))
    x = point(inside)
    free = moving & (l < x) & (x < u)
    slope = float((s[free] ** 2 / d[free]).sum())
    if slope > 0:
        lam = base - excess(base) / slope
    else:  # flat at zero, unless rounding made a step of the ramp at one of the ends
        lam = base if high == kinks.size or excess(inside) >= 0 else float(kinks[high])
    return point(lam), lam, work


def elastic_net_ball(center: Vector, radius: float, gamma: float) -> tuple[Vector, float, int]:
    """Minimize ½‖x - g‖² over γ‖x‖₁ + ½‖x‖² ≤ r, for g = center, r = radius > 0, γ = gamma ≥ 0.

    x = soft(g, λγ)/(1 + λ). With G = max|g| and x's largest entry τ that is, for q = (γ + |g|)/(γ + G) and
    δ = (G - |g|)/(γ + G), |x| = [τ q - γ δ]_+; for the active entries A the constraint reads
    (γ + τ)² Σ_A q² = 2r + |A| γ², so τ² + 2γτ = (2r + γ² Σ_A (1 - q²)) / Σ_A q², and λ = (G - τ)/(γ + τ).
    ERRATUM 34: the printed equation has γr for r. Returns x, λ and the elements visited.
    """
    size = np.abs(center)
    with np.errstate(over="ignore"):
        if gamma * float(size.sum()) + 0.5 * float(np.square(size).sum()) <= radius:
            return center.copy(), 0.0, center.size
    most = float(size.max())
    q, delta = (gamma + size) / (gamma + most), (most - size) / (gamma + most)
    order = np.argsort(-size, kind="stable")
    squares, rest = np.cumsum(q[order] ** 2), np.cumsum((delta * (1 + q))[order])
    side = np.hypot(np.sqrt(2 * radius), gamma * np.sqrt(rest)) / np.sqrt(squares)
    tau = min(float((side * (side / (gamma + np.hypot(gamma, side)))).min()), most)
    x = np.copysign(np.maximum(tau * q - gamma * delta, 0.0), center) + 0.0  # no negative zeros
    return x, (most - tau) / (gamma + tau), 2 * center.size


def entropic_cap(log_weights: Vector, cap: float) -> tuple[Vector, Vector, int]:
    """Minimize Σ x_i (log x_i - a_i) over 0 ≤ x ≤ ν, Σ x = 1, for a = log_weights, ν = cap with nν ≥ 1.

    x = min(ν, θ e^a). In descending order the first j reach the cap, for the least j with
    Σ_{i ≥ j} exp(a_i - a_j) ≥ (1 - jν)/ν; the others share 1 - jν in proportion to e^a. Differences of log-weights
    alone enter, so their size does not matter. Returns x, log x, which does not underflow, and the elements visited.
    """
    n, a, cap = log_weights.size, log_weights, min(cap, 1.0)
    if n * cap <= 1:
        return np.full(n, 1 / n), np.full(n, -log(n)), n
    whole = floor(1 / Fraction(cap))
    left = float(1 - whole * Fraction(cap))  # exact, so that 1 - kν = (whole - k)ν + left keeps its digits
    order = np.argsort(-a, kind="stable")
    work, low, high = n, -1, min(n - 1, whole - (left == 0))  # not enough at low, enough at high
    while high - low > 1:
        k = (low + high) // 2
        work += n - k
        with np.errstate(over="ignore"):
            total = float(np.exp(a[order[k:]] - a[order[k]]).sum())
        low, high = (low, k) if total >= (whole - k) + left / cap else (k, high)
    free = order[high:]
    with np.errstate(over="ignore"):
        share = a[free] - a[free[0]]
    e = np.exp(share)
    mass, total = (whole - high) * cap + left, float(e.sum())
    x, log_x = np.full(n, cap), np.full(n, log(cap))
    x[free] = np.minimum(e * (mass / total), cap)
    log_x[free] = np.minimum(share + (log(mass) - log(total)), log(cap))
    return x, log_x, work


def simplex_blocks(centers: NDArray[np.float64], mass: Vector, threads: int) -> NDArray[np.float64]:
    """The nearest point to each row of `centers` with entries ≥ 0 that sum to the row's mass: [c - max c + σ]_+."""
    with np.errstate(over="ignore"):
        below = centers - centers.max(axis=1, keepdims=True)
    sums = np.cumsum(-np.sort(-below, axis=1), axis=1)
    sigma = ((mass[:, None] - sums) / np.arange(1, centers.shape[1] + 1)).min(axis=1, keepdims=True)
    return np.asarray(np.maximum(below + sigma, 0.0))

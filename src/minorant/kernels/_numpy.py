"""The kernels in plain NumPy, each written from its definition.

They are the tests' oracle for the C++ core, and what runs where no compiler was available; the two share one
signature. Sums are in float64 whatever the type of the data. `threads` is there for the signature alone.

The scale of the hinge is that of the mean loss: c_i = weight_i / Σ weight, and with u = -y·scores

    hinge(u, b) = Σ c_i [1 + u_i - y_i b]_+ ;  smoothed at mu: max over 0 ≤ α ≤ c of ⟨α, 1 + u - y b⟩ - mu/2 Σ α_i²/c_i
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Values = NDArray[np.float32] | NDArray[np.float64]
    Indices = NDArray[np.int32] | NDArray[np.int64]


def dot(a: Vector, b: Vector) -> float:
    """⟨a, b⟩, summed on this thread: BLAS would start threads of its own, and its result depend on their number."""
    return float(np.einsum("i,i->", a, b))


def check_csr(indices: Indices, indptr: Indices, n_rows: int, n_columns: int) -> None:
    """Refuse a sparse matrix whose indices would make a kernel read outside its arrays."""
    if indptr.size != n_rows + 1:
        raise InputError(f"sparse matrix with {n_rows} rows has an indptr of length {indptr.size}, not {n_rows + 1}")
    lengths = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != indices.size or (lengths < 0).any():
        raise InputError("sparse matrix has a bad indptr: it must rise from 0 to the number of stored values")
    bad = np.flatnonzero((indices < 0) | (indices >= n_columns))
    if bad.size:
        row = int(np.searchsorted(indptr, bad[0], side="right")) - 1
        raise InputError(
            f"sparse matrix has column index {indices[bad[0]]} in row {row}; allowed: 0 to {n_columns - 1}"
        )


def _rows(indptr: Indices) -> NDArray[np.intp]:
    return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))


def _sums(bins: NDArray[np.integer], values: Vector, n: int) -> Vector:
    return np.bincount(bins, weights=values, minlength=n).astype(np.float64, copy=False)  # int64 if empty


def csr_dot(data: Values, indices: Indices, indptr: Indices, w: Vector, threads: int) -> Vector:
    """X w for X in compressed sparse rows."""
    return _sums(_rows(indptr), data * w[indices], indptr.size - 1)


def csr_tdot(data: Values, indices: Indices, indptr: Indices, alpha: Vector, n_columns: int, threads: int) -> Vector:
    """Xᵀ α for X in compressed sparse rows."""
    return _sums(indices, data * alpha[_rows(indptr)], n_columns)


def csr_row_norms(data: Values, indices: Indices, indptr: Indices, threads: int) -> Vector:
    """‖x_i‖₂ of each row of X in compressed sparse rows."""
    return np.sqrt(_sums(_rows(indptr), np.square(data, dtype=np.float64), indptr.size - 1))


def dense_dot(X: Values, w: Vector, threads: int) -> Vector:
    """X w for a row-major X."""
    return np.asarray(np.einsum("ij,j->i", X, w, dtype=np.float64))


def dense_tdot(X: Values, alpha: Vector, threads: int) -> Vector:
    """Xᵀ α for a row-major X."""
    return np.asarray(np.einsum("ij,i->j", X, alpha, dtype=np.float64))


def dense_row_norms(X: Values, threads: int) -> Vector:
    """‖x_i‖₂ of each row of a row-major X."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))


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


def smoothed_hinge(
    u: Vector, y: Vector, c: Vector, mu: float, free_bias: bool, guess: float, threads: int
) -> tuple[float, Vector, float]:
    """The hinge smoothed at mu: its value, the maximizer α, and the bias b (0 without `free_bias`).

    With a free bias, α lies on the hyperplane ⟨y, α⟩ = 0 and b is its multiplier.
    """
    v = 1 + u
    bias = 0.0
    if free_bias:
        used = c > 0
        cu, yu = c[used], y[used]
        for _ in range(3):  # the later rounds find what the rounding of a large bias hid beside a small mu
            _, lam, _ = box_plane(cu * v[used] / mu, 0 * cu, cu, yu, 0.0, mu / cu)
            v = v + y * lam
            bias -= lam
    t = np.clip(v / mu, 0.0, 1.0)
    return float(c @ (t * (v - 0.5 * mu * t))), c * t, bias


def hinge(u: Vector, y: Vector, c: Vector, free_bias: bool, threads: int) -> tuple[float, float]:
    """The exact hinge, minimized over the bias where it is free: value and bias.

    The slope in b is Σ over {y_i + y_i u_i < b} of c_i less the weight of the positive class, so b is that weighted
    quantile of the kinks y_i (1 + u_i); where a whole interval is optimal, its middle.
    """
    bias = 0.0
    if free_bias:
        kinks = y * (1 + u)
        order = np.argsort(kinks, kind="stable")
        order = order[c[order] > 0]
        if not order.size:
            return 0.0, 0.0
        reached = np.cumsum(c[order])
        target = float(c[y > 0].sum())
        slack = 1e-12 * float(reached[-1])
        low = min(int(np.searchsorted(reached, target - slack)), order.size - 1)
        high = min(int(np.searchsorted(reached, target + slack, side="right")), order.size - 1)
        bias = 0.5 * float(kinks[order[low]] + kinks[order[high]])
    return float(c @ np.maximum(0.0, 1 + u - y * bias)), bias

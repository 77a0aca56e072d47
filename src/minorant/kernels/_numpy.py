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
from minorant.kernels._dot import dot
from minorant.kernels._numpy_coordinate import SparseStore32, SparseStore64, gather_dense, solve_dense_columns
from minorant.kernels._numpy_logistic import logistic_conjugate, logistic_conjugate_slope, logistic_loss, softmax_sums
from minorant.kernels._numpy_multivariate import (
    count_positives,
    count_scan,
    couple_f,
    couple_gmean,
    f_scan,
    f_select,
    flip_from,
    flip_gains,
    flip_shares,
    flip_top,
    gmean_scan,
    gmean_select,
    ranks,
    swapped_pairs,
)
from minorant.kernels._numpy_newton import (
    SweptRows,
    along,
    balance,
    bends,
    csr_cholesky,
    csr_conjugate_gradients,
    csr_row_products,
    csr_sweeps,
    dense_cholesky,
    dense_conjugate_gradients,
    dense_row_products,
    dense_sweeps,
    excess,
)
from minorant.kernels._numpy_projections import box_plane, elastic_net_ball, entropic_cap, simplex_blocks
from minorant.kernels._numpy_row_newton import csr_columns_newton, csr_row_newton, dense_row_newton
from minorant.kernels._numpy_simplex_qp import simplex_qp
from minorant.kernels._numpy_tree import PoissonTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Values = NDArray[np.float32] | NDArray[np.float64]
    Indices = NDArray[np.int32] | NDArray[np.int64]

__all__ = [
    "PoissonTree",
    "SparseStore32",
    "SparseStore64",
    "SweptRows",
    "all_finite",
    "along",
    "balance",
    "bends",
    "box_plane",
    "check_csr",
    "count_positives",
    "count_scan",
    "couple_f",
    "couple_gmean",
    "csr_add_rows",
    "csr_cholesky",
    "csr_column_norms",
    "csr_columns_newton",
    "csr_conjugate_gradients",
    "csr_dot",
    "csr_has_duplicates",
    "csr_row_newton",
    "csr_row_norms",
    "csr_row_products",
    "csr_sweeps",
    "csr_tdot",
    "dense_add_rows",
    "dense_cholesky",
    "dense_column_norms",
    "dense_conjugate_gradients",
    "dense_dot",
    "dense_row_newton",
    "dense_row_norms",
    "dense_row_products",
    "dense_sweeps",
    "dense_tdot",
    "dot",
    "elastic_net_ball",
    "entropic_cap",
    "excess",
    "f_scan",
    "f_select",
    "flip_from",
    "flip_gains",
    "flip_shares",
    "flip_top",
    "gather_dense",
    "gmean_scan",
    "gmean_select",
    "gram_rows",
    "hinge",
    "logistic_conjugate",
    "logistic_conjugate_slope",
    "logistic_loss",
    "ranks",
    "simplex_blocks",
    "simplex_qp",
    "smoothed_hinge",
    "softmax_sums",
    "solve_dense_columns",
    "swapped_pairs",
    "two_labels",
]


def all_finite(values: Values, threads: int) -> bool:
    """No value is NaN or infinite."""
    return bool(np.isfinite(values).all())


def two_labels(y: Values) -> tuple[float, float] | None:
    """The smaller and the larger value of y, where there are just two, both of them whole and finite numbers."""
    found = np.unique(y).tolist()
    return (found[0], found[1]) if len(found) == 2 and all(abs(v) <= 2**53 and v == int(v) for v in found) else None


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


def csr_has_duplicates(indices: Indices, indptr: Indices, n_columns: int) -> bool:
    """Whether a row has two values in one column; its columns may be in any order."""
    check_csr(indices, indptr, indptr.size - 1, n_columns)
    rows = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
    order = np.lexsort((indices, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(indices[order]) == 0)
    return bool(same.any())


def csr_dot(data: Values, indices: Indices, indptr: Indices, w: Vector, threads: int) -> Vector:
    """X w for X in compressed sparse rows."""
    return _sums(_rows(indptr), data * w[indices], indptr.size - 1)


def csr_tdot(data: Values, indices: Indices, indptr: Indices, alpha: Vector, n_columns: int, threads: int) -> Vector:
    """Xᵀ α for X in compressed sparse rows."""
    return _sums(indices, data * alpha[_rows(indptr)], n_columns)


def csr_add_rows(
    data: Values, indices: Indices, indptr: Indices, rows: NDArray[np.int32], values: Vector, base: Vector
) -> Vector:
    """base + Σ_k values_k x_i for the rows i of the list, of X in compressed sparse rows."""
    alpha = np.bincount(rows, weights=values, minlength=indptr.size - 1).astype(np.float64)
    return np.asarray(base + csr_tdot(data, indices, indptr, alpha, base.size, 1))


def dense_add_rows(X: Values, rows: NDArray[np.int32], values: Vector, base: Vector) -> Vector:
    """The same for a dense X."""
    return np.asarray(base + np.einsum("ij,i->j", X[rows], values))


def gram_rows(V: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """The inner products of the rows from `first` on with all rows."""
    return np.asarray(np.einsum("ik,jk->ij", V[first:], V))


def csr_row_norms(data: Values, indices: Indices, indptr: Indices, threads: int) -> Vector:
    """‖x_i‖₂ of each row of X in compressed sparse rows."""
    return np.sqrt(_sums(_rows(indptr), np.square(data, dtype=np.float64), indptr.size - 1))


def csr_column_norms(
    data: Values, indices: Indices, indptr: Indices, weights: Vector, n_columns: int, threads: int
) -> Vector:
    """(Σ_i weights_i x_ij²)^½ of each column of X in compressed sparse rows."""
    return np.sqrt(_sums(indices, np.square(data, dtype=np.float64) * weights[_rows(indptr)], n_columns))


def dense_dot(X: Values, w: Vector, threads: int) -> Vector:
    """X w for a row-major X."""
    return np.asarray(np.einsum("ij,j->i", X, w, dtype=np.float64))


def dense_tdot(X: Values, alpha: Vector, threads: int) -> Vector:
    """Xᵀ α for a row-major X."""
    return np.asarray(np.einsum("ij,i->j", X, alpha, dtype=np.float64))


def dense_row_norms(X: Values, threads: int) -> Vector:
    """‖x_i‖₂ of each row of a row-major X."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))


def dense_column_norms(X: Values, by_columns: bool, weights: Vector, threads: int) -> Vector:
    """(Σ_i weights_i x_ij²)^½ of each column of a row-major X, or of each row where these are the columns."""
    sums = "ji,ji,i->j" if by_columns else "ij,ij,i->j"
    return np.asarray(np.sqrt(np.einsum(sums, X, X, weights, dtype=np.float64)))


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


def hinge(u: Vector, y: Vector, c: Vector, free_bias: bool, threads: int, guess: float = np.nan) -> tuple[float, float]:
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

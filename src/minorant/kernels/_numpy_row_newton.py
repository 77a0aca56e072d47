"""Proximal Newton by rows in plain NumPy, with the signatures of `cpp/bind_row_newton.hpp`.

`dense_row_newton` and `csr_row_newton` solve the problem of `_numpy_coordinate` on all columns until the gap is about
`enough` times J, with a free bias at its best; `csr_columns_newton` does so on some columns, or until the gap is `part`
of what it was. They return w, the scores X w, e_i = c_i s_i φ'(r_i), and Xᵀe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from minorant.kernels._numpy_coordinate import Block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Loss = tuple[float, float, float]
    Found = tuple[Vector, Vector, Vector, Vector]

__all__ = ["csr_columns_newton", "csr_row_newton", "dense_row_newton"]


def dense_row_newton(
    X: NDArray[Any],
    by_columns: bool,
    s: Vector,
    a: Vector,
    c: Vector,
    loss: Loss,
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    most: int,
) -> Found:
    """For a dense matrix, or its transpose where it is stored by columns."""
    Z = np.asarray(X.T if by_columns else X, dtype=np.float64)
    return _solve(Z, s, a, c, loss, l1, l2, bias, w, b, enough, 0.0, most)


def csr_row_newton(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    s: Vector,
    a: Vector,
    c: Vector,
    loss: Loss,
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    most: int,
) -> Found:
    """For a matrix in compressed rows."""
    X = csr_array((data.astype(np.float64), indices, indptr), shape=(indptr.size - 1, w.size))
    return _solve(X, s, a, c, loss, l1, l2, bias, w, b, enough, 0.0, most)


def csr_columns_newton(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_columns: int,
    columns: NDArray[np.int64],
    s: Vector,
    a: Vector,
    c: Vector,
    loss: Loss,
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    part: float,
    most: int,
) -> Found:
    """For some columns of a matrix in compressed rows."""
    X = csr_array((data.astype(np.float64), indices, indptr), shape=(indptr.size - 1, n_columns))
    return _solve(X[:, columns], s, a, c, loss, l1, l2, bias, w, b, enough, part, most)


def _solve(
    X: Any,
    s: Vector,
    a: Vector,
    c: Vector,
    loss: Loss,
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    part: float,
    most: int,
) -> Found:
    level = enough
    for _ in range(min(most, 20)):  # J is known once it has been minimized: then `enough` of it is
        block = Block(X, s, a, c, loss, l1, l2, bias, w, b, level, part)
        w, scores, _ = block.solve()
        b = block.b
        goal = enough * block.value()
        if level <= goal or part > 0:  # a part is a part, of whatever the gap was
            break
        level = goal
    slope = block.slopes(scores)
    if bias:
        b = _best_bias(block, scores, b)
        slope = block.slopes(scores, b)
    e = c * s * slope
    return w, scores, e, np.asarray(X.T @ e)


def _best_bias(block: Block, scores: Vector, b: float) -> float:
    """The root of Σ c s φ'(r), which rises with b: bisection, to the last digit."""
    weights = block.c * block.s

    def rise(at: float) -> float:
        return float(weights @ block.slopes(scores, at))

    width = 1.0
    while rise(b - width) > 0 or rise(b + width) < 0:
        width *= 4.0
        if width > 1e12:
            return b
    low, high = b - width, b + width
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if rise(middle) > 0 else (middle, high)
    return 0.5 * (low + high)

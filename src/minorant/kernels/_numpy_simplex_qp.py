"""The small quadratic program of a bundle in plain NumPy: `solvers/simplex_qp.py` says what it is.

On a support S the equality problem is linear,

    [Q_SS  A_Sᵀ] [β_S]   [d_S]
    [A_S    0  ] [ ν ] = [ r ],

with two tiny diagonals that keep it regular where cuts repeat each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

__all__ = ["simplex_qp"]

_RIDGE = 1e-13
_ROUNDING = 1e-13


def simplex_qp(Q: Matrix, d: Vector, A: Matrix, r: Vector, start: Vector) -> tuple[Vector, Vector]:
    """β and the multipliers ν of the equations, from a feasible β."""
    scale = max(float(np.abs(Q).max()), float(np.abs(d).max()), 1e-300)
    Q, d = Q / scale, d / scale
    beta, support = start.copy(), start > 0
    nu = np.zeros(r.size)
    for _ in range(3 * d.size + 50):  # a cycle, which rounding alone can make, ends at a feasible point
        S = np.flatnonzero(support)
        new, nu = _solve(Q[np.ix_(S, S)], d[S], A[:, S], r)
        if new.min() < 0:
            old = beta[S]
            room = np.full(S.size, np.inf)
            np.divide(old, old - new, out=room, where=new < 0)
            first = int(room.argmin())
            value = np.maximum(old + room[first] * (new - old), 0.0)
            value[first] = 0.0
            beta[S] = value
            support[S[first]] = False
            continue
        beta[S] = new
        excess = d - np.einsum("ij,j->i", Q[:, S], new) - np.einsum("ij,i->j", A, nu)
        excess[S] = -np.inf
        best = int(excess.argmax())
        if excess[best] <= _ROUNDING * max(1.0, float(np.abs(d).max())):
            break
        support[best] = True
    return beta / beta.sum(), nu * scale


def _solve(Q: Matrix, d: Vector, A: Matrix, r: Vector) -> tuple[Vector, Vector]:
    k, e = d.size, r.size
    K = np.zeros((k + e, k + e))
    K[:k, :k] = Q
    K[:k, :k].flat[:: k + 1] += _RIDGE
    K[:k, k:], K[k:, :k] = A.T, A
    K[k:, k:].flat[:: e + 1] = -0.01 * _RIDGE
    solution = np.linalg.solve(K, np.concatenate([d, r]))
    return solution[:k], solution[k:]

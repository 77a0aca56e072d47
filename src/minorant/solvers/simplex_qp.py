"""The small quadratic program of a bundle, by an active set:

    max over β of  ⟨d, β⟩ - ½ ⟨β, Q β⟩     with  β ≥ 0,  A β = r

for a positive semidefinite Q and one or two equations, the first of them Σ β = 1. It begins at a feasible β and every
β on the way is feasible: the solution of the equality problem on a support S is taken as far as β stays ≥ 0; the index
that blocks leaves S, and where none blocks, the index with the largest d_j - (Q β)_j - (Aᵀν)_j > 0 enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant._native import core_or
from minorant.kernels import _numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant import _core

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

__all__ = ["maximize"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)


def maximize(Q: Matrix, d: Vector, A: Matrix, r: Vector, start: Vector) -> tuple[Vector, Vector]:
    """β and the multipliers ν of the equations, from a feasible β."""
    size = np.maximum(A.max(axis=1), -A.min(axis=1))
    size[size == 0] = 1.0
    beta, nu = _core.simplex_qp(np.ascontiguousarray(Q), d, A / size[:, None], r / size, start)
    return beta, nu / size

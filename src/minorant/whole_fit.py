"""A small classifier in one call of the compiled core, from w = 0 to its certificate (`cpp/whole_fit.hpp`).

Where Newton's method is what "auto" would choose anyway, a fit of a millisecond spends most of it between the calls.
What is not certified by it goes the way of `solvers/linear.py`.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant import kernels
from minorant.certificate import Certificate, Status
from minorant.driver import Progress, Result
from minorant.operators import RowMatrix
from minorant.solvers.linear import newton_from_the_start
from minorant.solvers.newton import BUDGET, ITERATIONS, rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.losses.scalar import Scalar
    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]

__all__ = ["whole_fit"]

_EQUAL = np.empty(0)
_LEAST_TOL = 1e-11  # below it rounding has a say, which the driver knows how to ask


class _Outline(NamedTuple):
    """What the rule of `solvers/linear.py` asks for."""

    n: int
    p: int
    size: int
    matrix: RowMatrix
    scalar: Scalar


def whole_fit(A: LinearMap, y: Vector, c: Vector | None, like: Scalar, lam: float, tol: float) -> Result | None:
    """The fit to labels -1 and 1 with λ/2 ‖w‖²; None where it is not one for a single call, or not certified by it.

    `c` may be None: then all are 1/n. `like` is the loss of any other labels: φ, the offset, whether there is a bias.
    """
    if not (kernels.native and isinstance(A, RowMatrix) and tol >= _LEAST_TOL):
        return None
    n, p = A.shape
    if not newton_from_the_start(_Outline(n, p, p + like.bias, A, like)):
        return None
    if c is None:
        c = _EQUAL
    elif like.bias and not (c[y > 0].any() and c[y < 0].any()):
        return None
    began = perf_counter()
    loss = (like.logistic, like.shape, float(like.offset[0]))
    mu = 0.0 if like.smooth else 1.0
    w, alpha, primal, dual, bias, _, products = A.whole_fit(
        y, c, *loss, lam, like.bias, rules(1.0), mu, ITERATIONS, tol, BUDGET
    )
    if not primal - dual <= tol * primal < inf:
        return None
    dual = min(dual, primal)  # rounding
    certificate = Certificate(primal, dual, alpha, Status.CERTIFIED, products)
    progress = Progress(1, perf_counter() - began, products, primal, dual, 0.0, 0.0)
    return Result(w, np.asarray(bias), certificate, 1, (progress,))

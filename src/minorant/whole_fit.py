"""Fits in one call of the compiled core, from w = 0 to the certificate: small classifiers, and least squares.

A classifier (`cpp/whole_fit.hpp`) goes the way of `solvers/linear.py`, by the same rule; but a fit of a few
milliseconds would spend many of them between the calls. Least squares (`cpp/least_squares.hpp`) are one system, solved
by conjugate gradients or directly. What a call cannot certify within its budget starts that solver.
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
from minorant.solvers.examples import PACING
from minorant.solvers.linear import sweep_rules
from minorant.solvers.newton import ITERATIONS, WIDE, rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.losses.scalar import Scalar
    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]

__all__ = ["least_squares", "whole_fit"]

_EQUAL = np.empty(0)
_BUDGET = 2.5e9  # operations of Newton's method: half a second at most; another start would forget its center
_SYSTEM = 1e9  # those of least squares, which run faster
_LEAST_TOL = 1e-11  # below it rounding has a say, which the driver knows how to ask


class _Outline(NamedTuple):
    """What the rule of `solvers/linear.py` asks for."""

    n: int
    p: int
    size: int
    matrix: RowMatrix
    scalar: Scalar


def whole_fit(A: LinearMap, y: Vector, c: Vector | None, like: Scalar, lam: float, tol: float) -> Result | None:
    """The fit to labels -1 and 1 with λ/2 ‖w‖²; None where it is not one for a single call.

    `c` may be None: then all are 1/n. `like` is the loss of any other labels: φ, the offset, whether there is a bias.
    """
    if not (kernels.native and isinstance(A, RowMatrix) and tol >= _LEAST_TOL):
        return None
    n, p = A.shape
    sweeps = sweep_rules(_Outline(n, p, p + like.bias, A, like))
    if sweeps is None:
        return None
    if c is None:
        c = _EQUAL
    elif like.bias and not (c[y > 0].any() and c[y < 0].any()):
        return None
    began = perf_counter()
    loss = (like.logistic, like.shape, float(like.offset[0]))
    found = A.whole_fit(y, c, *loss, lam, like.bias, sweeps, PACING, rules(1.0), WIDE, ITERATIONS, tol, _BUDGET)
    return _result(found, tol, began)


def least_squares(A: LinearMap, y: Vector, c: Vector | None, lam: float, tol: float, *, bias: bool) -> Result | None:
    """The fit of the mean square to targets with λ/2 ‖w‖²; None where it is not one for a single call."""
    if not (kernels.native and isinstance(A, RowMatrix) and tol >= _LEAST_TOL):
        return None
    began = perf_counter()
    return _result(A.least_squares(y, _EQUAL if c is None else c, lam, bias, tol, _SYSTEM), tol, began)


def _result(found: tuple[Vector, Vector, float, float, float, int], tol: float, began: float) -> Result | None:
    """None where a value is not finite."""
    w, alpha, primal, dual, bias, products = found
    if not 0 <= primal < inf or not dual > -inf:
        return None
    dual = min(dual, primal)  # rounding
    status = Status.CERTIFIED if primal - dual <= tol * primal else Status.OPEN
    certificate = Certificate(primal, dual, alpha, status, products)
    progress = Progress(1, perf_counter() - began, products, primal, dual, 0.0, 0.0)
    return Result(w, np.asarray(bias), certificate, 1, (progress,))

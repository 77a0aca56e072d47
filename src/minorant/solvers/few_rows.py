"""Few examples with many columns: Newton's method on a problem that is as wide as it is high.

The best w lies in the span of the rows. With X Xᵀ = L Lᵀ the rows of L have the products of those of X with each
other, so that, with A = diag(s) X,

    min over w of λ/2 ‖w‖² + g*(A w)  =  min over u of λ/2 ‖u‖² + g*(diag(s) L u)

with the same dual points, and w = Xᵀ L⁻ᵀ u. From α to w = -Aᵀα/λ and A w it takes a product each; all else costs
nothing but n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack, solve_triangular

from minorant.operators import Dense
from minorant.problem import Problem
from minorant.regularizers import L2
from minorant.solvers.examples import Examples
from minorant.solvers.newton import newton
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.solvers.newton import Outline

__all__ = ["few_rows", "newton_on_products"]

_AHEAD = 0.1  # of tol, for the small problem: the w of its dual point is not as good as its own
_LOOKS = 10  # at the small problem, for one at the large one before that
_PASSES = 40.0  # over the data that the products of the rows may cost: as many as other methods take


def few_rows(e: Outline) -> bool:
    """The products of the rows with each other cost less than what they save."""
    return e.n <= min(2.0 * _PASSES, 0.5 * e.p)


def newton_on_products(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, float]]:
    """Candidates for the certificate, and the mu they were found at."""
    products = e.matrix.row_products()
    if not np.isfinite(products).all():
        return
    L = _factor(products)
    small = Problem(e.problem.loss, L, L2(e.lam))
    inner, v = best.anew(small), small.A.T @ best.alpha
    inner.offer(Candidates(((-v / e.lam, small.A @ (-v / e.lam)),), ((best.alpha, v),)))
    rows, looks = Examples(small, e.scalar, Dense(L), e.lam), 0
    for count, (found, mu) in enumerate(newton(rows, inner, _AHEAD * tol), start=1):
        inner.offer(found)
        if inner.relative_gap > _AHEAD * tol and count % _LOOKS:
            continue
        v = e.A.T @ inner.alpha
        w = -v / e.lam
        if looks:  # that w was not good enough; the own one of the small problem takes a product more, and is
            signs = 1.0 if e.problem.loss.signs is None else e.problem.loss.signs
            w = e.A.T @ (signs * solve_triangular(L, inner.w, trans="T", lower=True))
        yield Candidates(((w, e.A @ w),), ((inner.alpha, v),)), mu
        looks += inner.relative_gap <= _AHEAD * tol
        if looks == _LOOKS:  # the products have lost by rounding what is asked for
            return


def _factor(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """L with L Lᵀ = products, up to a multiple of 1 that is rounding where they have full rank."""
    shift = 1e-15 * float(np.trace(products)) or 1.0
    while True:
        factor, info = lapack.dpotrf(products + shift * np.eye(len(products)), lower=1, clean=1)
        if info == 0:
            return np.ascontiguousarray(factor)
        shift *= 10.0

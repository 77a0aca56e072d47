"""Proximal Newton for few columns and many examples:  Ω(w) = l1 ‖w‖₁ + (l2/2) ‖w‖²,  l1 > 0.

Where the products XᵀHX of the columns cost little more than a pass over the rows, no column need ever be looked at by
itself. Some hundreds of columns cost as much as tens of passes, which is less than what coordinate descent takes if
most of them have a weight: the share with a slope above l1 tells. The kernel does all the steps; what it returns is
a candidate for either side, and its gap is about what was asked for. Rounding, or the part of the gap that the kernel
only estimates, may ask for a little more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minorant.operators import Csr, Dense
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from minorant.certificate import Best
    from minorant.losses._separable import Separable
    from minorant.operators import LinearMap

__all__ = ["crowded", "newton_steps", "suits"]

_DENSE, _SPARSE = 150, 500  # columns, at most
_MANY, _BENT = 600, 300  # dense columns of which most count, at most; for losses whose curvature changes,
_TALL = 5  # and examples for each, at least: products shall take less room than X
_MOST, _HALF = 0.85, 0.45  # their share, and where
_LARGE = 2e6  # values or more, which no cache holds, make passes dear
_ROW = 40  # values in a row of a sparse matrix, at most, on average; where they are more,
_SHARE = 0.4  # so many of its columns must count, and the products serve for the whole fit
_STEPS = 100  # before the driver has its say
_PATIENCE = 5  # rounds without a smaller gap: then rounding is reached


def suits(data: Csr | Dense) -> bool:
    """Whether products of columns are cheap."""
    n, p = data.shape
    if isinstance(data, Dense):
        return p <= min(n, _DENSE)
    return p <= min(n, _SPARSE) and data.volume <= _ROW * n


def crowded(data: Csr | Dense, above: int, *, quadratic: bool) -> bool:
    """Whether products are cheap for so many columns with slopes above l1."""
    n, p = data.shape
    if isinstance(data, Csr):
        return quadratic and p <= min(n // _TALL, _SPARSE) and above >= _SHARE * p
    if p > min(n // _TALL, _MANY if quadratic else _BENT):
        return False
    return above >= (_HALF if data.volume > _LARGE else _MOST) * p


def newton_steps(
    A: LinearMap, data: Csr | Dense, loss: Separable, penalty: tuple[Any, ...], best: Best, tol: float
) -> Iterator[Candidates]:
    """The candidates of each round, from the best point known on; `penalty` is (scalar loss, l1, l2).

    A is the map of the loss, and `data` what it stores.
    """
    enough, last, waited = 0.9 * tol, best.gap, 0
    bias = float(loss.intercept(best.image)) if best.w.any() else 0.0
    while waited < _PATIENCE:
        examples = loss.direction, loss.offset, loss.c
        w, scores, e, slopes = data.row_newton(*examples, *penalty, loss.bias, best.w, bias, enough, _STEPS)
        image = scores if loss.signs is None else loss.signs * scores
        alpha = loss.direction * e
        if loss.bias:  # onto the hyperplane, from which rounding has led it: where columns are large, that counts
            alpha = loss.project(alpha)
            slopes = A.T @ alpha
        yield Candidates(((w, image),), ((alpha, slopes),))
        waited = 0 if best.gap < last else waited + 1
        last, enough, bias = best.gap, 0.1 * enough, float(loss.intercept(best.image))

"""Proximal Newton for few columns and many examples:  Ω(w) = l1 ‖w‖₁ + (l2/2) ‖w‖²,  l1 > 0.

Where the products XᵀHX of the columns cost little more than a pass over the rows, no column need ever be looked at by
itself. The kernel does all the steps; what it returns is a candidate for either side, and its gap is about what was
asked for. Rounding, or the part of the gap that the kernel only estimates, may ask for a little more.
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

__all__ = ["newton_steps", "suits"]

_DENSE, _SPARSE = 100, 500  # columns, at most
_ROW = 40  # values in a row of a sparse matrix, at most, on average
_STEPS = 100  # before the driver has its say
_PATIENCE = 5  # rounds without a smaller gap: then rounding is reached


def suits(data: Csr | Dense) -> bool:
    """Whether products of columns are cheap."""
    n, p = data.shape
    if isinstance(data, Dense):
        return p <= min(n, _DENSE)
    return p <= min(n, _SPARSE) and data.volume <= _ROW * n


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

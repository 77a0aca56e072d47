"""Working sets for penalties that make weights exactly 0:  Ω(w) = l1 ‖w‖₁ + (l2/2) ‖w‖²,  l1 > 0.

Only columns with |⟨a_j, α⟩| ≥ l1 have weights at a solution. A round takes

    one product Aᵀα     for α = ∇g*(A w), or the slopes by which the kernel proved its solution: the dual candidate,
                        and the score |⟨a_j, α⟩ + l2 w_j| of every column,
    a working set       of the support of w and the columns with the highest scores,
    its solution        on these columns alone, to a tenth of its gap, or less; the product A w comes with it. Some
                        hundreds of sparse columns are solved by proximal Newton on their products, others by
                        coordinate descent and Newton steps (`kernels`).

The first rounds use a greater l1, a fraction of the highest score: far from the solution, scores for a small l1 name
the wrong columns, and many. Where there are few columns altogether, or some hundreds of which most have too high a
score, there are no sets (`few_columns`). The losses have a curvature: they are quadratic, clipped or not, and logistic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant.errors import UnsupportedPair
from minorant.losses import Logistic
from minorant.losses._piecewise import PiecewiseQuadratic
from minorant.operators import Csr, Dense, stored
from minorant.regularizers import L1, ElasticNet
from minorant.solvers import few_columns
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.losses._separable import Separable
    from minorant.operators import ColumnAccess
    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["rounds", "suits"]

_STAGE = {Csr: 0.05, Dense: 0.3}  # the l1 of a round, at least, as a fraction of the highest score
_FIRST = 50  # the columns of a working set, at least
_GROWTH = 3  # the columns of a working set, at most, for each one that is in use, if so many have too high a score
_CROWD = 3  # one in so many columns of a tall dense matrix are as good as all: it takes one round less
_SOME, _ALL = 0.3, 0.7  # of tol, for the gap on some columns, and on all; J may have fallen meanwhile
_PART = 0.1  # of the gap on a working set that is left to the next round
_PRODUCTS = 500  # columns of compressed rows, at most, whose products are formed (`few_columns`)
_WORK = 1e9  # multiplications before the driver has its say: less than a second
_PATIENCE = 10  # rounds without a smaller gap: then rounding is reached


class _Parts(NamedTuple):
    """A problem as the kernels take it; the loss is (κ, low, high), with κ = 0 for the logistic one."""

    loss: Separable
    scalar: tuple[float, float, float]
    l1: float
    l2: float
    data: Csr | Dense

    @property
    def quadratic(self) -> bool:
        _, low, high = self.scalar
        return bool(np.isinf(low) and np.isinf(high))


def _parts(problem: Problem) -> _Parts | None:
    loss, omega, data = problem.loss, problem.regularizer, stored(problem.A)
    if not isinstance(data, (Csr, Dense)):
        return None
    if type(omega) is L1:
        l1, l2 = omega.lam, 0.0
    elif type(omega) is ElasticNet and omega.gamma > 0:
        l1, l2 = omega.lam * omega.gamma, omega.lam
    else:
        return None
    if type(loss) is Logistic:
        return _Parts(loss, (0.0, loss.low, loss.high), l1, l2, data)
    if isinstance(loss, PiecewiseQuadratic) and loss.curvature > 0 and not loss.tube:
        return _Parts(loss, (loss.curvature, loss.low, loss.high), l1, l2, data)
    return None


def suits(problem: Problem) -> bool:
    """Whether this solver is made for the problem."""
    return _parts(problem) is not None


def rounds(problem: Problem, best: Best, tol: float) -> Iterator[Candidates]:
    """The candidates of each round, from the best point known on; they end where rounding is reached."""
    parts = _parts(problem)
    if parts is None:
        raise UnsupportedPair(
            "the solver 'working-set' is for L1 or ElasticNet with Squared, Logistic, SquaredHinge, SmoothHinge or "
            f"Huber on a matrix; got {type(problem.regularizer).__name__} with {type(problem.loss).__name__}. "
            "Use solver='auto'"
        )
    if few_columns.suits(parts.data):
        return _by_products(problem, parts, best, tol)
    return _rounds(problem, parts, parts.data.column_access(), best, tol)


def _by_products(problem: Problem, parts: _Parts, best: Best, tol: float) -> Iterator[Candidates]:
    penalty = parts.scalar, parts.l1, parts.l2
    return few_columns.newton_steps(problem.A, parts.data, parts.loss, penalty, best, tol)


def _rounds(problem: Problem, parts: _Parts, access: ColumnAccess, best: Best, tol: float) -> Iterator[Candidates]:
    loss, l1, l2, A = parts.loss, parts.l1, parts.l2, problem.A
    w, image, last, waited = best.w, best.image, np.inf, 0
    at = loss.smoothed(image, 0.0)
    alpha, bias = at.alpha, at.bias
    while waited < _PATIENCE:
        slopes = A.T @ alpha
        yield Candidates(((w, image),), ((alpha, slopes),))
        score = np.abs(slopes + l2 * w)
        if few_columns.crowded(parts.data, int(np.count_nonzero(score > l1)), quadratic=parts.quadratic):
            yield from _by_products(problem, parts, best, tol)
            return
        stage = max(l1, _STAGE[type(parts.data)] * float(score.max()))
        columns = _choose(w, score, stage, _most(parts.data))
        stage, part = (l1, 0.0) if columns.size == w.size else (stage, _part(parts.data, columns.size))
        examples = loss.direction, loss.offset, loss.c, parts.scalar
        rest = stage, l2, loss.bias, w[columns], bias
        enough = (_ALL if columns.size == w.size else _SOME) * tol
        if isinstance(parts.data, Csr) and columns.size <= _PRODUCTS:
            some, scores, e, _ = parts.data.columns_newton(columns, *examples, *rest, enough, part, 100)
            image = _signed(loss, scores)
            alpha, bias = loss.direction * e, float(loss.intercept(image))
            if loss.bias:
                alpha = loss.project(alpha)
        else:
            some, scores, found = access.solve(columns, *examples, *rest, enough * abs(best.primal), part, _WORK)
            image = _signed(loss, scores)
            at = loss.smoothed(_signed(loss, found) if found.size else image, 0.0)
            alpha, bias = at.alpha, at.bias
        w = np.zeros(A.shape[1])
        w[columns] = some
        waited = 0 if best.gap < last or stage > l1 else waited + 1
        last = min(last, best.gap)


def _signed(loss: Separable, scores: Vector) -> Vector:
    return scores if loss.signs is None else loss.signs * scores


def _part(data: Csr | Dense, size: int) -> float:
    """Less is left to the next round where that costs more than this one."""
    return 0.1 * _PART if isinstance(data, Dense) and 20 * size < data.shape[1] else _PART


def _most(data: Csr | Dense) -> int:
    """The columns of a working set, at most: more are all. Those of a tall dense matrix are few for its rows."""
    n, p = data.shape
    return p // _CROWD if isinstance(data, Dense) and p <= n else p


def _choose(w: Vector, score: Vector, stage: float, most: int) -> NDArray[np.int64]:
    """The support of w and the columns with the highest scores, in order."""
    used = int(np.count_nonzero(w))
    high = int(np.count_nonzero(score > stage))
    size = max(_FIRST, 2 * used, min(high, _GROWTH * used))
    if size >= most:
        return np.arange(w.size)
    rank = np.where(w != 0, -np.inf, -score)
    return np.sort(np.argpartition(rank, size - 1)[:size])

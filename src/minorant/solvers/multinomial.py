"""Newton's method for multinomial logistic regression with a squared norm.

With P the probabilities, the Hessian takes a change (D, δ) of the weights and biases to

    λ D + Xᵀ S ,   Σ_i S_i ,      S_i = c_i (P_i ∘ V_i - ⟨P_i, V_i⟩ P_i),    V = X D + δ

so a step is solved by conjugate gradients, two products each, the more accurately the closer the optimum is: the last
steps are quadratic. The biases are unknowns like the weights. At the best ones α = c (P - E) certifies, with the gap
‖λ W + Xᵀα‖²/2λ; near them, it does after their own Newton step, which moves α onto the hyperplanes Σ_i α_i = 0.

The compiled core has the loop (`cpp/multinomial.hpp`), which looks at the certificate when its own gap is small enough.
`step_by_step` is the method as it reads, with the best biases at every point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from minorant import kernels
from minorant.geometry import Euclidean
from minorant.kernels import dot
from minorant.kernels._conjugate_gradients import conjugate_gradients
from minorant.losses import MultinomialLogistic
from minorant.operators import RowMatrix, stored
from minorant.regularizers import L2
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.operators import Columns
    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["newton_steps", "step_by_step", "suits"]

_SMALL, _EXACT = 1000, 1e-10  # step by step, so many unknowns are solved for to the last digits
_MOST = 500  # conjugate gradients of a step
_DECREASE = 1e-4  # of J, as a share of what its slope promises
_TINY, _ROUNDING = 2e5, 1e-20  # multiplications of a product that is worth no saving; the gap that is asked for there
_BUDGET = 4e9  # multiplications between two looks at the certificate: some tenths of a second
_PATIENCE = 3  # looks without a smaller gap: then rounding is reached


def suits(problem: Problem) -> bool:
    """Whether the problem is of this kind."""
    regularizer = problem.regularizer
    return (
        isinstance(problem.loss, MultinomialLogistic)
        and isinstance(problem.geometry, Euclidean)
        and type(regularizer) is L2
        and regularizer.lam > 0
    )


def newton_steps(problem: Problem, best: Best, tol: float) -> Iterator[Candidates]:
    """Candidates for the certificate, from the best points known on."""
    matrix = stored(cast("Columns", stored(problem.A)).base)
    if not (kernels.native and isinstance(matrix, RowMatrix)):
        yield from step_by_step(problem, best)
        return
    loss, lam = cast("MultinomialLogistic", problem.loss), cast("L2", problem.regularizer).lam
    w, image = best.w.copy(), best.image.copy()
    biases = np.array(np.broadcast_to(loss.intercept(image), loss.k), dtype=np.float64)
    label, alpha, v = loss.y.astype(np.int32), np.empty(image.size), np.empty(w.size)
    tiny = matrix.volume * loss.k <= _TINY  # at the optimum itself weights are repetitions, however it was reached
    enough, waited = min(0.9 * tol, _ROUNDING) if tiny else 0.9 * tol, 0
    while waited < _PATIENCE:
        before = best.gap
        gap, _, products, feasible = matrix.multinomial(
            label, loss.c, lam, loss.bias, w, image, biases, alpha, v, enough, _BUDGET
        )
        problem.A.dots += products // 2
        problem.A.tdots += products - products // 2
        loss.expect(biases)
        if not feasible:
            alpha = loss.smoothed(image, 0.0).alpha
            v = problem.A.T @ alpha
        yield Candidates(((w.copy(), image.copy()),), ((alpha.copy(), v.copy()),))
        if gap <= enough * best.primal:  # rounding, or a bias that is not the best one, took the rest
            enough *= 0.3
        waited = 0 if best.gap < before else waited + 1


def step_by_step(problem: Problem, best: Best) -> Iterator[Candidates]:
    """The same, with candidates after each step."""
    loss, regularizer = cast("MultinomialLogistic", problem.loss), cast("L2", problem.regularizer)
    w, image = best.w, best.image
    while True:
        alpha = loss.smoothed(image, 0.0).alpha
        v = problem.A.T @ alpha
        yield Candidates(((w, image),), ((alpha, v),))
        gradient = regularizer.lam * w + v
        accuracy = _EXACT if w.size <= _SMALL else min(0.1, best.relative_gap)
        d = _direction(problem, loss, regularizer.lam, alpha, gradient, accuracy)
        d_image, slope = problem.A @ d, dot(gradient, d)
        value, step = problem.primal(w, image), 1.0
        while step > 1e-8:
            reached = problem.primal(w + step * d, image + step * d_image)
            if reached <= value + _DECREASE * step * slope:
                break
            step *= 0.5
        w, image = w + step * d, image + step * d_image


def _direction(
    problem: Problem, loss: MultinomialLogistic, lam: float, alpha: Vector, gradient: Vector, accuracy: float
) -> Vector:
    """The d with H d = -gradient, its biases eliminated, by preconditioned conjugate gradients."""
    c, k, p = loss.c[:, None], loss.k, problem.A.shape[1]
    P = np.divide(alpha.reshape(-1, k), c, out=np.zeros((c.size, k)), where=c > 0) + loss.labels

    def curved(x: Vector) -> Vector:
        V = (problem.A @ x[:p]).reshape(-1, k) + x[p:]
        S = c * P * (V - np.sum(P * V, axis=1, keepdims=True))
        return np.concatenate([lam * x[:p] + problem.A.T @ S.ravel(), S.sum(axis=0) if loss.bias else np.zeros(k)])

    bend = (c * P * (1.0 - P)).ravel()
    diagonal = np.concatenate([problem.A.column_norms(bend) ** 2 + lam, bend.reshape(-1, k).sum(axis=0)])
    inverse = np.divide(1.0, diagonal, out=np.zeros(p + k), where=diagonal > 0)
    if not loss.bias:
        inverse[p:] = 0.0
    return conjugate_gradients(curved, np.concatenate([-gradient, np.zeros(k)]), inverse, accuracy, _MOST).d[:p]

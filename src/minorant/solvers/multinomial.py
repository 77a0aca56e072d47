"""Newton's method for multinomial logistic regression with a squared norm.

With P the probabilities, the Hessian takes a change (D, δ) of the weights and biases to

    λ D + Xᵀ S ,   Σ_i S_i ,      S_i = c_i (P_i ∘ V_i - ⟨P_i, V_i⟩ P_i),    V = X D + δ

so a step is solved by conjugate gradients, two products each, the more accurately the closer the optimum is: the last
steps are quadratic. The biases are the best ones at every point, as in `newton.py`, and α = c (P - E) certifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from minorant.geometry import Euclidean
from minorant.kernels import dot
from minorant.kernels._conjugate_gradients import conjugate_gradients
from minorant.losses import MultinomialLogistic
from minorant.regularizers import L2
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["newton_steps", "suits"]

_SMALL, _EXACT = 1000, 1e-10  # so many unknowns are solved for to the last digits, where weights are repetitions
_MOST = 500  # conjugate gradients of a step
_DECREASE = 1e-4  # of J, as a share of what its slope promises


def suits(problem: Problem) -> bool:
    """Whether the problem is of this kind."""
    regularizer = problem.regularizer
    return (
        isinstance(problem.loss, MultinomialLogistic)
        and isinstance(problem.geometry, Euclidean)
        and type(regularizer) is L2
        and regularizer.lam > 0
    )


def newton_steps(problem: Problem, best: Best) -> Iterator[Candidates]:
    """Candidates for the certificate after each step, from the best points known on."""
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

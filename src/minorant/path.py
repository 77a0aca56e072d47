"""Regularization paths: the same problem for many λ, each solution certified and the start of the next.

When λ changes, the dual point stays feasible (Q does not depend on λ), so the start has a finite gap at once. For
Ω = λ·(...) strongly convex, w(α; λ) = ∇Ω*(-Aᵀα) at the new λ is a second primal candidate: the better one starts.
A warm start saves a logarithm of the accuracy, not more: it pays at moderate tol, and hardly at 1e-6.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.driver import Result, solve
from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["better_start", "solve_path"]


def solve_path(problem: Problem, lams: Iterable[float], **options: Any) -> list[Result]:
    """Solve the problem for every λ in the order given, each from the solution before it.

    Parameters
    ----------
    problem : Problem
        Its regularizer must be a dataclass with a field `lam`.
    lams : iterable of float
        From the largest to the smallest is the usual order: the easy problems come first.
    **options
        As for `solve`.

    Returns
    -------
    list of Result
        One for each λ, each with its own certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from minorant import Problem, solve_path
    >>> from minorant.losses import Hinge
    >>> from minorant.regularizers import L2
    >>> X, y = np.array([[2.0], [1.5], [-1.0], [-3.0]]), np.array([1, 1, -1, -1])
    >>> path = solve_path(Problem(Hinge(y), X, L2(1.0)), [1.0, 0.1, 0.01], tol=1e-4)
    >>> all(r.certificate.relative_gap <= 1e-4 for r in path)
    True
    """
    omega = problem.regularizer
    if not (is_dataclass(omega) and any(f.name == "lam" for f in fields(omega))):
        raise InputError(f"a path needs a regularizer with a field lam; {type(omega).__name__} has none")
    if "start" in options:
        raise InputError("a path has its own starts; begin it with the λ whose solution you have")
    results: list[Result] = []
    for lam in lams:
        step = problem.with_regularizer(replace(omega, lam=float(lam)))
        start = better_start(step, results[-1].w, results[-1].certificate.alpha) if results else None
        results.append(solve(step, start=start, **options))
    return results


def better_start(problem: Problem, w: ArrayLike, alpha: ArrayLike) -> tuple[Vector, Vector]:
    """The dual point, and the primal one, or the one that the dual point asks for if that closes half of the gap.

    A primal point of another problem, outside of the domain of this Ω, is brought into it first.
    """
    w, alpha = np.ascontiguousarray(w, dtype=np.float64), np.ascontiguousarray(alpha, dtype=np.float64)
    if problem.regularizer.value(w) == inf:
        w = problem.regularizer.argmin(-problem.geometry.gradient(w), 1.0, problem.geometry)[0]
    if problem.regularizer.strong_convexity(problem.geometry) > 0:
        image = problem.A.T @ alpha
        other = problem.regularizer.maximizer(-image)
        value, lower = problem.primal(w), problem.dual(alpha, image)
        gap = value - lower if lower > -inf else 0.0  # a dual point of another problem may be outside of the domain
        if value - problem.primal(other) > 0.5 * gap:
            w = other
    return w, alpha

"""Smoothing schemes are schedules over views; each yields steps and sees the best gap so far.

    "primal"   homotopy: the loss is smoothed at mu around the best dual point known. Once the smoothed problem is
               solved well enough for most of the gap to come from the smoothing, the center moves to the new dual
               point and mu is halved. (Moving the center is the proximal point method on the dual: the gap goes to 0
               even if mu does not.) A loss that is smooth as it is needs none of this: one primal view at mu = 0.
    "dual"     a dual view at mu = eps/(2D), the dual problem made strongly convex; a new one when J has fallen so far.
    "none"     one dual view at mu = 0.
    "decreasing"   the excessive gap technique: mu shrinks at every step, at a rate known beforehand; once the gap has
               fallen far enough it begins anew, centered at the best pair.
    "auto"     "primal", which needs the fewest products in two thirds of the cases of benchmarks/results/schemes.md.
               With far more columns than examples, or a small λ, "none" or "dual" can be several times faster.
               With solver "auto", linear models with L2 go to the solvers of `solvers/linear.py`, which smooth by
               themselves, and those with L1 to working sets, which need no smoothing (`solvers/working_set.py`).

With a fixed `mu`, "primal" and "dual" are the schemes of the paper: one view at that mu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant.errors import InputError, unknown_option
from minorant.kernels import dot
from minorant.minorants import Point
from minorant.solvers import LINEAR, SOLVERS, ExcessiveGap, Solver, State, multinomial, working_set
from minorant.solvers.examples import Examples
from minorant.solvers.linear import dual_coordinates, linear_model
from minorant.solvers.newton import newton
from minorant.solvers.saddle import Saddle
from minorant.views import Candidates, DualView, PrimalView, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.problem import Problem

    Vector = NDArray[np.float64]
    Schedule = Iterator["Step"]

__all__ = ["SMOOTHINGS", "Step", "schedule"]

_WAIT = 900  # iterations without a better bound before the center moves all the same
SMOOTHINGS = ("auto", "primal", "dual", "decreasing", "none")


class Step(NamedTuple):
    """What a schedule yields: candidates for the certificate, and the constants it worked with."""

    candidates: Candidates
    L: float
    mu: float

    @classmethod
    def of(cls, view: View, state: State) -> Step:
        """The step of a solver on a view."""
        return cls(view.candidates(state.x, state.minorants), state.L, view.mu)


def schedule(
    problem: Problem, solver: str | Solver | ExcessiveGap, smoothing: str, mu: float | None, best: Best, tol: float
) -> Schedule:
    """The steps of the scheme that solver, smoothing and mu name; an invalid combination explains itself."""
    _check_scheme(solver, smoothing, mu)
    if smoothing == "decreasing" or solver == "excessive-gap" or isinstance(solver, ExcessiveGap):
        return _decreasing(problem, solver if isinstance(solver, ExcessiveGap) else ExcessiveGap(), best)
    if solver in LINEAR or (solver == smoothing == "auto" and mu is None):
        linear = _linear(problem, str(solver), best, tol)
        if linear is not None:
            return linear
    method = _method(solver)
    if smoothing in ("auto", "primal"):
        if mu is None and problem.loss.curvature == 0:
            return _homotopy(problem, method, best)
        return _primal(PrimalView(problem, mu or 0.0), method, best, restart=method.restart and mu is None)
    if smoothing == "dual" and mu is None:
        return _smoothed_dual(problem, method, best, tol)
    return _dual(DualView(problem, mu or 0.0), method, best)


def _check_scheme(solver: str | Solver | ExcessiveGap, smoothing: str, mu: float | None) -> None:
    """Explain a solver, a smoothing and a mu that do not go together."""
    if smoothing not in SMOOTHINGS:
        raise unknown_option("smoothing", smoothing, SMOOTHINGS)
    decreasing = smoothing == "decreasing"
    excessive = solver == "excessive-gap" or isinstance(solver, ExcessiveGap)
    if decreasing and not excessive and solver != "auto":
        raise InputError(
            f"smoothing='decreasing' has a solver of its own, 'excessive-gap'; got solver={solver!r}. "
            "Leave solver out, or choose smoothing='primal', 'dual' or 'none'"
        )
    if excessive and not decreasing and smoothing != "auto":
        raise InputError(
            f"the solver 'excessive-gap' is for decreasing smoothing; got smoothing={smoothing!r}. "
            "Leave smoothing out, or choose the solver 'agm-inf' or 'agm-1'"
        )
    if solver in LINEAR and (smoothing != "auto" or mu is not None):
        raise InputError(f"the solver {solver!r} smooths as it needs to, if at all; leave smoothing and mu out")
    if mu is None:
        return
    if decreasing or excessive or smoothing == "none":
        raise InputError("mu is for smoothing='primal' and 'dual'; decreasing smoothing and none have no mu to fix")
    if not (np.isfinite(mu) and mu >= 0):
        raise InputError(f"mu must be a finite number ≥ 0; got {mu}")


def _enough(problem: Problem, best: Best, tol: float) -> float:
    """The smoothing eps/(2D) for eps = tol·J: half of eps is left to the optimization."""
    return max(tol, 1e-15) * abs(best.primal) / (2.0 * problem.loss.radius)


def _linear(problem: Problem, solver: str, best: Best, tol: float) -> Schedule | None:
    """The solvers of linear models; None where "auto" finds that there is none for the problem."""
    if solver == "working-set" or (solver == "auto" and working_set.suits(problem)):
        return (Step(found, 0.0, 0.0) for found in working_set.rounds(problem, best, tol))
    if solver in ("auto", "newton") and multinomial.suits(problem):
        return (Step(found, 0.0, 0.0) for found in multinomial.newton_steps(problem, best, tol))
    examples = Examples.of(problem)
    if examples is None:
        if solver == "auto":
            return None
        raise InputError(
            f"the solver {solver!r} is for a mean of losses of examples with L2 and a matrix of rows; got "
            f"{type(problem.loss).__name__} and {type(problem.regularizer).__name__}. Choose 'agm-inf' or 'agm-1'"
        )
    if solver == "dual-coordinates":
        return (Step(found, 0.0, 0.0) for found in dual_coordinates(examples, best, tol))
    steps = newton(examples, best, tol) if solver == "newton" else linear_model(examples, best, tol)
    return (Step(found, 0.0, mu) for found, mu in steps)


def _primal(view: PrimalView, method: Solver, best: Best, *, restart: bool) -> Schedule:
    for state in _states(view, method, Point(best.w, best.image), None, restart=restart):
        yield Step.of(view, state)


def _states(view: View, method: Solver, x: Point, L: float | None, *, restart: bool) -> Iterator[State]:
    """The states of a method; it starts again where its momentum has carried it too far.

    That is where the step from u turns back, ⟨u - x₊, x₊ - x⟩ > 0. No rate is lost, and where J grows faster than its
    strong convexity tells (λ = 0, say, but quadratic near the solution) convergence is linear all the same.
    """
    state = method.init(view, x, L)
    while True:
        before, state = state, method.step(view, state)
        yield state
        if restart and state.u is not None and dot(state.u.x - state.x.x, state.x.x - before.x.x) > 0:
            state = method.init(view, state.x, state.L)


def _dual(view: DualView, method: Solver, best: Best) -> Schedule:
    for state in _states(view, method, Point(best.alpha, -best.dual_image), None, restart=False):
        yield Step.of(view, state)


def _smoothed_dual(problem: Problem, method: Solver, best: Best, tol: float) -> Schedule:
    """eps = tol·J is known at the solution only: as J falls, a smoothing that was enough is so no more."""
    while True:
        mu = _enough(problem, best, tol)
        for step in _dual(DualView(problem, mu), method, best):
            yield step
            if mu > 1.5 * _enough(problem, best, tol):
                break


def _decreasing(problem: Problem, method: ExcessiveGap, best: Best) -> Schedule:
    """Both sides are centered at the best pair: a good one begins with a small gap (ERRATUM 26).

    From there the gap falls like 1/k, or 1/k² where one side is curved, the faster the closer the center is to the
    solution. Once it has fallen to ½ (⅛) there is a better center, and the technique begins anew: the bound on the
    steps grows by 2 (√8) each time, so that at most a constant factor of the proven rate is lost; where J is sharp the
    centers close in, and convergence is linear. Where both sides are curved it is so without.
    """
    while True:
        saddle, begun = Saddle(problem, best.w, best.alpha), best.gap
        curved = (saddle.primal.curvature > 0) + (saddle.dual.curvature > 0)
        enough = (0.5, 0.125, 0.0)[curved] * begun if method.restart else 0.0
        state = method.init(saddle)
        while True:
            L = state.N * saddle.dual.geometry.sigma / (state.mu1 + saddle.primal.curvature)  # of the smoothed dual
            yield Step(state.candidates, L, state.mu2)
            if best.gap <= enough:
                break
            state = method.step(saddle, state)


def _homotopy(problem: Problem, method: Solver, best: Best) -> Schedule:
    mu = best.gap / problem.loss.radius
    smallest = 1e-6 * mu
    center, x, L = best.alpha, Point(best.w, best.image), None
    while True:
        view = PrimalView(problem, mu, center if problem.loss.movable else None)
        gap, waited = best.gap, 0
        for state in _states(view, method, x, L, restart=method.restart):
            yield Step.of(view, state)
            waited = waited + 1 if best.gap >= gap else 0
            gap = best.gap
            if (settled := _settled(view, state, 0.25 * gap)) is not None:
                center = settled
                break
            if waited >= _WAIT:  # all that this center has to give: go on from the best point
                center = best.alpha
                break
        smaller = max(0.5 * mu, smallest)
        x, L, mu = state.x, state.L * mu / smaller, smaller


def _settled(view: PrimalView, state: State, enough: float) -> Vector | None:
    """The dual point of a state that solves its smoothed problem up to `enough`.

    gap = (Ω(w) + Ω*(-Aᵀα) + ⟨A w, α⟩) + (g*(A w) + g(α) - ⟨A w, α⟩), and at the smoothed optimum the first part is 0.
    For a strongly convex Ω that tells w from any other point. For others it does not (it is 0 at w = 0 wherever Ω* is),
    so there the second part counts too, with g*_mu in the place of g*.
    """
    problem, w = view.problem, state.x
    omega = problem.regularizer
    for m in state.minorants:
        # No more than into the domain: the multiple of α with the greatest D may be the center itself, again and again.
        s = min(1.0, omega.dual_scale(-m.s))
        alpha, image = s * np.asarray(m.witness), s * m.s
        mismatch = omega.value(w.x) + omega.conjugate(-image) + dot(image, w.x)
        if view.lam2 == 0:
            mismatch += view.oracle(w.image).value - view.below(w.image, alpha)
        if mismatch <= enough:
            return alpha
    return None


def _method(solver: str | Solver) -> Solver:
    if not isinstance(solver, str):
        return solver
    name = "agm-inf" if solver == "auto" else solver
    if name not in SOLVERS:
        raise unknown_option("solver", solver, [*SOLVERS, *LINEAR, "excessive-gap", "auto"])
    return SOLVERS[name]()

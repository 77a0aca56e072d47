"""Newton's method for linear models, on the primal smoothed around a center that moves.

A loss without corners needs no smoothing, unless its steps get short: a few reach rounding. One with corners is
smoothed at mu around the slopes t_c; once the smoothed problem is solved well enough, the center moves to the slopes
found and mu shrinks. It is the proximal point method on the dual (see `schedules.py`), with each of its problems solved
by semismooth Newton steps:

    (λ I + Zᵀ H Z) d = -∇ ,    H = diag(c_i φ_mu''(r_i)),  zero outside of a band of examples,    Z = (X, 1)

The bias is one of the unknowns. Its own Newton step, δ = -Σ s_i α_i / Σ h_i, comes first, since it takes no product:
α moves by δ h_i s_i, onto the hyperplane, and what is left is the step of w from there. Once the gap is small enough,
that α certifies; where a slope would leave its bounds, or the bias is far from it, the best one is searched for. The
system is solved by Cholesky, or by conjugate gradients where these are predicted to cost less; with many more examples
than columns, the core has a system of some of them as preconditioner (`cpp/sampled_system.hpp`).

`step_by_step` is the method as it reads; the compiled core has the same loop (`cpp/newton.hpp`), which looks at the
certificate when its own gap is small enough; that of the logistic loss it also sees from the slopes that a step leads
to (`cpp/slopes_ahead.hpp`). Where few of many examples are near a corner, it finds its direction by
as many steps as those few alone are good for, all others held at their slopes (`cpp/near_rows.hpp`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from minorant import kernels
from minorant.kernels import dot
from minorant.operators import Dense
from minorant.views import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from minorant.certificate import Best
    from minorant.losses.scalar import Scalar
    from minorant.operators import RowMatrix
    from minorant.solvers.examples import Examples, Slopes

    Vector = NDArray[np.float64]

__all__ = ["ITERATIONS", "WIDE", "Outline", "direct_cost", "newton", "rules", "step_by_step"]

_SHRINK = 0.6  # of mu, when the center moves
WIDE = 1.25  # beside 1, the r of margins at rest: there they would be at their corner, with a bias one class beyond it
_SETTLED = 3.0  # the center moves once the first part of the gap is at most this much of the second
_SHORT, _PATIENCE, _GROWTH = 0.01, 10, 30.0  # so many steps in a row shorter than this: mu grows, corners are too sharp


ITERATIONS = 25.0  # of conjugate gradients, as long as nothing is known
_TILED = 0.3  # the cost of an operation in tiles
_PASS, _FAST_PASS = 4.0, 2.0  # that of an iteration of conjugate gradients, for each value; see `pass_cost` of the core
_MANY, _LITTLE = 1000, 0.9  # so many steps that leave so much of the gap: rounding makes them, and more will not help
_BUDGET = 1e9  # operations between two looks at the certificate: some tenths of a second


def newton(e: Examples, best: Best, tol: float) -> Iterator[tuple[Candidates, float]]:
    """Candidates for the certificate, and the mu they were found at, from the best points known on."""
    if not kernels.native:
        yield from step_by_step(e, best)
        return
    mu, center = _smoothing(e, best)
    w, image = best.w.copy(), best.image.copy()
    alpha, v, h = np.empty(e.n), np.empty(e.p), np.empty(e.n)
    f, loss = e.scalar, e.problem.loss
    bias = float(loss.intercept(best.image)) if f.bias else 0.0
    scalars = np.array([mu, bias, ITERATIONS])  # and what conjugate gradients took last
    problem = (f.logistic, f.shape, f.c, f.offset, f.direction, e.lam, f.bias)
    point = (w, image, alpha, v, h, np.empty(0) if center is None else center, scalars)
    while True:
        before = best.gap
        _, steps, products = e.matrix.newton(*problem, *point, rules(e.unit), 0.995 * tol, best.primal, _BUDGET)
        e.A.dots += products - products // 2
        e.A.tdots += products // 2
        loss.expect(float(scalars[1]))
        yield Candidates(((w.copy(), image.copy()),), ((alpha.copy(), v.copy()),)), float(scalars[0])
        if steps >= _MANY and not best.gap < _LITTLE * before:
            return


def rules(unit: float) -> tuple[float, float, float, float, float, int, int]:
    """How the smoothing changes, as the core takes it; `unit` is the size of r at w = 0."""
    return _SHRINK, _SETTLED, _SHORT, _GROWTH, unit, _PATIENCE, _MANY


def _smoothing(e: Examples, best: Best) -> tuple[float, Vector | None]:
    """The first mu and center; the logistic loss never needs any."""
    if e.scalar.logistic:
        return 0.0, None
    if e.scalar.smooth:
        return 0.0, e.t(best.alpha)
    at_rest = not best.alpha.any()
    return (WIDE if at_rest else 1.0) * e.unit * min(1.0, best.relative_gap**0.5), e.t(best.alpha)


def step_by_step(e: Examples, best: Best) -> Iterator[tuple[Candidates, float]]:
    """The same, with candidates after each step."""
    w, image = best.w, best.image
    mu, center = _smoothing(e, best)
    solve, short = _Systems(e), 0
    at = e.slopes(image, mu, center, float(e.problem.loss.intercept(image)) if e.scalar.bias else 0.0)
    while True:
        gradient = e.lam * w + e.A.T @ e.leaned(at)
        if mu > 0 and dot(gradient, gradient) / (2.0 * e.lam) + 0.5 * at.off * at.tilt <= _SETTLED * e.excess(at):
            center, mu = e.t(at.alpha), _SHRINK * mu
            at = e.slopes(image, mu, center, at.bias)
            gradient = e.lam * w + e.A.T @ e.leaned(at)
        d, d_bias = solve(at, gradient)
        d_image = e.A @ d
        change = d_image + d_bias * e.scalar.direction if e.scalar.bias else d_image
        step = e.line(at, mu, change, e.lam * dot(w, d), e.lam * dot(d, d))
        w, image, bias = w + step * d, image + step * d_image, at.bias + step * d_bias
        short = short + 1 if step < _SHORT else 0
        if center is not None and short == _PATIENCE:
            if mu == 0.0:
                center = e.t(at.alpha)
            mu, short = _GROWTH * mu or e.unit, 0
        found = e.certain(image, mu, center, e.slopes(image, mu, center, bias))
        yield Candidates(((w, image),), ((found.alpha, e.A.T @ found.alpha),)), mu
        at = e.slopes(image, mu, center, found.bias)


class _Systems:
    """Solves for the steps; remembers what conjugate gradients cost last."""

    def __init__(self, e: Examples) -> None:
        self._e, self._iterations = e, ITERATIONS

    def __call__(self, at: Slopes, gradient: Vector) -> tuple[Vector, float]:
        e = self._e
        g = np.append(-gradient, 0.0) if e.scalar.bias else -gradient
        if direct_cost(e, int(np.count_nonzero(at.h))) <= self._cost_of_iterations(at):
            d = e.matrix.cholesky(at.h, e.scalar.bias, e.lam, g)
        else:
            diagonal = e.matrix.column_norms(at.h) ** 2 + e.lam
            if e.scalar.bias:
                diagonal = np.append(diagonal, float(at.h.sum()))
            inverse = np.divide(1.0, diagonal, out=np.zeros(e.size), where=diagonal > 0)
            d, iterations, _ = e.matrix.conjugate_gradients(at.h, e.scalar.bias, e.lam, g, inverse, 0.1, 250)
            self._iterations = 0.5 * (self._iterations + iterations)
            e.A.dots += iterations
            e.A.tdots += iterations
        return d[: e.p], (float(d[-1]) - at.tilt if e.scalar.bias else 0.0)

    def _cost_of_iterations(self, at: Slopes) -> float:
        e = self._e
        band = np.count_nonzero(at.h) / e.n
        a_value = _FAST_PASS if isinstance(e.matrix, Dense) and e.scalar.logistic else _PASS
        return self._iterations * (a_value * band * e.matrix.volume + 10.0 * e.size)


class Outline(Protocol):
    """What a problem costs depends on this."""

    @property
    def n(self) -> int:
        """Examples."""

    @property
    def p(self) -> int:
        """Columns."""

    @property
    def size(self) -> int:
        """Unknowns: the columns, and the bias."""

    @property
    def matrix(self) -> RowMatrix:
        """The data."""

    @property
    def scalar(self) -> Scalar:
        """The loss."""


def direct_cost(e: Outline, band: int) -> float:
    """A Cholesky step for that many examples in operations; infinite where the matrix would be too large.

    The matrix is as large as the number of columns or of examples, whichever is less. Dense ones go in tiles.
    """
    size, row = min(e.size, band), e.matrix.volume / e.n
    if size > 4000:
        return np.inf
    return (_TILED if isinstance(e.matrix, Dense) else 1.0) * (band * row * min(row + 1.0, float(size)) + size**3 / 6.0)

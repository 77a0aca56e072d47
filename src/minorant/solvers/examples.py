"""A linear model as its fast solvers see it, example by example:

    J(w, b) = λ/2 ‖w‖² + Σ c_i φ(r_i),    r_i = s_i (⟨x_i, w⟩ + b) - a_i,    α_i = c_i t_i,    w(α) = -Aᵀα/λ

where t_i are slopes of φ, and Σ s_i α_i = 0 where b is free. The duality gap of (w, b) and α splits into two sums of
terms that are not negative:

    J(w, b) - D(α) = λ/2 ‖w - w(α)‖²  +  Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant import kernels
from minorant.errors import InputError
from minorant.geometry import Euclidean
from minorant.operators import Counting, RowMatrix, Rows
from minorant.regularizers import L2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from minorant.losses.scalar import Scalar
    from minorant.problem import Problem

    Vector = NDArray[np.float64]

__all__ = ["NEAR", "PACING", "Examples", "Slopes"]

NEAR = 3.0  # how near `on_plane` stays to the slopes of the sweeps
_SOME, _APART = 500, 0.03  # so many rows tell how long their mean is, unless it is this much shorter than they are
_PACE, _HURRY, _FAST = 0.5, 6.0, 0.25  # of the bias, beside the mean of the rows, and at most, beside the rows
_LATE = 30.0  # examples have to move a whole bias in a sweep
_MANY, _STEADY = 8.0, 0.1  # times it gives way to all free examples together; beside the mean of the rows
_LEAST = 0.01  # of a mean square: shorter rows are not what the bias waits for
PACING = (_SOME, _APART, _PACE, _HURRY, _FAST, _LATE, _MANY, _STEADY, _LEAST)  # as the core takes them


class Slopes(NamedTuple):
    """The examples at a point and a bias: r there, α and its derivative h_i = c_i φ_mu''(r_i).

    `r` includes what the moved center adds to it, `exact` does not. `off` is Σ s_i α_i, and `tilt` how far the bias is
    above the best one, to first order.
    """

    bias: float
    r: Vector
    exact: Vector
    alpha: Vector
    h: Vector
    off: float = 0.0
    tilt: float = 0.0


class Examples:
    """The rows of a linear model with a squared norm; see `of`."""

    def __init__(self, problem: Problem, scalar: Scalar, matrix: RowMatrix, lam: float) -> None:
        self.problem, self.scalar, self.matrix, self.lam = problem, scalar, matrix, lam
        self.n, self.p = matrix.shape
        self.size = self.p + scalar.bias  # unknowns of Newton's method
        self._phi = (scalar.logistic, scalar.shape)
        with np.errstate(over="ignore"):
            self.norm2 = np.square(matrix.row_norms())
        if not np.isfinite(self.norm2).all():
            raise InputError("the data are too large: the squares of their entries overflow; scale the columns first")
        self.unit = _unit(scalar) if problem.loss.signs is None else 1.0

    @classmethod
    def of(cls, problem: Problem) -> Examples | None:
        """The examples of a problem, or None where it is not of this kind."""
        scalar, regularizer = problem.loss.scalar, problem.regularizer
        matrix = problem.A.base.base if isinstance(problem.A.base, Rows) else problem.A.base
        if scalar is None or type(regularizer) is not L2 or not isinstance(matrix, RowMatrix):
            return None
        if not isinstance(problem.geometry, Euclidean) or not regularizer.lam > 0:
            return None
        return cls(problem, scalar, matrix, regularizer.lam)

    @property
    def bend(self) -> float:
        """The mean curvature c_i ‖x_i‖²/λ of the dual along one slope; C ‖x‖² for examples of equal weight."""
        return self._square / (self.lam * self.n)

    def rho(self, t: Vector) -> float:
        """How much the bias of the sweeps gives way to one example: the square of a column of it.

        The multiplier of Σ s_i c_i t_i = 0 arrives at once where a step of the bias that undoes it makes all slopes
        that are free (not at a bound) undo it many times over: they move by dt_i/dr_i = 1/(kappa + Q_i) each. A bias
        that moves much faster is noise to all other examples, so rho falls with their number, down to a share of ‖m‖²
        for the mean m of the rows: w moves along m by that much for each step of a slope.

        Before the first sweep no slope is known to be free, and m alone decides; with little curvature there is less
        noise to fear, and a bias that needs many sweeps to arrive is late.
        """
        f, norm2 = self.scalar, self._square
        if t.any():
            scale = f.c / self.lam
            q = scale * np.maximum(self.norm2, _LEAST * norm2)
            with np.errstate(divide="ignore", invalid="ignore"):  # rows of zeros, and examples without weight
                if f.logistic:
                    h = t * (1.0 - t)
                    moves = scale * h / (1.0 + q * h)
                else:
                    kappa, tube, low, high = f.shape
                    free = (t > low) & (t < high) & (kappa + q > 0.0) & ((t != 0.0) | (tube == 0.0))
                    moves = np.where(free, scale / (kappa + q), 0.0)
            response = float(moves.sum())
            rho = (_MANY / response if response > 0 else np.inf) + _STEADY * self._mean_square
        else:
            hurry = min(max(1.0, self.bend**-0.5), _HURRY) if self.bend > 0 else 1.0
            rho = max(
                _PACE * hurry * max(self._mean_square, _APART * norm2),
                min(0.1, _LATE / self.n) * norm2,
            )
        return min(rho, _FAST * norm2) or 1.0

    @cached_property
    def _square(self) -> float:
        """The mean of ‖x_i‖²."""
        return kernels.dot(self.scalar.c, self.norm2)

    @cached_property
    def _mean_square(self) -> float:
        """‖m‖² for the mean m of the rows, from some of them, less what chance adds."""
        rows = np.arange(0, self.n, -(-self.n // _SOME), dtype=np.int32)
        c = self.scalar.c[rows]
        share = c / (float(c.sum()) or 1.0)
        mean = self.matrix.add_rows(np.zeros(self.p), rows, share)
        return max(kernels.dot(mean, mean) - kernels.dot(np.square(share), self.norm2[rows]), 0.0)

    @property
    def A(self) -> Counting:
        """The map of the scores, diag(s) X."""
        return self.problem.A

    def slopes(self, image: Vector, mu: float, center: Vector | None, bias: float, *, best: bool = False) -> Slopes:
        """The examples at A w, the loss smoothed at mu around the slopes `center`, at the best bias or near it.

        So near that `tilt` leads there but for little: see `near_balance` in `cpp/curvature.hpp`.
        """
        f = self.scalar
        exact = image - f.offset
        r = exact if center is None else exact + mu * center
        at = self._at(r, exact, mu, bias if f.bias else 0.0)
        reach = mu + (1.0 if f.logistic else f.shape[0])
        near = (0.1 if f.logistic or mu > 0 else 0.01) * reach
        if f.bias and (best or not abs(at.tilt) <= near):
            start, last = (bias, 0.0) if best else (bias - float(np.clip(at.tilt, -reach, reach)), 0.5 * near)
            found = kernels.balance(*self._phi, mu, r, f.direction, f.c, start, self.matrix.threads, last)
            at = self._at(r, exact, mu, found)
        return at if np.isfinite(at.tilt) else at._replace(tilt=0.0)

    def _at(self, r: Vector, exact: Vector, mu: float, bias: float) -> Slopes:
        f = self.scalar
        if f.bias:
            r, exact = r + bias * f.direction, exact + bias * f.direction
        alpha, h = kernels.bends(*self._phi, mu, r, f.c, self.matrix.threads)
        off = kernels.dot(f.direction, alpha) if f.bias else 0.0
        total = float(h.sum())
        return Slopes(bias, r, exact, alpha, h, off, off and (off / total if total > 0 else np.inf))

    def leaned(self, at: Slopes) -> Vector:
        """α once the bias has taken its Newton step: on the hyperplane, but not always within its bounds."""
        return at.alpha - at.tilt * at.h * self.scalar.direction if at.tilt else at.alpha

    def certain(self, image: Vector, mu: float, center: Vector | None, at: Slopes) -> Slopes:
        """The same on the hyperplane and within the bounds: at the best bias, where a step of it is not enough."""
        if not at.tilt:
            return at
        f, alpha, bias = self.scalar, self.leaned(at), at.bias - at.tilt
        with np.errstate(invalid="ignore"):  # 0·∞
            outside = bool(((alpha < f.shape[2] * f.c) | (alpha > f.shape[3] * f.c)).any())
        if outside:
            at = self.slopes(image, mu, center, bias, best=True)
            alpha, bias = self.leaned(at), at.bias
        change = (bias - at.bias) * f.direction
        return Slopes(bias, at.r + change, at.exact + change, alpha, at.h)

    def on_plane(self, t: Vector, image: Vector, bias: float) -> Vector:
        """A dual point on the hyperplane, near the slopes t found together with A w and a bias.

        It maximizes the dual linearized at w less a multiple of the squared distance to t, as smoothing around t does:
        slopes of examples with r_i near 0 move first, which costs D the least. The distance alone would move all. The
        r_i are those at which t would stay: what else the slopes have to gain, all at once they would not.
        """
        f = self.scalar
        mu = NEAR * self.bend
        if f.logistic:  # the nearest point in the metric of φ*, which is steep at the bounds, is within them
            alpha = f.c * t
            h = alpha * (1.0 - t)
            off, total = kernels.dot(f.direction, alpha), float(h.sum())
            if 2.0 * abs(off) <= total:
                return alpha - (off / total) * h * f.direction if off else alpha
        if f.logistic or mu == 0.0:
            return self.problem.loss.project(f.c * t)
        r = _staying(f.shape, image - f.offset + bias * f.direction, t) + mu * t
        step = kernels.balance(*self._phi, mu, r, f.direction, f.c, 0.0, self.matrix.threads)
        at = self._at(r, r, mu, step)
        return self.leaned(at) if np.isfinite(at.tilt) else at.alpha

    def value(self, t: Vector, w: Vector, bias: float) -> float:
        """D for slopes t with w = w(c t) at a bias that is held; with their excess it is J of w and this bias.

        What the first look of the sweeps has to promise is a share of J there, not of J(0), which is much larger.
        """
        f = self.scalar
        alpha, at_zero = f.c * t, np.zeros(self.n)
        bent = kernels.excess(*self._phi, at_zero, alpha, f.c) - kernels.excess(*self._phi, at_zero, np.empty(0), f.c)
        pull = kernels.dot(f.offset, alpha) - (bias * kernels.dot(f.direction, alpha) if f.bias else 0.0)
        return -pull - bent - 0.5 * self.lam * kernels.dot(w, w)

    def excess(self, at: Slopes) -> float:
        """The second part of the gap."""
        return kernels.excess(*self._phi, at.exact, at.alpha, self.scalar.c)

    def line(self, at: Slopes, mu: float, change: Vector, slope: float, bend: float) -> float:
        """The step from there along a change of r, for slope and bend of the squared norm along it."""
        f = self.scalar
        return kernels.along(*self._phi, mu, at.r, change, f.c, slope, bend, 0.05, self.matrix.threads)

    def between(
        self, w: Vector, image: Vector, other: Vector, other_image: Vector, biases: tuple[float, float]
    ) -> tuple[Vector, Vector]:
        """The best point on the line from w to another one: the scores are linear on it, so it takes no product."""
        f = self.scalar
        step, change = other - w, other_image - image
        r, d = image - f.offset, change
        if f.bias:
            r, d = r + biases[0] * f.direction, d + (biases[1] - biases[0]) * f.direction
        slope, bend = self.lam * kernels.dot(w, step), self.lam * kernels.dot(step, step)
        tau = kernels.along(*self._phi, 0.0, r, d, f.c, slope, bend, 0.1, self.matrix.threads)
        return w + tau * step, image + tau * change

    def t(self, alpha: Vector) -> Vector:
        """The slopes of a dual point."""
        f = self.scalar
        t = np.divide(alpha, f.c, out=np.zeros(self.n), where=f.c > 0)
        return np.clip(t, *f.shape[2:], out=t)

    def sweeps(
        self, t: Vector, w: Vector, bias: float, most: int, enough: float, seed: int, swept: kernels.SweptRows
    ) -> tuple[float, float, int]:
        """Sweeps of dual coordinate ascent, in place; the bias, the excess of the last one, and how many there were.

        What those with the same `swept` have left out is left out again.
        """
        f = self.scalar
        rho = self.rho(t) if f.bias else 0.0
        scale = f.c / self.lam
        bias, excess, count = self.matrix.sweeps(
            *self._phi, scale, f.offset, f.direction, self.norm2, rho, most, enough / self.lam, seed, t, w, bias, swept
        )
        self.A.dots += count
        self.A.tdots += count
        return bias, self.lam * excess, count


def _staying(shape: tuple[float, float, float, float], r: Vector, t: Vector) -> Vector:
    """The r nearest to these at which slopes t of a piecewise quadratic loss would stay."""
    kappa, tube, low, high = shape
    bend, flat = kappa * t + tube * np.sign(t), np.where(t == 0.0, tube, 0.0)
    return np.clip(r, np.where(t <= low, -np.inf, bend - flat), np.where(t >= high, np.inf, bend + flat))


def _unit(f: Scalar) -> float:
    """The size of r at w = 0, with which the smoothing of targets begins; margins have 1."""
    mean = kernels.dot(f.c, f.offset)
    size = float(np.sqrt(kernels.dot(f.c, np.square(f.offset - mean if f.bias else f.offset))))
    return size if size > 1e-9 * abs(mean) else 1.0  # constant targets have no spread but rounding

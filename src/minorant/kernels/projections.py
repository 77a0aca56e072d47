"""Projections onto the sets that dual variables and constrained regularizers live in.

| set | distance | function |
|---|---|---|
| {l ≤ x ≤ u, ⟨s, x⟩ = z} | ½ Σ d_i (x_i - m_i)² | project_box_plane |
| {0 ≤ x ≤ ν, Σ x = m} | ½ Σ d_i (x_i - m_i)² | project_capped_simplex |
| {0 ≤ x ≤ ν, Σ x = 1} | KL(x ‖ e^a) | entropic_capped_simplex |
| {γ‖x‖₁ + ½‖x‖² ≤ r} | ½ Σ d_i (x_i - g_i)² | project_elastic_net_ball |
| rows of an array, each {x ≥ 0, Σ x = m_i} | ½ Σ d_i (x_i - c_i)² | project_simplex_blocks |

These check their arguments; the kernels behind them (C++, or the twins of `_numpy_projections.py`) do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant._native import core_or
from minorant.errors import InputError
from minorant.kernels import _numpy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant import _core

    Vector = NDArray[np.float64]

__all__ = [
    "EntropicPoint",
    "Projection",
    "entropic_capped_simplex",
    "project_box_plane",
    "project_capped_simplex",
    "project_elastic_net_ball",
    "project_simplex_blocks",
]

if not TYPE_CHECKING:
    _core = core_or(_numpy)


class Projection(NamedTuple):
    """A projected point and the multiplier of the constraint that binds its coordinates together."""

    x: NDArray[np.float64]
    multiplier: float


class EntropicPoint(NamedTuple):
    """A point with its logarithms, which are exact where the point itself is too small for a float."""

    x: NDArray[np.float64]
    log_x: NDArray[np.float64]


def _finite(name: str, values: ArrayLike, ndim: int = 1) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64, ndmin=1 if ndim == 1 else 0, order="C")
    if array.ndim != ndim or array.size == 0:
        kind = "a vector" if ndim == 1 else "an array with rows and columns"
        raise InputError(f"{name} must be {kind} with at least one entry; got shape {array.shape}")
    _check_finite(name, array)
    return array


def _check_finite(name: str, array: NDArray[np.float64]) -> None:
    if not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InputError(f"{name} must be finite; entry {first[0] if len(first) == 1 else tuple(first)} is not")


def _spread(vectors: dict[str, ArrayLike], size: int, of: str = "center") -> dict[str, Vector]:
    """Each of `vectors`, a number or of that size, as a contiguous vector of that size."""
    try:
        return {
            k: np.ascontiguousarray(np.broadcast_to(np.asarray(v, np.float64), (size,))) for k, v in vectors.items()
        }
    except ValueError:
        shapes = ", ".join(f"{k} {np.shape(v)}" for k, v in vectors.items())
        raise InputError(f"every vector must have the length of {of}, {size}; got {shapes}") from None


def _check_weights(weights: Vector) -> None:
    _check_finite("weights", weights)
    if not (weights > 0).all():
        raise InputError(f"weights must be positive; the least is {weights.min()}")


def project_box_plane(
    center: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    normal: ArrayLike,
    offset: float = 0.0,
    weights: ArrayLike = 1.0,
) -> Projection:
    """Project onto the intersection of a box and a hyperplane, in linear time.

    Solves  min ½ Σ weights_i (x_i - center_i)²  over  lower ≤ x ≤ upper,  ⟨normal, x⟩ = offset.
    The solution is x = clip(center + multiplier · normal / weights, lower, upper).

    Parameters
    ----------
    center : array of shape (n,)
    lower, upper, normal, weights : arrays of shape (n,) or numbers
        Bounds may be infinite; weights must be positive.
    offset : float

    Returns
    -------
    Projection
        `x` of shape (n,) and `multiplier`, that of the hyperplane.

    Raises
    ------
    InputError
        If a value is not finite, a weight is not positive, a lower bound exceeds its upper bound, or no point of
        the box lies on the hyperplane.

    Examples
    --------
    >>> from minorant.kernels import project_box_plane
    >>> project_box_plane([0.9, 0.6, -0.2], lower=0.0, upper=1.0, normal=1.0, offset=1.0).x
    array([0.65, 0.35, 0.  ])
    """
    m = _finite("center", center)
    full = _spread({"lower": lower, "upper": upper, "normal": normal, "weights": weights}, m.size)
    _check_finite("normal", full["normal"])
    _check_weights(full["weights"])
    if not np.isfinite(offset):
        raise InputError(f"offset must be finite; got {offset}")
    crossed = np.flatnonzero(~(full["lower"] <= full["upper"]))
    if crossed.size:
        i = crossed[0]
        raise InputError(f"empty box: lower[{i}] = {full['lower'][i]}, upper[{i}] = {full['upper'][i]}")
    x, multiplier, _ = _core.box_plane(m, full["lower"], full["upper"], full["normal"], float(offset), full["weights"])
    return Projection(x, multiplier)


def project_capped_simplex(
    center: ArrayLike, cap: ArrayLike, mass: float = 1.0, weights: ArrayLike = 1.0
) -> Projection:
    """Project onto the capped simplex, in linear time.

    Solves  min ½ Σ weights_i (x_i - center_i)²  over  0 ≤ x ≤ cap,  Σ x = mass.
    The solution is x = clip(center + multiplier / weights, 0, cap).

    Parameters
    ----------
    center : array of shape (n,)
    cap, weights : arrays of shape (n,) or numbers
        Caps may be infinite; weights must be positive.
    mass : float

    Returns
    -------
    Projection
        `x` of shape (n,) and `multiplier`, that of Σ x = mass.

    Raises
    ------
    InputError
        If a value is not finite, a weight is not positive, a cap is negative, or the caps sum to less than the mass.

    Examples
    --------
    >>> from minorant.kernels import project_capped_simplex
    >>> project_capped_simplex([2.0, 0.5, 0.25], cap=0.5).x
    array([0.5  , 0.375, 0.125])
    """
    m = _finite("center", center)
    full = _spread({"cap": cap, "weights": weights}, m.size)
    _check_weights(full["weights"])
    if not (full["cap"] >= 0).all():
        raise InputError(f"cap must be at least 0; the least is {full['cap'].min()}")
    if not (np.isfinite(mass) and mass >= 0):
        raise InputError(f"mass must be finite and at least 0; got {mass}")
    room = float(full["cap"].sum())
    if mass > room + 1e-12 * max(1.0, room):
        raise InputError(f"no point: the mass is {mass}, but the caps sum to {room}; raise cap or lower mass")
    x, multiplier, _ = _core.box_plane(m, np.zeros(m.size), full["cap"], np.ones(m.size), float(mass), full["weights"])
    return Projection(x, multiplier)


def entropic_capped_simplex(log_weights: ArrayLike, cap: float) -> EntropicPoint:
    """Project onto the capped simplex in relative entropy, in linear time.

    Solves  min Σ x_i (log x_i - log_weights_i)  over  0 ≤ x ≤ cap,  Σ x = 1.
    The solution is x = min(cap, θ exp(log_weights)): the softmax for cap ≥ 1, uniform for cap = 1/n.

    Parameters
    ----------
    log_weights : array of shape (n,)
        Of any size: their differences alone matter.
    cap : float
        At least 1/n; may be infinite.

    Returns
    -------
    EntropicPoint
        `x` and `log_x`, both of shape (n,).

    Raises
    ------
    InputError
        If a log-weight is not finite, or n · cap < 1.

    Examples
    --------
    >>> from minorant.kernels import entropic_capped_simplex
    >>> entropic_capped_simplex([7.0, 0.0, 0.0], cap=0.5).x
    array([0.5 , 0.25, 0.25])
    """
    a = _finite("log_weights", log_weights)
    if not a.size * cap >= 1 - 1e-12:
        raise InputError(
            f"no point: {a.size} entries of at most {cap} cannot sum to 1; cap must be at least 1/{a.size}"
        )
    x, log_x, _ = _core.entropic_cap(a, float(cap))
    return EntropicPoint(x, log_x)


def project_elastic_net_ball(
    center: ArrayLike, radius: float, gamma: float, weights: ArrayLike | None = None
) -> Projection:
    """Project onto the ball of the elastic net, in linear time.

    Solves  min ½ Σ weights_i (x_i - center_i)²  over  gamma ‖x‖₁ + ½ ‖x‖² ≤ radius.
    The solution is x = soft(weights · center, multiplier · gamma) / (weights + multiplier). The multiplier has a closed
    form where there are no weights; with them it is the root of a decreasing function, found to rounding.

    Parameters
    ----------
    center : array of shape (n,)
    radius : float
        Positive.
    gamma : float
        At least 0; with 0 the set is a Euclidean ball.
    weights : array of shape (n,) or number, optional
        Positive; without them all are 1.

    Returns
    -------
    Projection
        `x` of shape (n,) and `multiplier`, which is 0 where the center is in the ball.

    Raises
    ------
    InputError
        If a value is not finite, the radius or a weight is not positive, or gamma is negative.

    Examples
    --------
    >>> from minorant.kernels import project_elastic_net_ball
    >>> project_elastic_net_ball([3.0, -1.0], radius=1.5, gamma=1.0).x
    array([1., 0.])
    """
    g = _finite("center", center)
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"radius must be positive and finite; got {radius}")
    if not (np.isfinite(gamma) and gamma >= 0):
        raise InputError(f"gamma must be finite and at least 0; got {gamma}")
    if weights is None:
        x, multiplier, _ = _core.elastic_net_ball(g, float(radius), float(gamma))
        return Projection(x, multiplier)
    b = _spread({"weights": weights}, g.size)["weights"]
    _check_weights(b)
    return _weighted_elastic_net_ball(g, float(radius), float(gamma), b)


def _weighted_elastic_net_ball(g: Vector, radius: float, gamma: float, b: Vector) -> Projection:
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and seldom used

    def point(eta: float) -> Vector:
        v = b * g
        return np.asarray((v - np.clip(v, -eta * gamma, eta * gamma)) / (b + eta))

    def excess(log_eta: float) -> float:
        x = point(float(np.exp(log_eta)))
        return (gamma * float(np.abs(x).sum()) + 0.5 * float((x * x).sum())) / radius - 1.0

    # Lower end: η is too small to change x by more than rounding. Upper end: |x| ≤ |b g|/η, so the size of x is at most
    # γ Σ|b g|/η + ½ Σ(b g)²/η², and each term at most r/2.
    lower = float(np.log(1e-17 * b.min()))
    v = np.abs(b * g)
    upper = float(np.log(max(2.0 * gamma * v.sum() / radius, np.sqrt((v * v).sum() / radius), b.min())))
    if excess(lower) <= 0:
        return Projection(g.copy(), 0.0)
    eta = float(np.exp(brentq(excess, lower, upper, xtol=1e-15, rtol=1e-15, maxiter=500)))
    return Projection(point(eta), eta)


def project_simplex_blocks(
    centers: ArrayLike, mass: ArrayLike = 1.0, threads: int = 1, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Project each row of an array onto a simplex, in linear time.

    Solves  min ½ Σ_k weights_ik (x_ik - centers_ik)²  over  x_i ≥ 0,  Σ_k x_ik = mass_i,  for each row i.

    Parameters
    ----------
    centers : array of shape (n, K)
    mass : array of shape (n,) or number
        At least 0.
    threads : int, default 1
        The result does not depend on it. With weights there is one.
    weights : array that spreads to shape (n, K), optional
        Positive; without them all are 1.

    Returns
    -------
    array of shape (n, K)

    Raises
    ------
    InputError
        If a value is not finite, a mass is negative, or a weight is not positive.

    Examples
    --------
    >>> from minorant.kernels import project_simplex_blocks
    >>> project_simplex_blocks([[0.5, 1.0, -4.0], [9.0, 0.0, 0.0]], mass=1.0)
    array([[0.25, 0.75, 0.  ],
           [1.  , 0.  , 0.  ]])
    """
    c = _finite("centers", centers, ndim=2)
    m = _spread({"mass": mass}, c.shape[0], of="centers")["mass"]
    _check_finite("mass", m)
    if not (m >= 0).all():
        raise InputError(f"mass must be at least 0; the least is {m.min()}")
    if weights is None:
        return _core.simplex_blocks(c, m, threads)
    try:
        b = np.ascontiguousarray(np.broadcast_to(np.asarray(weights, dtype=np.float64), c.shape))
    except ValueError:
        raise InputError(f"weights must spread to the shape of centers, {c.shape}; got {np.shape(weights)}") from None
    _check_weights(b)
    zero, one, cap = np.zeros(c.shape[1]), np.ones(c.shape[1]), np.full(c.shape[1], np.inf)
    return np.stack([_core.box_plane(c[i], zero, cap, one, float(m[i]), b[i])[0] for i in range(c.shape[0])])

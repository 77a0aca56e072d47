"""The laws that a loss and a regularizer have to keep, for those who write their own.

    check_loss(MyLoss(...))              Fenchel-Young, the smoothing sandwich, gradients by differences, projections
    check_regularizer(MyRegularizer())   Fenchel-Young, argmin against random points, strong convexity

Each raises an AssertionError that names the law and the numbers. They draw points and prove nothing, but a wrong sign,
a lost factor of 2 or a t where 1/t belongs does not pass them.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from minorant.geometry import Entropy, Euclidean, Geometry, WeightedEuclidean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from minorant.losses import Loss
    from minorant.regularizers import Regularizer

    Vector = NDArray[np.float64]

__all__ = ["check_loss", "check_regularizer"]


def check_loss(loss: Loss, *, draws: int = 20, seed: int = 0) -> None:
    """Check the laws of a loss on random scores.

    Parameters
    ----------
    loss : Loss
    draws : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    smoothings = (2.0, 0.3, 0.01) + ((0.0,) if loss.curvature > 0 else ())
    assert loss.start().shape == (loss.size,), "start() must have the size of the loss"
    _hold("start() is in Q", isfinite(loss.conjugate(loss.start())))
    for _ in range(draws):
        u, other = (rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=loss.size) for _ in range(2))
        exact, scale = loss.value(u), 1.0 + abs(loss.value(u))
        for mu in smoothings:
            at, alpha = loss.smoothed(u, mu), loss.smoothed(other, mu).alpha
            _hold("the maximizer is in Q", isfinite(loss.conjugate(at.alpha)))
            _close("g*_mu is attained by its maximizer", at.value, _dual_value(loss, u, at.alpha, mu), scale)
            _below("no point of Q does better", _dual_value(loss, u, alpha, mu), at.value, scale)
            _below("g*_mu ≤ g*", at.value, exact, scale)
            if loss.radius < inf:
                _below("g* - mu·radius ≤ g*_mu", exact - mu * loss.radius, at.value, scale)
            _below("Fenchel-Young", float(u @ alpha) - loss.conjugate(alpha), exact, scale)
            _check_gradient(loss, u, rng.normal(size=loss.size), mu, scale)
            at_other = loss.smoothed(other, mu)
            divergence = at.value - at_other.value - float(at_other.alpha @ (u - other))
            size = scale + abs(at_other.value)
            _close("smoothed_divergence", loss.smoothed_divergence(u, at, other, at_other, mu), divergence, size)
            _close("project() keeps the points of Q", 0.0, float(np.abs(loss.project(alpha) - alpha).max()), 1.0)


def _dual_value(loss: Loss, u: Vector, alpha: Vector, mu: float) -> float:
    return float(u @ alpha) - loss.conjugate(alpha) - (mu * loss.prox(alpha) if mu else 0.0)


def _check_gradient(loss: Loss, u: Vector, v: Vector, mu: float, scale: float) -> None:
    """⟨α, v⟩ lies between the slopes of the convex g*_mu to the left and to the right."""
    h = 1e-6
    at = loss.smoothed(u, mu)
    left, right = ((loss.smoothed(u + s * h * v, mu).value - at.value) / (s * h) for s in (-1.0, 1.0))
    slope, rounding = float(at.alpha @ v), 1e-7 * scale
    _hold(
        f"the maximizer is the gradient: slopes {left:.10g} ≤ {slope:.10g} ≤ {right:.10g} at mu = {mu}",
        left - rounding <= slope <= right + rounding,
    )


def check_regularizer(
    regularizer: Regularizer,
    size: int,
    *,
    geometries: Iterable[Geometry] | None = None,
    draws: int = 20,
    seed: int = 0,
) -> None:
    """Check the laws of a regularizer on vectors of a given size.

    Parameters
    ----------
    regularizer : Regularizer
    size : int
    geometries : geometries to check it in; by default one of each class in `regularizer.geometries`
    draws : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    _hold("start() is in the domain", isfinite(regularizer.value(regularizer.start(size))))
    known: dict[type[Geometry], Geometry] = {
        Euclidean: Euclidean(),
        WeightedEuclidean: WeightedEuclidean(np.geomspace(0.5, 4.0, size)),
        Entropy: Entropy(),
    }
    for d in [known[kind] for kind in regularizer.geometries] if geometries is None else geometries:
        lam = regularizer.strong_convexity(d)
        for _ in range(draws):
            t, weight = float(rng.choice([0.1, 1.0, 10.0])), float(rng.choice([1.0, 0.5]))
            s, other = (rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=size) for _ in range(2))
            x, mirror = regularizer.argmin(s, t, d, weight)
            y, _ = regularizer.argmin(other, t, d, weight)
            _close("argmin returns ∇d of its point", 0.0, float(np.abs(d.gradient(x) - mirror).max()), 1.0)
            best, there = (float(s @ p) + t * d.value(p) + weight * regularizer.value(p) for p in (x, y))
            margin = (t + weight * lam) * d.divergence(y, x, mirror)
            _below("argmin beats another point by the strong-convexity margin", best + margin, there, 1 + abs(there))
            v = s * min(1.0, 0.999 * regularizer.dual_scale(s))
            conjugate = regularizer.conjugate(v)
            _hold("the conjugate is finite where dual_scale says so", isfinite(conjugate))
            _below("Fenchel-Young", float(v @ x), regularizer.value(x) + conjugate, 1 + abs(conjugate))
            if lam > 0:
                w = regularizer.maximizer(v)
                _close("the maximizer attains Ω*", float(v @ w) - regularizer.value(w), conjugate, 1 + abs(conjugate))


def _hold(law: str, holds: bool) -> None:
    assert holds, f"broken law: {law}"


def _below(law: str, small: float, large: float, scale: float) -> None:
    assert small <= large + 1e-9 * scale, f"broken law: {law}: {small!r} exceeds {large!r}"


def _close(law: str, a: float, b: float, scale: float) -> None:
    assert abs(a - b) <= 1e-9 * scale, f"broken law: {law}: {a!r} is not {b!r}"

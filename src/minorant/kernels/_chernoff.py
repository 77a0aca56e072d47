"""A bound of elementary symmetric sums, for all orders at once: log e(b) ≤ min over θ of K(θ) - θ b.

e(b) = Σ over b-subsets of Π exp(t_i),   K(θ) = Σ log(1 + exp(t_i + θ)).

Any set of θ gives a bound, piecewise linear and concave in b; close to the best where the θ are close. K itself may be
replaced by anything larger: log(1 + e^x) is convex, so t_i between two edges may be split between them, its mean kept.
The θ and the edges are dense around a few centers and their distances grow in proportion to that from the center.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Envelope", "Symmetric"]


class Envelope(NamedTuple):
    """A concave, piecewise linear bound on [0, m]: linear between the points (b, log_e)."""

    b: Vector
    log_e: Vector

    def at(self, b: Vector) -> Vector:
        """The bound at real b."""
        return np.interp(b, self.b, self.log_e)

    def looseness(self, b: float) -> float:
        """About how much the pieces next to b lie above a curve with the same tangents."""
        slopes = -np.diff(self.log_e) / np.maximum(np.diff(self.b), 1e-300)
        j = int(np.clip(np.searchsorted(self.b, b) - 1, 0, slopes.size - 1))
        low, high = max(j - 1, 0), min(j + 1, slopes.size - 1)
        return float((slopes[high] - slopes[low]) * (self.b[high + 1] - self.b[low])) / 16


class Symmetric:
    """The sums e(0), ..., e(m) of the numbers exp(t), for t sorted ascending."""

    def __init__(self, t: Vector) -> None:
        self.t = t
        self._sums = np.concatenate([[0.0], np.cumsum(t)])

    def tilt(self, count: int) -> float:
        """The θ that makes `count` the mean number of heads, P(i) = σ(t_i + θ), or as near to it as is sensible."""
        if not self.t.size:
            return 0.0
        theta = -float(self.t[int(np.clip(self.t.size - 1 - count, 0, self.t.size - 1))])
        for _ in range(2):  # the second time with edges where they matter
            edges, weight = self._split([theta], [self.spread(theta)])
            low, high = -float(self.t[-1]) - 40.0, -float(self.t[0]) + 40.0
            for _ in range(60):
                theta = 0.5 * (low + high)
                mean = float(np.dot(weight, 1.0 / (1.0 + np.exp(np.minimum(-edges - theta, 700.0)))))
                low, high = (theta, high) if mean < count else (low, theta)
        return theta

    def spread(self, theta: float) -> float:
        """About √K″(θ)."""
        edges, weight = self._split([theta], [1.0])
        tails = np.exp(-np.abs(edges + theta))
        return float(np.sqrt(np.dot(weight, tails / np.square(1.0 + tails))))

    def _split(self, centers: list[float], spreads: list[float]) -> tuple[Vector, Vector]:
        """Edges that enclose all t, and the number of t each edge stands for."""
        low, high = float(self.t[0]), float(self.t[-1])
        parts = [np.array([low, high])]
        for theta, spread in zip(centers, spreads, strict=True):
            reach = max(abs(low + theta), abs(high + theta), 1.0)
            steps = _ladder(min(0.05, 2.0 / max(spread, 0.25)), 40, 1.04, reach)
            parts += [-theta - steps, -theta + steps, self._near(theta, spread)]
        edges = np.unique(np.clip(np.concatenate(parts), low, high))
        if edges.size == 1:
            return edges, np.array([float(self.t.size)])
        cut = np.searchsorted(self.t, edges[1:-1], side="left")
        cut = np.concatenate([[0], cut, [self.t.size]])
        count, total = np.diff(cut).astype(np.float64), np.diff(self._sums[cut])
        right = np.clip((total - count * edges[:-1]) / np.diff(edges), 0.0, count)
        weight = np.zeros(edges.size)
        weight[:-1] += count - right
        weight[1:] += right
        return edges, weight

    def _near(self, theta: float, spread: float) -> Vector:
        """Where few t are undecided at θ, each counts: those next to -θ."""
        if spread > 8.0:
            return self.t[:0]
        at = int(np.searchsorted(self.t, -theta))
        return self.t[max(at - 16, 0) : at + 16]

    def envelope(self, centers: list[float]) -> Envelope:
        """The bound that is closest where the tilts are near the centers."""
        if not self.t.size:
            return Envelope(np.array([0.0, 0.25]), np.zeros(2))  # a piece needs two ends
        m = float(self.t.size)
        low, high = -float(self.t[-1]) - 40.0, -float(self.t[0]) + 40.0
        spreads = [self.spread(theta) for theta in centers]
        parts = [np.array([low, high])]
        for theta, spread in zip(centers, spreads, strict=True):
            steps = _ladder(2.0 / max(spread, 0.25), 16, 1.2, max(high - theta, theta - low, 1.0))
            near = self._near(theta, spread)
            parts += [theta - steps, theta + steps, -near, -0.5 * (near[1:] + near[:-1])]
        thetas = np.unique(np.clip(np.concatenate(parts), low, high))
        edges, weight = self._split(centers, spreads)
        x = thetas[:, None] + edges
        K = (np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))) @ weight
        b = np.clip(np.diff(K) / np.diff(thetas), 0.0, m)
        log_e = K[:-1] - thetas[:-1] * b
        b = np.concatenate([[0.0], b, [m]])
        log_e = np.concatenate([[K[0]], log_e, [K[-1] - thetas[-1] * m]])
        order = np.argsort(b, kind="stable")
        b, first = np.unique(b[order], return_index=True)
        return Envelope(b, log_e[order][first])


def _ladder(step: float, count: int, ratio: float, reach: float) -> Vector:
    """0, step, ..., count·step, and from there on in proportion until `reach`."""
    even = step * np.arange(count + 1.0)
    more = max(0, int(np.ceil(np.log(reach / even[-1]) / np.log(ratio)))) if reach > even[-1] else 0
    return np.concatenate([even, even[-1] * ratio ** np.arange(1.0, more + 1.0)])

"""The oracles of whole-sample measures in plain NumPy.

gain_i = -2 c_i y_i s_i is what a flip of example i adds to Σ c_i s_i (y'_i - y_i). Gains of a class come sorted,
ascending; S(k) is the sum of its k largest. The scans return the largest Δ(b, c) + S₊(b) + S₋(c), with b and c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Worst = tuple[float, int, int]
    Coupling = tuple[tuple[float, float, float, float], Vector, Vector]


def _gains(scores: Vector, y: Vector, weights: Vector) -> Vector:
    scale = 2.0 * weights if weights.size else 2.0 / max(scores.size, 1)
    return np.asarray(scale * (-y * scores))


def count_positives(scores: Vector, y: Vector) -> int:
    """The number of positives; refuses scores that are not finite and labels other than ±1."""
    for name, bad, values in (("scores", ~np.isfinite(scores), scores), ("labels", np.abs(y) != 1, y)):
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            allowed = "finite; score" if name == "scores" else "+1 or -1; label"
            raise InputError(f"{name} must be {allowed} {i} is {float(values[i])}")
    return int((y > 0).sum())


def flip_gains(scores: Vector, y: Vector, weights: Vector) -> Vector:
    """The gains of the positives, in order, then those of the negatives, the last first. No weights: 1/n each."""
    gains = _gains(scores, y, weights)
    return np.concatenate([gains[y > 0], gains[y < 0][::-1]])


def flip_top(scores: Vector, y: Vector, weights: Vector, pos: Vector, b: int, neg: Vector, c: int) -> Vector:
    """1 for the b positives and the c negatives of largest gain, the first of equal ones; 0 for the others."""
    gains, flipped = _gains(scores, y, weights), np.zeros(y.size)
    for sign, k in ((1.0, b), (-1.0, c)):
        index = np.flatnonzero(y == sign)
        flipped[index[np.argsort(-gains[index], kind="stable")[:k]]] = 1.0
    return flipped


def flip_from(scores: Vector, y: Vector, weights: Vector, pos: float, neg: float) -> Vector:
    """1 for the positives of at least the gain `pos` and the negatives of at least `neg`; 0 for the others."""
    return (_gains(scores, y, weights) >= np.where(y > 0, pos, neg)).astype(np.float64)


def ranks(x: Vector, q: Vector, equal: bool) -> Vector:
    """For each of q the number of x (sorted) below it, or not above it where `equal`."""
    return np.searchsorted(x, q, side="right" if equal else "left").astype(np.float64)


def swapped_pairs(scores: Vector, y: Vector) -> tuple[float, float, Vector]:
    """The mean of [1 - (s_i - s_j)]₊ over pairs of a positive i and a negative j, the share of those where it is not 0,
    and the same share of the pairs of each example.
    """
    positive = y > 0
    p, n = scores[positive], scores[~positive]
    pos, neg = np.sort(p), np.sort(n)
    shares = np.empty(y.size)
    shares[positive] = 1.0 - ranks(neg, p - 1.0, True) / neg.size
    shares[~positive] = ranks(pos - 1.0, n, False) / pos.size  # the same question as the positives', as it is rounded
    loss = float(shares[positive].mean())
    center = pos[pos.size // 2]  # what all scores have in common cancels
    gain = ((n - center) * shares[~positive]).mean() - ((p - center) * shares[positive]).mean()
    return loss + float(gain), loss, shares


def top_sums(ascending: Vector) -> Vector:
    """S(0), ..., S(n)."""
    return np.concatenate([[0.0], np.cumsum(ascending[::-1])])


def flip_shares(
    ones: NDArray[np.uint8], where: NDArray[np.int32], values: Vector, weight: float, total: Vector
) -> None:
    """total += weight where a bit of `ones` is set, the highest of a byte first, and += weight · values at `where`."""
    total += weight * np.unpackbits(ones, count=total.size)
    total[where] += weight * values


def f_select(scores: Vector, y: Vector, weights: Vector, gains: Vector, n_pos: int, beta2: float) -> None:
    """The worst labeling for 1 - Fβ without a sort, or None: NumPy has nothing faster than its sort."""


def gmean_select(scores: Vector, y: Vector, weights: Vector, gains: Vector, n_pos: int) -> None:
    """The same for the geometric mean of the recalls."""


def f_scan(pos: Vector, neg: Vector, beta2: float) -> Worst:
    """Δ = 1 - Fβ."""

    def loss(b: Vector, c: Vector) -> Vector:
        return (beta2 * b + c) / ((1.0 + beta2) * pos.size - b + c)

    return concave_scan(top_sums(pos), top_sums(neg), loss)


def gmean_scan(pos: Vector, neg: Vector) -> Worst:
    """Δ = 1 - the geometric mean of the recalls."""

    def loss(b: Vector, c: Vector) -> Vector:
        return np.asarray(1.0 - np.sqrt((pos.size - b) / pos.size * ((neg.size - c) / neg.size)))

    return submodular_scan(top_sums(pos), top_sums(neg), loss)


def count_scan(pos: Vector, neg: Vector, count: int, rate: float) -> Worst:
    """Δ = 1 - rate (n₊ - b) for labelings with `count` predicted positives; the true one has Δ = 0."""
    up, down = top_sums(pos), top_sums(neg)
    b = np.arange(max(0, pos.size - count), min(pos.size, pos.size + neg.size - count) + 1)
    c = b + count - pos.size
    values = 1.0 - rate * (pos.size - b) + up[b] + down[c]
    best = int(np.argmax(values))
    return (float(values[best]), int(b[best]), int(c[best])) if values[best] > 0 else (0.0, 0, 0)


def concave_scan(up: Vector, down: Vector, loss: Callable[[Vector, Vector], Vector]) -> Worst:
    """For a Δ that is concave in c: for all b at once, bisect for the first c from which on Δ + S₋ does not rise."""
    b = np.arange(up.size, dtype=np.float64)
    low, high = np.zeros(up.size, np.int64), np.full(up.size, down.size - 1)
    while (low < high).any():
        middle = (low + high) // 2
        after = np.minimum(middle + 1, down.size - 1)
        rise = loss(b, after.astype(np.float64)) - loss(b, middle.astype(np.float64)) + (down[after] - down[middle])
        low, high = np.where(rise > 0, after, low), np.where(rise > 0, high, middle)
    return _best(b.astype(np.int64), low, up, down, loss)


def submodular_scan(up: Vector, down: Vector, loss: Callable[[Vector, Vector], Vector]) -> Worst:
    """For Δ(b+1, c) - Δ(b, c) that never rises with c: the best c never rises with b.

    Rows are solved middle first: each halves the columns that the rows around it have left.
    """
    n_rows = up.size
    best = np.full(n_rows + 2, 0)
    best[0], best[-1] = down.size - 1, 0  # row b is kept at b + 1, between two rows that bind nobody
    step = 1 << int(n_rows).bit_length()
    while step > 1:
        rows = np.arange(step // 2, n_rows + 1, step)
        lower, upper = best[np.minimum(rows + step // 2, n_rows + 1)], best[rows - step // 2]
        width = upper - lower + 1
        start = np.concatenate([[0], np.cumsum(width)])
        row = np.repeat(np.arange(rows.size), width)
        c = np.arange(start[-1]) - start[row] + lower[row]
        values = loss((rows[row] - 1).astype(np.float64), c.astype(np.float64)) + down[c]
        top = np.maximum.reduceat(values, start[:-1])
        first = np.flatnonzero(values == top[row])
        _, keep = np.unique(row[first], return_index=True)
        best[rows] = c[first[keep]]
        step //= 2
    return _best(np.arange(n_rows), best[1:-1], up, down, loss)


def _best(
    b: NDArray[np.int64], c: NDArray[np.int64], up: Vector, down: Vector, loss: Callable[[Vector, Vector], Vector]
) -> Worst:
    values = loss(b.astype(np.float64), c.astype(np.float64)) + up[b] + down[c]
    i = int(np.argmax(values))
    return float(values[i]), int(b[i]), int(c[i])


def couple_f(
    beta2: float,
    n_pos: float,
    n_neg: float,
    kappa: float,
    p: Vector,
    b_first: float,
    b_center: float,
    b_theta: float,
    q: Vector,
    c_first: float,
    c_center: float,
    c_theta: float,
    covered: Vector,
) -> Coupling:
    """Two counts b ~ p, c ~ q coupled by exp(κ (Δ - Δ₀) - θ₊ (b - b₀) - θ₋ (c - c₀)), Δ = 1 - Fβ, Δ₀ at the centers.

    Entries in the `covered` rectangles (b₁, b₂, c₁, c₂ each) do not count. Returns (log_scale, Σ p q e^ℓ,
    Σ p q e^ℓ (Δ - Δ₀), max ℓ), the sums in units of e^log_scale; and the weights Σ_c q e^ℓ of b, Σ_b p e^ℓ of c.
    """
    db, dc = (b_first - b_center + np.arange(p.size))[:, None], c_first - c_center + np.arange(q.size)
    above, below = beta2 * b_center + c_center, (1.0 + beta2) * n_pos - b_center + c_center
    rise = ((beta2 * db + dc) * below - above * (dc - db)) / ((below + (dc - db)) * below)
    return _couple(rise, kappa, p, b_first, b_center, b_theta, q, c_first, c_center, c_theta, covered)


def couple_gmean(
    n_pos: float,
    n_neg: float,
    kappa: float,
    p: Vector,
    b_first: float,
    b_center: float,
    b_theta: float,
    q: Vector,
    c_first: float,
    c_center: float,
    c_theta: float,
    covered: Vector,
) -> Coupling:
    """The same for Δ = 1 - the geometric mean of the recalls."""
    b, c = (b_first + np.arange(p.size))[:, None], c_first + np.arange(q.size)
    fall = (n_pos - b_center) * (c - c_center) + (n_neg - c) * (b - b_center)
    roots = np.sqrt((n_pos - b_center) * (n_neg - c_center)) + np.sqrt((n_pos - b) * (n_neg - c))
    rise = np.divide(fall, roots * np.sqrt(n_pos * n_neg), out=np.zeros(roots.shape), where=roots > 0)
    return _couple(rise, kappa, p, b_first, b_center, b_theta, q, c_first, c_center, c_theta, covered)


def _couple(
    rise: Vector,
    kappa: float,
    p: Vector,
    b_first: float,
    b_center: float,
    b_theta: float,
    q: Vector,
    c_first: float,
    c_center: float,
    c_theta: float,
    covered: Vector,
) -> Coupling:
    b, c = (b_first + np.arange(p.size))[:, None], c_first + np.arange(q.size)
    weight = kappa * rise - b_theta * (b - b_center) - c_theta * (c - c_center)
    for b1, b2, c1, c2 in covered.reshape(-1, 4):
        weight[(b >= b1) & (b <= b2) & (c >= c1) & (c <= c2)] = -np.inf
    largest = float(weight.max())
    scale = float((weight + np.log(p)[:, None] + np.log(q)).max())
    if scale == -np.inf:
        return (scale, 0.0, 0.0, largest), np.zeros(p.size), np.zeros(q.size)
    e = np.where(weight + np.log(p)[:, None] + np.log(q) < scale - 75.0, 0.0, np.exp(np.minimum(weight - scale, 700.0)))
    up, down = e @ q, p @ e
    return (scale, float(p @ up), float(p @ ((e * rise) @ q)), largest), up, down

"""The largest Δ(b, c) + S₊(b) + S₋(c) for a Δ that never falls with b or c, by branch and bound.

On a block [b₁, b₂] × [c₁, c₂] the sum is at most Δ(b₂, c₂) + max S₊ + max S₋, and S₊, S₋ are concave, so their maxima
over a range are known. Blocks that cannot beat the best entry seen are dropped, the others cut in four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Blocks = NDArray[np.int64]  # columns b₁, b₂, c₁, c₂

__all__ = ["full_scan", "monotone_scan"]

_CHUNK = 1 << 16  # blocks looked at together


def _quarters(blocks: Blocks, corner: Vector) -> tuple[Blocks, Vector]:
    """Four disjoint blocks for each, less those that are empty, with the corner of the one they came from."""
    b1, b2, c1, c2 = blocks.T
    b, c = (b1 + b2) // 2, (c1 + c2) // 2
    parts = [(b1, b, c1, c), (b + 1, b2, c1, c), (b1, b, c + 1, c2), (b + 1, b2, c + 1, c2)]
    cut = np.concatenate([np.stack(part, axis=1) for part in parts])
    there = (cut[:, 0] <= cut[:, 1]) & (cut[:, 2] <= cut[:, 3])
    return cut[there], np.tile(corner, 4)[there]


def monotone_scan(up: Vector, down: Vector, loss: Callable[[Vector, Vector], Vector]) -> tuple[float, int, int]:
    """The largest entry, with its b and c; InputError where the loss is seen to fall."""
    _probe(up.size, down.size, loss)
    top_b, top_c = int(np.argmax(up)), int(np.argmax(down))
    best, best_b, best_c = -np.inf, 0, 0
    stack: list[tuple[Blocks, Vector]] = [
        (np.array([[0, up.size - 1, 0, down.size - 1]]), np.array([np.inf])),
    ]
    while stack:
        blocks, above = stack.pop()
        b1, b2, c1, c2 = blocks.T
        corner = loss(b2.astype(np.float64), c2.astype(np.float64))
        if (corner > above + 1e-12 * np.abs(above)).any():
            raise _falls(*max(zip(corner - above, b2, c2, strict=True))[1:])
        values = corner + up[b2] + down[c2]
        i = int(np.argmax(values))
        if values[i] > best:
            best, best_b, best_c = float(values[i]), int(b2[i]), int(c2[i])
        bound = corner + up[np.clip(top_b, b1, b2)] + down[np.clip(top_c, c1, c2)]
        open_ = (bound > best) & ((b1 < b2) | (c1 < c2))
        order = np.argsort(bound[open_], kind="stable")  # the most promising on top of the stack
        blocks, corner = blocks[open_][order], corner[open_][order]
        for start in range(0, blocks.shape[0], _CHUNK):
            stack.append(_quarters(blocks[start : start + _CHUNK], corner[start : start + _CHUNK]))
    return best, best_b, best_c


def _falls(b: int, c: int) -> InputError:
    return InputError(
        f"the loss falls: Δ({b}, {c}) is more than Δ of a table with more errors; "
        'pass structure="concave", "submodular" or "none"'
    )


def _probe(n_rows: int, n_columns: int, loss: Callable[[Vector, Vector], Vector]) -> None:
    """Look for a fall on a coarse grid: the search itself would not see what it never reads."""
    b, c = (np.unique(np.linspace(0, size - 1, 33).astype(np.int64)) for size in (n_rows, n_columns))
    B, C = np.meshgrid(b.astype(np.float64), c.astype(np.float64), indexing="ij")
    values = loss(B.ravel(), C.ravel()).reshape(B.shape)
    for axis in (0, 1):
        falls = np.argwhere(np.diff(values, axis=axis) < -1e-12 * np.abs(values).max())
        if falls.size:
            raise _falls(int(b[falls[0][0]]), int(c[falls[0][1]]))


def full_scan(up: Vector, down: Vector, loss: Callable[[Vector, Vector], Vector]) -> tuple[float, int, int]:
    """The largest of all entries, row by row."""
    best, best_b, best_c = -np.inf, 0, 0
    columns = np.arange(down.size, dtype=np.float64)
    for b in range(up.size):
        values = loss(np.full(down.size, float(b)), columns) + down
        c = int(np.argmax(values))
        if values[c] + up[b] > best:
            best, best_b, best_c = float(values[c] + up[b]), b, c
    return best, best_b, best_c

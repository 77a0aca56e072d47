"""A start for a bundle: the solution of the same problem for a part of the examples.

Δ and the mean slopes of a labeling depend on shares of the classes, so that J of one example in sixteen is
an estimate of J. Its minimum need not be found more closely than the two differ; from there the bundle is spared the
iterations in which it would learn what is far from its solution.
"""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from minorant.measures import FBeta, GMean, LinearLoss, ROCArea
from minorant.operators import Counting
from minorant.solvers.bundle import Bundle
from minorant.solvers.labelings import WholeSample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["sampled_start"]

_SHARE = 16  # one example in so many
_LEAST = 64  # of either class
_ENOUGH = 0.3  # of what there is to gain: the gap against that of w = 0
_MOST = 60  # iterations


def sampled_start(problem: WholeSample, max_iter: int, ends: float | None) -> tuple[Vector, float] | None:
    """w and b, or None where there are too few examples, or the measure counts them; no later than `ends`."""
    if not isinstance(problem.measure, FBeta | GMean | LinearLoss | ROCArea):
        return None
    positive = problem.y > 0
    some = [np.flatnonzero(own)[::_SHARE] for own in (positive, ~positive)]
    if min(own.size for own in some) < _LEAST:
        return None
    examples = np.sort(np.concatenate(some)).astype(np.int32)
    rows = problem.rows(examples)
    if rows is None:
        return None
    A = Counting(rows)
    part = WholeSample(A, problem.y[examples], problem.measure, problem.lam, problem.free)
    bundle = Bundle(part)
    for primal, dual in islice(bundle.steps(), min(_MOST, max_iter)):
        if primal - dual <= _ENOUGH * (bundle.trivial - dual) or (ends is not None and perf_counter() >= ends):
            break
    problem.partial += (A.products + part.partial) * examples.size / problem.y.size
    return bundle.w, bundle.bias

"""Parameters that no regularizer can have are refused, with a sentence that says what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from minorant.errors import InputError
from minorant.geometry import WeightedEuclidean
from minorant.regularizers import (
    L1,
    Box,
    BoxPlane,
    CappedSimplex,
    ElasticNet,
    ElasticNetBall,
    Entropy,
    GroupL2,
    L1Ball,
    L1Inf,
    LogDet,
    Nuclear,
)

BAD = {
    "lam > 0; got 0": lambda: L1(0.0),
    "lam > 0; got nan": lambda: ElasticNet(np.nan, 1.0),
    "gamma ≥ 0; got -1": lambda: ElasticNet(1.0, -1.0),
    "radius > 0": lambda: ElasticNetBall(0.0, 1.0),
    "gamma ≥ 0; got inf": lambda: ElasticNetBall(1.0, np.inf),
    "L1Ball needs a finite radius": lambda: L1Ball(np.inf),
    "must be finite": lambda: Box(0.0, np.inf),
    "empty: .* entry 1": lambda: Box(np.array([0.0, 3.0]), 1.0),
    "one shape": lambda: Box(np.zeros(2), np.ones(3)),
    "normal of a hyperplane": lambda: BoxPlane(0.0, 1.0, 0.0),
    "no point of the box": lambda: BoxPlane(0.0, 1.0, 1.0, 9.0).start(3),
    "cap > 0": lambda: CappedSimplex(0.0),
    "at least 1/4": lambda: CappedSimplex(0.2).start(4),
    "Entropy needs a cap": lambda: Entropy(1.0, cap=-1.0),
    "integer label": lambda: GroupL2(1.0, [0.5, 1.0]),
    "3 labels, but there are 4 columns": lambda: L1Inf(1.0, [0, 0, 1]).start(4),
    "shape": lambda: Nuclear(1.0, (0, 3)),
    "has not 5 entries": lambda: Nuclear(1.0, (2, 3)).start(5),
    "lower < upper": lambda: LogDet(1.0, 2, 1.0, lower=2.0),
    "symmetric matrix": lambda: LogDet(1.0, 2, 1.0, covariance=np.array([[1.0, 2.0], [0.0, 1.0]])),
    "positive weights": lambda: L1(1.0).argmin(np.ones(2), 1.0, WeightedEuclidean(np.array([0.0, 1.0]))),
}


@pytest.mark.parametrize("message", BAD)
def test_refused(message):
    with pytest.raises(InputError, match=message):
        BAD[message]()

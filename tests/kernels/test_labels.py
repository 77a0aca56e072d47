"""The labels of two classes, in one pass: what np.unique would say, where there are two whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minorant import _core
from minorant.kernels import _numpy

TYPES = [np.float64, np.float32, np.int64, np.int32]
BOTH = pytest.mark.parametrize("kernels", [_core, _numpy])


@BOTH
@pytest.mark.parametrize("dtype", TYPES)
@given(labels=st.lists(st.sampled_from([-3, -1, 0, 1, 2, 7]), min_size=1, max_size=40))
def test_they_are_the_distinct_values(kernels, dtype, labels):
    y = np.array(labels, dtype=dtype)
    distinct = np.unique(y)
    found = kernels.two_labels(y)
    assert found == (tuple(distinct.tolist()) if distinct.size == 2 else None)


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.5, 1e300])
@pytest.mark.parametrize("place", [0, 1, 999])
def test_what_is_no_whole_number_is_none(kernels, bad, place):
    y = np.tile([-1.0, 1.0], 500)
    assert kernels.two_labels(y) == (-1.0, 1.0)
    y[place] = bad
    assert kernels.two_labels(y) is None
    assert kernels.two_labels(np.where(y > 0, bad, 1.0)) is None


@BOTH
def test_extremes_of_integers_are_left_to_others(kernels):
    limits = np.iinfo(np.int64)
    assert kernels.two_labels(np.array([limits.min, limits.max])) is None
    assert kernels.two_labels(np.array([2**53, -(2**53)])) == (-(2**53), 2**53)

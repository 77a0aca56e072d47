"""The sums of the logistic loss: C++ against NumPy, at every size of their arguments."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import _core
from minorant.kernels import _numpy


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 30.0, 1000.0])
def test_the_loss(scale):
    rng = np.random.default_rng(0)
    r, c = scale * rng.standard_normal(500), rng.random(500)
    for sign in (1.0, -1.0):  # all of them tiny, all of them large
        v = sign * np.abs(r)
        assert _core.logistic_loss(v, c) == pytest.approx(_numpy.logistic_loss(v, c), rel=1e-14)
    assert _core.logistic_loss(r, c) == pytest.approx(_numpy.logistic_loss(r, c), rel=1e-14)


@pytest.mark.parametrize("least", [1e-200, 1e-17, 1e-8, 0.01])
def test_the_conjugate_and_its_slope(least):
    rng = np.random.default_rng(1)
    c = rng.random(500)
    c[::50] = 0.0
    t = least ** rng.random(500)
    for slopes in (t, 1.0 - t, least * rng.random(500)):
        alpha = c * np.clip(slopes, 0.0, 1.0)
        assert _core.logistic_conjugate(alpha, c) == pytest.approx(_numpy.logistic_conjugate(alpha, c), rel=1e-13)
        ours, theirs = (k.logistic_conjugate_slope(alpha, c, 0.7) for k in (_core, _numpy))
        size = float((alpha * np.abs(np.log(np.maximum(slopes, 1e-300)))).sum())
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-13 * size)


def test_the_ends_of_the_interval():
    c = np.array([0.5, 0.25, 0.25])
    for kernels in (_core, _numpy):
        assert kernels.logistic_conjugate(np.array([0.0, 0.25, 0.0]), c) == 0.0
        assert kernels.logistic_conjugate(np.array([-1e-18, 0.25 + 1e-17, 0.0]), c) == pytest.approx(0.0, abs=1e-15)
        assert kernels.logistic_conjugate(c / 2, c) == pytest.approx(-np.log(2), rel=1e-15)
        assert kernels.logistic_conjugate_slope(c / 2, c, 1.0) == pytest.approx(0.0, abs=1e-16)

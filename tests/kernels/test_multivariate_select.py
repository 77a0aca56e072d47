"""The worst labeling without a sort, and the order of pairs by whole numbers: native only, against the sorts."""

import numpy as np
import pytest

from minorant.kernels import _numpy, _pairs, multivariate, multivariate_max
from minorant.measures import FBeta, GMean

_core = pytest.importorskip("minorant._core")


def draws(count, seed):
    """Gaussian, rounded, heavy-tailed and separated scores of many scales; few and many positives."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.choice([2, 5, 20, 60, 200, 1000]))
        y = np.where(rng.random(n) < rng.choice([0.01, 0.1, 0.5, 0.9]), 1.0, -1.0)
        y[:2] = 1.0, -1.0
        s = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3) + y * rng.choice([0, 0.5, 2])
        kind = rng.integers(6)
        s = (np.round(s), np.round(s, 1), rng.standard_cauchy(n), y * np.abs(s), s, s)[kind]
        yield s, y, float(rng.choice([0.1, 0.5, 1, 2, 10]))


def test_selection_is_the_sort():
    selected = 0
    for s, y, beta in draws(1500, 0):
        for which in (FBeta(beta), GMean()):
            at = multivariate.checked_sample(s, y, None, which)
            found = multivariate._selected(which, at)
            if found is None:
                continue
            selected += 1
            value, b, c, flipped = found
            gains = -2.0 / y.size * y * s
            pos, neg = np.sort(gains[y > 0]), np.sort(gains[y < 0])
            assert value == pytest.approx(multivariate.worst_table(which, pos, neg)[0], rel=1e-12, abs=1e-12)
            np.testing.assert_array_equal(np.sort(gains[(y > 0) & (flipped > 0)]), pos[pos.size - b :])
            np.testing.assert_array_equal(np.sort(gains[(y < 0) & (flipped > 0)]), neg[neg.size - c :])
    assert selected > 1000


def test_outliers_and_ties_leave_few_bins():
    y = np.where(np.arange(40_000) % 5 == 0, 1.0, -1.0)
    for s in (np.zeros(y.size), np.where(np.arange(y.size) == 7, 1e9, np.linspace(-2, 2, y.size))):
        gains = -2.0 / y.size * y * s
        for which in (FBeta(), FBeta(0.2), GMean()):
            best = multivariate.worst_table(which, np.sort(gains[y > 0]), np.sort(gains[y < 0]))[0]
            assert multivariate_max(s, y, which).value == pytest.approx(best, rel=1e-12)
        at = multivariate.checked_sample(s, y, None, GMean())
        assert multivariate._selected(GMean(), at) is None  # reading all entries of a bin of each class: not worth it


@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e290])
def test_pairs_at_the_last_bits(scale, monkeypatch):
    """Keys have the leading bits of a score only: equal ones, zeros of both signs and neighbors are put in order."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 60))
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        s = rng.choice([1.0, 1.0 + 2e-16, 1.0 + 5e-16, -0.0, 0.0, 2.0, 2.0 - 2e-16, 5e-324], size=n)
        s[y > 0] += rng.choice([0.0, 1.0])
        s *= scale
        native = multivariate_max(s, y, "roc_auc")
        with monkeypatch.context() as patch:
            patch.setattr(_pairs, "_core", _numpy)
            plain = multivariate_max(s, y, "roc_auc")
        np.testing.assert_allclose(native.marginals, plain.marginals, rtol=0, atol=1e-15)
        assert native.value == pytest.approx(plain.value, rel=1e-13, abs=1e-13 * scale)

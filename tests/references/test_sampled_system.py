"""A system of some examples as preconditioner: few iterations on columns that depend on each other, rare ones too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import LogisticRegression


@pytest.fixture(scope="module")
def data():
    """Two hundred columns of very unequal scale that depend on each other, each in half of the rows, and rare ones."""
    rng = np.random.default_rng(3)
    n, p = 20_000, 200
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, p)) + 0.3 * rng.standard_normal((n, p))
    X *= 10.0 ** rng.uniform(-1.0, 1.0, p) * (rng.random((n, p)) < 0.5)
    rare = np.zeros((n, 5))
    rare[rng.integers(0, n, 15), np.repeat(np.arange(5), 3)] = 10.0
    scores = X @ (rng.standard_normal(p) / np.abs(X).max(axis=0))
    y = np.where(scores + 0.5 * scores.std() * rng.standard_normal(n) > 0.3 * scores.std(), 1, 0)
    return np.hstack([X, rare]), y


@pytest.mark.parametrize("kind", [sp.csr_array, np.ascontiguousarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("bias", [False, True])
def test_few_iterations_are_enough(data, bias, kind):
    X, y = data
    X = kind(X)
    model = LogisticRegression(C=1.0, tol=1e-8, solver="newton", fit_intercept=bias).fit(X, y)
    assert model.certificate_.verify(X, y).relative_gap <= 1.01e-8
    assert model.certificate_.n_products <= 80  # the diagonal alone: 110 and 126

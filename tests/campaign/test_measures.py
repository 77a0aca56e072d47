"""Training for measures on awkward samples: badly scaled, imbalanced, tied, repeated, tiny. Every fit is proven.

A few draws run with every test; the rest with `pytest -m campaign`.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant.certificate import Status
from minorant.linear import Run
from minorant.measures import measure
from minorant.whole_sample import fit_measure

METRICS = [
    ("f1", {}),
    ("fbeta", {"beta": 0.3}),
    ("fbeta", {"beta": 3.0}),
    ("gmean", {}),
    ("balanced_error", {}),
    ("error_rate", {}),
    ("precision_at_k", {"k": 2}),
    ("recall_at_k", {"k": 3}),
    ("prbep", {}),
    ("roc_auc", {}),
]
FEW, ALL = 24, 1200
EPS = float(np.finfo(float).eps)


def drawn(seed):
    """A sample with one or several of the things that go wrong, a measure and a strength of the penalty."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([3, 5, 10, 40, 200, 1000])), int(rng.choice([1, 2, 5, 30]))
    y = np.where(rng.random(n) < rng.choice([0.01, 0.1, 0.5, 0.9]), 1, -1)
    y[:2] = 1, -1
    X = rng.normal(size=(n, p)) + rng.choice([0.0, 0.5, 3.0]) * y[:, None] * rng.random(p)
    if rng.random() < 0.3:  # ties
        X = np.round(X)
    if rng.random() < 0.2:  # the same rows again
        rows = rng.integers(0, max(2, n // 4), n)
        rows[:2] = 0, 1
        X = X[rows]
    if rng.random() < 0.3:  # columns of different size
        X = X * 10.0 ** rng.uniform(-4, 4, p)
    if rng.random() < 0.3:  # all of them
        X = X * 10.0 ** rng.uniform(-6, 6)
    if rng.random() < 0.1:
        X[:, 0] = 1.0
    if rng.random() < 0.3:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.3, X, 0.0))
    name, options = METRICS[int(rng.integers(len(METRICS)))]
    return X, y, measure(name, **options), float(10.0 ** rng.uniform(-4, 4)), bool(rng.random() < 0.7)


def check(seed):
    X, y, which, C, fit_intercept = drawn(seed)
    fit = fit_measure(X, y, which, C=C, fit_intercept=fit_intercept, run=Run(tol=1e-3))
    proof = fit.certificates[0]
    assert proof.dual <= proof.primal
    proof.verify(X, y)
    # w = -v/λ and scores X w lose so much of a score to rounding; and J is a sum of numbers of size 1.
    lost = EPS * float(abs(X).max()) ** 2 * X.shape[1] * C * y.size
    if proof.status is Status.STALLED and (lost > 0.01 or proof.gap <= EPS):
        return
    assert proof.relative_gap <= 1e-3, (seed, which, proof.status, proof.primal, proof.dual, len(fit.traces[0]))


@pytest.mark.parametrize("seed", range(FEW))
def test_a_few(seed):
    check(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(FEW, ALL))
def test_all(seed):
    check(seed)

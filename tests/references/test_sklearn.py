"""The bias is free: the solution is that of SVC, and not that of LinearSVC, which pays for its bias."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from minorant import Problem, Status, solve
from minorant.losses import Hinge
from minorant.regularizers import L2


@pytest.fixture
def off_center():
    """Two blobs far from the origin: the plane between them needs a bias that a penalty cannot afford."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 30)
    return rng.standard_normal((60, 2)) + np.outer(y, [1.0, 1.0]) + 12.0, y


def objective(X, y, w, b, C=1.0):
    """scikit-learn's, divided by C Σ weight: ours with λ = 1/(C n)."""
    return (0.5 * float(w @ w) + C * float(np.maximum(0, 1 - y * (X @ w + b)).sum())) / (C * y.size)


def test_free_bias(off_center):
    X, y = off_center
    problem = Problem(Hinge(y), X, L2(1 / y.size))
    result = solve(problem, tol=1e-8, max_iter=400_000)
    assert result.certificate.status is Status.CERTIFIED
    ours = objective(X, y, result.w, result.intercept)
    assert ours == pytest.approx(result.certificate.primal, rel=1e-10)
    exact = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    assert ours == pytest.approx(objective(X, y, exact.coef_[0], exact.intercept_[0]), rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        penalized = LinearSVC(loss="hinge", dual=True, C=1.0, tol=1e-8, max_iter=500_000, random_state=0).fit(X, y)
    assert objective(X, y, penalized.coef_[0], penalized.intercept_[0]) > 2 * ours

"""The support vector machine as a quadratic program, for an interior-point solver that shares nothing with ours."""

from __future__ import annotations

from types import SimpleNamespace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp


def interior_point(X, y, c, lam, bias):
    """min (λ/2)‖w‖² + ⟨c, ξ⟩ over w, b, ξ ≥ 0 with ξ_i ≥ 1 - y_i(⟨x_i, w⟩ + b): the optimal value."""
    n, p = X.shape
    extra = 1 if bias else 0
    Z = sp.csc_matrix(sp.diags(y) @ sp.csr_matrix(X))
    P = sp.block_diag([lam * sp.eye(p), sp.csc_matrix((extra + n, extra + n))], format="csc")
    q = np.concatenate([np.zeros(p + extra), c])
    bias_column = [sp.csc_matrix(-y[:, None])] if bias else []
    empty = [sp.csc_matrix((n, extra))] if bias else []
    A = sp.bmat([[-Z, *bias_column, -sp.eye(n)], [sp.csc_matrix((n, p)), *empty, -sp.eye(n)]], format="csc")
    b = np.concatenate([-np.ones(n), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solution = clarabel.DefaultSolver(
        sp.triu(P, format="csc"), q, A, b, [clarabel.NonnegativeConeT(2 * n)], settings
    ).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved")
    return solution.obj_val


def draw(seed):
    """A problem of its own for each seed: size, density, scale, noise, balance, weights, bias and λ are all drawn."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 201)), int(rng.integers(1, 51))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    center = rng.standard_normal(p) * rng.choice([0.0, 0.3, 1.0])
    X = rng.standard_normal((n, p)) + y[:, None] * center + rng.choice([0.0, 0.0, 2.0])
    if sparse := bool(seed % 2):
        X = sp.csr_matrix(X * (rng.random((n, p)) < rng.uniform(0.05, 0.5)))
    weight = None if seed % 3 else rng.uniform(0.0, 3.0, n) * (rng.random(n) < 0.9) + 1e-3
    return SimpleNamespace(
        X=X, y=y, weight=weight, bias=bool((seed // 2) % 2), lam=float(10 ** rng.uniform(-3, 0)), sparse=sparse
    )


@pytest.fixture(scope="session")
def svm():
    return SimpleNamespace(draw=draw, interior_point=interior_point)

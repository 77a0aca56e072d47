"""Training for a measure of the whole sample, against an interior-point method that has every labeling as a cut."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from minorant import measures
from minorant.errors import InputError
from minorant.linear import Run
from minorant.solvers import bundle
from minorant.whole_sample import fit_measure, ranks

METRICS = [
    ("f1", {}),
    ("fbeta", {"beta": 0.5}),
    ("fbeta", {"beta": 2.0}),
    ("gmean", {}),
    ("balanced_error", {}),
    ("error_rate", {}),
    ("precision_at_k", {"k": 2}),
    ("recall_at_k", {"k": 5}),
    ("prbep", {}),
    ("roc_auc", {}),
]


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, p = 7, 3
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, rng.choice([-1.0, 1.0])])
    return rng.normal(size=(n, p)) + 0.7 * y[:, None] * rng.random(p), y, float(rng.choice([0.03, 0.3, 3.0]))


def cuts(y, which):
    """Every labeling: its loss, and its slopes in the scores."""
    n, positive = y.size, y > 0
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if isinstance(which, measures.ROCArea):
        for swaps in product((0.0, 1.0), repeat=n_pos * n_neg):
            p = np.array(swaps).reshape(n_pos, n_neg) / (n_pos * n_neg)
            g = np.zeros(n)
            g[positive], g[~positive] = -p.sum(axis=1), p.sum(axis=0)
            yield p.sum(), g
        return
    for flips in product((0.0, 1.0), repeat=n):
        z = np.array(flips)
        loss = which.loss(z[positive].sum()[None], z[~positive].sum()[None], n_pos, n_neg)[0]
        if loss > -np.inf:
            yield loss, -2.0 * y * z / n


def optimum(X, y, which, lam, free):
    losses, slopes = (np.array(part) for part in zip(*cuts(y, which), strict=True))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    scores = X @ w + (b if free else 0.0)
    problem = cp.Problem(cp.Minimize(0.5 * lam * cp.sum_squares(w) + cp.max(losses + slopes @ scores)))
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(("line_search", "many"), [(True, 30), (True, 0), (False, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_the_optimum_over_every_labeling(metric, options, fit_intercept, line_search, many, monkeypatch):
    monkeypatch.setattr(bundle, "_MANY", many)  # 0: with averages of labelings from the first cut on
    which = measures.measure(metric, **options)
    for seed in range(3):
        X, y, lam = drawn(seed)
        if metric == "roc_auc":
            X, y = X[:6], y[:6]
        run = Run(tol=1e-7)
        fit = fit_measure(
            X, y, which, C=1 / (lam * y.size), fit_intercept=fit_intercept, line_search=line_search, run=run
        )
        proof = fit.certificates[0]
        best = optimum(X, y, which, lam, fit_intercept and not ranks(which))
        assert proof.relative_gap <= 1e-7
        assert proof.dual <= best + 1e-6
        assert proof.primal == pytest.approx(best, abs=1e-6)
        proof.verify(X, y)


@pytest.mark.parametrize("size", [1e160, 1e308])
@pytest.mark.parametrize("line_search", [True, False])
@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_scores_that_overflow(metric, options, line_search, size):
    X, y, _ = drawn(0)
    with pytest.raises(InputError, match="scale the columns"):
        fit_measure(size * np.clip(X, -1, 1), y, measures.measure(metric, **options), line_search=line_search)

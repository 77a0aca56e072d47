"""Measures as a loss of the framework: the laws of a loss, and the optimum of the bundle by accelerated gradients."""

from __future__ import annotations

import numpy as np
import pytest

from minorant import Problem, solve
from minorant.errors import InputError
from minorant.linear import Run
from minorant.measures import measure
from minorant.regularizers import L2
from minorant.whole_sample import fit_measure
from minorant.whole_sample_loss import WholeSampleLoss

METRICS = [
    ("f1", {}),
    ("fbeta", {"beta": 0.5}),
    ("gmean", {}),
    ("balanced_error", {}),
    ("error_rate", {}),
    ("precision_at_k", {"k": 5}),
    ("recall_at_k", {"k": 14}),
    ("prbep", {}),
    ("roc_auc", {}),
]
LAM = 0.02


def drawn(n=40):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 4 == 0, 1, -1)
    return rng.normal(size=(n, 3)) + 0.8 * y[:, None] * rng.random(3), y


@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_laws(metric, options):
    """Attained, between g* - mu·radius and g*, Fenchel-Young, and the gradient is the maximizer."""
    _, y = drawn()
    loss, rng, h = WholeSampleLoss(y, metric, **options), np.random.default_rng(1), 1e-6
    if metric not in ("precision_at_k", "recall_at_k", "prbep"):  # which exclude labelings
        assert loss.prox(loss.start()) == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(loss.conjugate(loss.start()))
    for mu in (3.0, 0.2, 0.01):
        for _ in range(5):
            u, v, other = (np.append(rng.choice([0.3, 3.0]) * rng.normal(size=y.size), [0.0, 0.0]) for _ in range(3))
            at, exact = loss.smoothed(u, mu), loss.value(u)
            for alpha in (at.alpha, loss.smoothed(other, 0.1).alpha, 0.5 * at.alpha + 0.5 * loss.start()):
                assert float(u @ alpha) - loss.conjugate(alpha) <= exact + 1e-11
                assert float(u @ alpha) - loss.conjugate(alpha) - mu * loss.prox(alpha) <= at.value + 1e-10
                np.testing.assert_allclose(loss.project(alpha), alpha, atol=1e-14)
                assert loss.prox(loss.start()) <= loss.prox(alpha) + 1e-6
            attained = float(u @ at.alpha) - loss.conjugate(at.alpha) - mu * loss.prox(at.alpha)
            assert attained == pytest.approx(at.value, abs=1e-10)
            assert exact - mu * loss.radius - 1e-12 <= at.value <= exact + 1e-12
            rise = (loss.smoothed(u + h * v, mu).value - loss.smoothed(u - h * v, mu).value) / (2 * h)
            assert rise == pytest.approx(float(at.alpha @ v), abs=1e-4)
    assert loss.conjugate(loss.start() + 10.0) == np.inf


@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_accelerated_gradients_reach_the_optimum_of_the_bundle(metric, options):
    X, y = drawn()
    best = fit_measure(
        X, y, measure(metric, **options), C=1 / (LAM * y.size), fit_intercept=False, run=Run(tol=1e-9)
    ).certificates[0]
    result = solve(Problem(WholeSampleLoss(y, metric, **options), X, L2(LAM)), tol=1e-2, max_iter=2000)
    proof = result.certificate
    assert proof.relative_gap <= 1e-2
    assert proof.dual <= best.primal
    assert best.dual <= proof.primal <= best.primal * (1 + 1e-2)


@pytest.mark.parametrize("solver", ["agm-inf", "agm-1"])
def test_every_accelerated_method(solver):
    X, y = drawn()
    problem = Problem(WholeSampleLoss(y), X, L2(LAM))
    assert solve(problem, solver=solver, smoothing="primal", tol=1e-2, max_iter=2000).certificate.relative_gap <= 1e-2


def test_bad_input():
    X, y = drawn()
    with pytest.raises(InputError, match="no positive examples"):
        WholeSampleLoss(-np.ones(4))
    with pytest.raises(InputError, match=r"label 0 is 3\.0"):
        WholeSampleLoss([3, -1, 1])
    with pytest.raises(InputError, match="39 rows"):
        Problem(WholeSampleLoss(y), X[1:], L2(LAM))
    with pytest.raises(InputError, match="vector of labels"):
        WholeSampleLoss(y[:, None])
    with pytest.raises(InputError, match="is for a mean of losses"):
        solve(Problem(WholeSampleLoss(y), X, L2(LAM)), solver="newton")

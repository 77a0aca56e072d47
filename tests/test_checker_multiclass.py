"""The checker of joint models: it agrees with the definitions, is independent, and lets nothing false pass."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import checker_multiclass
from minorant.checker_multiclass import LOSSES, check_multiclass
from minorant.linear import Run
from minorant.multiclass import fit_joint

N, P, K = 30, 3, 3


def data(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % K
    return rng.normal(size=(N, P)) + 0.8 * rng.normal(size=(K, P))[y] + 0.5, y


def objective(loss, penalty, X, y, W, b, lam, r):
    """J from its definition, one example at a time."""
    l1, l2 = np.abs(W).sum(), (W**2).sum() / 2
    total = lam * {"l2": l2, "l1": l1, "elasticnet": r * l1 + (1 - r) * l2}[penalty]
    for x, label in zip(X, y, strict=True):
        s = W @ x + b
        if loss == "multinomial":
            total += -np.log(np.exp(s[label]) / np.exp(s).sum()) / len(y)
        else:
            total += max((z != label) + s[z] - s[label] for z in range(K)) / len(y)
    return total


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("bias", [True, False])
def test_every_pair_is_a_value_and_a_bound_below_all_values(loss, penalty, bias):
    rng = np.random.default_rng(0)
    (X, y), c, lam, r = data(), np.full(N, 1 / N), 0.3, 0.4
    claim = {"loss": loss, "penalty": penalty, "lam": lam, "l1_ratio": r, "fit_intercept": bias}
    lower, values = [], []
    for _ in range(200):
        W = rng.normal(size=(K, P)) * rng.choice([0.1, 1.0])
        b = rng.normal(size=K) * bias
        Q = rng.dirichlet(np.ones(K), size=N) - np.eye(K)[y]
        if bias:  # three labels take turns: each triple gets one row, turned with the label, so that its sums are 0
            Q = np.stack([np.roll(Q[i - i % K], i % K) for i in range(N)])
        alpha = c[:, None] * Q * rng.choice([0.05, 0.4, 1.0])
        verdict = check_multiclass(X, y, W, b, alpha, c, claim)
        assert verdict.problems == [] or penalty == "l1"
        assert verdict.primal == pytest.approx(objective(loss, penalty, X, y, W, b, lam, r), rel=1e-12)
        values.append(verdict.primal)
        lower.append(verdict.dual)
    assert -np.inf < max(lower) <= min(values)
    assert max(lower) != 0.0


def solved(loss="multinomial", bias=True, **options):
    X, y = data()
    fit = fit_joint(X, y, loss=loss, C=0.2, fit_intercept=bias, run=Run(tol=1e-7, max_iter=50_000), **options)
    return X, y, fit.certificates[0]


def check(X, y, certificate, **changes):
    parts = {
        "X": X,
        "y": y,
        "W": certificate.coef,
        "b": certificate.intercept,
        "alpha": certificate.alpha,
        "c": np.full(N, 1 / N),
        "claim": {"loss": "multinomial", "penalty": "l2", "lam": certificate.lam, "fit_intercept": True},
    }
    return check_multiclass(**{**parts, **changes})


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_agrees_with_the_library(storage):
    X, y, certificate = solved()
    verdict = check(storage(X), y, certificate)
    assert verdict.problems == []
    assert verdict.primal == pytest.approx(certificate.primal, rel=1e-12)
    assert verdict.dual == pytest.approx(certificate.dual, rel=1e-12)
    assert -1e-14 <= verdict.relative_gap <= 1e-7 * (1 + 1e-4)


def test_what_is_off_the_sums_is_charged_to_the_bound():
    X, y, certificate = solved()
    alpha = certificate.alpha.copy()
    alpha[0] += [1e-15, -1e-15, 0.0]  # rounding, as far as the checker is concerned
    claim = {"loss": "multinomial", "penalty": "l2", "lam": certificate.lam, "fit_intercept": False}
    for shift in (0.0, 100.0):  # far from the origin the same model has large biases
        b = certificate.intercept - shift * certificate.coef.sum(axis=1)
        verdict = check(X + shift, y, certificate, alpha=alpha, b=b)
        plain = check(X + shift, y, certificate, alpha=alpha, b=np.zeros(K), claim=claim)
        assert verdict.problems == []
        assert verdict.primal == pytest.approx(certificate.primal, rel=1e-12)
        # An honest bound of the biases: the charge covers the largest difference of theirs times the residual.
        assert verdict.rounding[1] - plain.rounding[1] >= np.ptp(b) * 1e-15


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"alpha": np.full((N, K), 1e-3)}, "alpha of row"),
        ({"alpha": np.full((N, K), np.nan)}, "alpha of row"),
        ({"alpha": np.tile([-1 / N, 1 / N, 0.0], (N, 1))}, "off the probabilities"),
        ({"alpha": np.tile([1.0, 0.0, 0.0], (N, 1)) / N - np.eye(K)[np.arange(N) % K] / N}, "free intercepts need 0"),
        ({"c": np.full(N, 2 / N)}, "the weights must"),
        ({"W": np.full((K, P), 1e200)}, "not both finite"),
        ({"b": np.full(K, np.nan)}, "not both finite"),
        ({"claim": {"loss": "multinomial", "penalty": "l2", "lam": 0.1, "fit_intercept": False}}, "without intercepts"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_points_that_prove_nothing(changes, reason):
    X, y, certificate = solved()
    assert reason in "; ".join(check(X, y, certificate, **changes).problems)


def test_it_imports_numpy_and_the_checker_alone():
    names = set()
    for node in ast.walk(ast.parse(Path(checker_multiclass.__file__).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    assert {n for n in names if n.partition(".")[0] not in sys.stdlib_module_names} == {"numpy", "minorant.checker"}

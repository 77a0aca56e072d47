"""The checker: it agrees with the library, is independent of it, and lets nothing false pass."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from minorant import checker
from minorant.linear import Run, fit_classifier, fit_regressor
from minorant.objective import Objective
from minorant.regularizers import ElasticNetBall
from minorant.regularizers.l1 import soft


def draw(seed, n=40, p=5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + 0.6 * y[:, None] + 2.0
    X[rng.random((n, p)) < 0.3] = 0.0
    return X, y


def triplets(X):
    rows, columns = np.nonzero(X)
    return checker.Triplets(rows, columns, X[rows, columns], X.shape)


def check(X, y, fit, **changes):
    certificate = fit.certificates[0]
    n = y.size
    parts = {
        "X": X,
        "y": y,
        "w": certificate.w,
        "b": certificate.intercept,
        "alpha": certificate.alpha,
        "c": np.full(n, 1 / n) if certificate.weights is None else certificate.weights,
        "claim": hinge(fit.lam, changes.pop("free_bias", certificate.objective.fit_intercept)),
    }
    return checker.check_linear(**{**parts, **changes})


def hinge(lam, free_bias):
    return {"loss": "hinge", "penalty": "l2", "lam": lam, "fit_intercept": free_bias}


EPSILON, QUANTILE, RADIUS, GAMMA = 0.2, 0.7, 0.8, 0.6


def objective(loss, penalty, X, y, w, b, lam, r):
    """J from its definition."""
    scores = X @ w + b
    if penalty == "l2":
        omega = lam / 2 * w @ w
    elif penalty == "l1":
        omega = lam * np.abs(w).sum()
    elif penalty == "elasticnet":
        omega = lam * (r * np.abs(w).sum() + (1 - r) / 2 * w @ w)
    else:
        omega = 0.0 if GAMMA * np.abs(w).sum() + w @ w / 2 <= RADIUS else np.inf
    each = {
        "hinge": np.maximum(0, 1 - y * scores),
        "squared_hinge": np.maximum(0, 1 - y * scores) ** 2,
        "smooth_hinge": np.array([0 if z >= 1 else (1 - z) ** 2 / 2 if z >= 0 else 0.5 - z for z in y * scores]),
        "logistic": np.log1p(np.exp(-y * scores)),
        "squared": (scores - y) ** 2,
        "epsilon_insensitive": np.maximum(0, np.abs(scores - y) - EPSILON),
        "quantile": np.where(scores > y, (1 - QUANTILE) * (scores - y), QUANTILE * (y - scores)),
    }[loss]
    return omega + each.mean()


@pytest.mark.parametrize("loss", [*checker.LOSSES, *checker.FAMILIES])
@pytest.mark.parametrize("penalty", list(checker.PENALTIES))
@pytest.mark.parametrize("bias", [True, False])
def test_every_pair_is_a_value_and_a_bound_below_all_values(loss, penalty, bias):
    """Weak duality against random points, and J against its definition; a lost sign or factor breaks one of them."""
    rng = np.random.default_rng(0)
    n, p, lam, r = 12, 3, 0.4, 0.3
    X, c = rng.normal(size=(n, p)), np.full(n, 1 / n)
    targets = loss in checker.TARGETS
    y = rng.normal(size=n) if targets else np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    claim = {"loss": loss, "penalty": penalty, "lam": lam, "l1_ratio": r, "fit_intercept": bias}
    claim |= {"epsilon": EPSILON, "quantile": QUANTILE, "radius": RADIUS, "gamma": GAMMA}
    reach = {"squared": np.inf, "epsilon_insensitive": 1.0, "quantile": 0.3}.get(loss)
    bounds, values = [], []
    for _ in range(300):
        w, b = rng.normal(size=p) * rng.choice([0.1, 1.0]), float(rng.normal()) * bias
        t = rng.normal(size=n) if targets else rng.random(n)
        if bias:  # onto the plane: the mean slope of both directions is the same
            t = t - t.mean() if targets else np.where(y > 0, t, np.roll(t, 1))
        if penalty == "elasticnet_ball":
            w *= min(1.0, 0.5 / np.abs(w).sum())  # inside
        if targets:
            t *= min(1.0, reach / np.abs(t).max())
        alpha = t * c * rng.choice([0.05, 0.5, 1.0])
        verdict = checker.check_linear(X, y, w, b, alpha, c, claim)
        assert verdict.primal == pytest.approx(objective(loss, penalty, X, y, w, b, lam, r), rel=1e-12)
        values.append(verdict.primal)
        bounds.append(verdict.dual)
    assert max(bounds) <= min(values)
    assert max(bounds) > -np.inf
    assert max(bounds) != 0.0


@pytest.mark.parametrize("storage", [np.asarray, csr_array, csr_matrix, triplets])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_agrees_with_the_library(storage, bias, weighted):
    X, y = draw(0)
    weight = np.arange(y.size) % 4 if weighted else None
    fit = fit_classifier(X, y, C=0.1, sample_weight=weight, fit_intercept=bias)
    verdict = check(storage(X), y, fit)
    certificate = fit.certificates[0]
    assert verdict.problems == []
    assert verdict.primal == pytest.approx(certificate.primal, rel=1e-12)
    assert verdict.dual == pytest.approx(certificate.dual, rel=1e-12)
    assert -1e-14 <= verdict.relative_gap <= 1e-3
    assert checker.disagreements(verdict, certificate.primal, certificate.dual) == []


def test_float32_data_are_summed_in_float64():
    X, y = draw(1, n=400)
    small = X.astype(np.float32)
    fit = fit_classifier(small, y, C=0.01)
    certificate = fit.certificates[0]
    for data in (small, csr_array(small)):
        verdict = check(data, y, fit)
        assert verdict.primal == pytest.approx(certificate.primal, rel=1e-12)
        assert verdict.dual == pytest.approx(certificate.dual, rel=1e-12)


def test_the_formulas_on_a_problem_solved_by_hand():
    # x = 2, -2 and lam = 1/2: J = w²/4 + [1 - 2w]_+, least at w = 1/2 with the value 1/16, where alpha = (1/16, 1/16).
    X, y, c = np.array([[2.0], [-2.0]]), np.array([1.0, -1.0]), np.array([0.5, 0.5])
    best = checker.check_linear(X, y, [0.5], 0.0, [1 / 16, 1 / 16], c, hinge(0.5, True))
    assert (best.primal, best.dual, best.problems) == (1 / 16, 1 / 16, [])
    assert 0 < best.gap == sum(best.rounding) <= 1e-12
    worse = checker.check_linear(X, y, [0.25], 0.0, [0.0, 0.0], c, hinge(0.5, True))
    assert (worse.primal, worse.dual) == (1 / 64 + 1 / 2, 0.0)
    assert worse.relative_gap == pytest.approx(1.0, rel=1e-12)


def test_what_is_off_the_plane_is_charged_to_the_bound():
    X, y = draw(2)
    fit = fit_classifier(X, y, C=0.01)
    optimum = fit_classifier(X, y, C=0.01, run=Run(tol=1e-8, smoothing="none")).certificates[0]
    alpha = fit.certificates[0].alpha.copy()
    i = int(np.flatnonzero((alpha > 0) & (alpha < 1 / y.size))[0])
    for change in (1e-15, 1e-6):  # rounding, and more than that
        alpha[i] += change
        verdict, plain = check(X, y, fit, alpha=alpha), check(X, y, fit, alpha=alpha, free_bias=False, b=0.0)
        assert len(verdict.problems) == (change > 1e-12)
        charge = verdict.rounding[1] - plain.rounding[1]
        assert verdict.dual - charge <= optimum.primal
        assert charge >= abs(optimum.intercept) * abs(y @ alpha)  # b* times the residual


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"alpha": np.full(40, -1e-3)}, "alpha of row 1 is"),
        ({"alpha": np.full(40, 1.0)}, "alpha of row 1 is"),
        ({"alpha": np.full(40, 0.01)}, "a free intercept needs 0"),
        ({"c": np.full(40, 1 / 20)}, "the weights must"),
        ({"c": np.r_[-0.5, np.full(39, 1.5 / 39)]}, "the weights must"),
        ({"c": np.full(40, 1e308), "alpha": np.full(40, 1e308)}, "the weights must"),
        ({"c": np.r_[-9.0, np.full(39, 10 / 39)], "w": np.zeros(5)}, "the weights must"),
        ({"free_bias": False, "b": 0.1}, "without intercept"),
        ({"w": np.full(5, 1e200)}, "not both finite"),
        ({"b": float("nan")}, "not both finite"),
    ],
)
def test_points_that_prove_nothing(changes, reason):
    X, y = draw(3)
    verdict = check(X, y, fit_classifier(X, y, C=0.1), **changes)
    assert reason in "; ".join(verdict.problems)


def test_a_value_below_the_bound_is_impossible():
    X, y = draw(4)
    fit = fit_classifier(X, y, C=0.1, fit_intercept=False)
    bias = fit_classifier(X, y, C=0.1)
    # A better model than the class allows: the bias that it claims not to have.
    verdict = check(X, y, fit, w=bias.certificates[0].w, b=bias.certificates[0].intercept)
    assert verdict.primal < verdict.dual
    assert any("this cannot be" in problem for problem in verdict.problems)


def test_claims_are_compared():
    verdict = checker.Verdict(1.0, 0.999, [], (1e-12, 1e-12))
    assert checker.disagreements(verdict, 1.0 + 1.9e-12, 0.999 - 1.9e-12) == []
    assert len(checker.disagreements(verdict, 1.0 - 2.1e-12, 0.999 + 2.1e-12)) == 2
    assert "claimed J" in checker.disagreements(verdict, 1.0 + 1e-6, 0.999)[0]
    assert "claimed lower bound" in checker.disagreements(verdict, 1.0, 0.9991)[0]
    assert len(checker.disagreements(verdict, float("nan"), float("nan"))) == 2


def test_judgment():
    good, wide, false = (
        checker.Verdict(1.0, 0.9999, []),
        checker.Verdict(1.0, 0.5, []),
        checker.Verdict(1.0, 1.0, ["!"]),
    )
    assert checker.judge({"a": good}, 1e-3)[1] == 0
    assert checker.judge({"a": good, "b": wide}, 1e-3)[1] == 3
    assert checker.judge({"a": wide, "b": false, "c": good}, 1e-3)[1] == 2
    assert checker.judge({"a": false, "b": wide}, 1e-3)[1] == 2
    assert checker.judge({"a": checker.Verdict(1.0, float("nan"), [])}, 1e-3)[1] == 3


@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("radius", [1e-4, 1.0, 300.0])
def test_the_support_of_the_ball_is_above_all_its_points_and_attained(radius, gamma):
    rng = np.random.default_rng(0)
    support, ball = checker.PENALTIES["elasticnet_ball"][1], ElasticNetBall(radius, gamma)
    for p in (1, 2, 7):
        v = rng.normal(size=p) * np.exp(3 * rng.normal(size=p))
        bound = support(v, radius, gamma)
        points = [soft(v, t * np.abs(v).max()) for t in rng.random(50)] + list(rng.normal(size=(50, p)))
        for w in points:
            # onto the sphere: gamma·s·a + s²q/2 = radius
            a, q = gamma * np.abs(w).sum(), w @ w
            if q > 0:
                s = 2 * radius / (a + np.sqrt(a * a + 2 * q * radius))
                assert v @ w * s <= bound * (1 + 1e-12)
        assert bound == pytest.approx(v @ ball.maximizer(v), rel=1e-10)
    assert support(np.zeros(3), radius, gamma) == 0.0


def test_a_point_outside_of_the_ball_has_no_value():
    claim = {"loss": "squared", "penalty": "elasticnet_ball", "radius": 1.0, "gamma": 0.5, "fit_intercept": False}
    X, y, c = np.eye(2), np.ones(2), np.full(2, 0.5)
    inside, outside = (checker.check_linear(X, y, [x, 0.0], 0.0, [0.0, 0.0], c, claim) for x in (1.0, 1.01))
    assert (inside.primal, inside.problems) == (0.5, [])
    assert "not both finite" in outside.problems[0]


@pytest.mark.parametrize("loss", checker.TARGETS)
def test_what_is_off_the_plane_is_charged_for_targets_too(loss):
    """Without the charge the bound would be above J: a larger intercept would pay for it."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), 100.0 + rng.normal(size=30)
    what = Objective(loss, "l2", 0.1, epsilon=0.1, quantile=0.3)
    (fitted,) = fit_regressor(X, y, objective=what, run=Run(tol=1e-10)).certificates
    alpha = fitted.alpha.copy()
    alpha[np.argmin(np.abs(alpha))] -= 1e-15
    claim = asdict(what)
    free = checker.check_linear(X, y, fitted.w, fitted.intercept, alpha, np.full(30, 1 / 30), claim)
    plain = checker.check_linear(X, y, fitted.w, 0.0, alpha, np.full(30, 1 / 30), {**claim, "fit_intercept": False})
    assert free.problems == []
    assert free.dual - free.rounding[1] <= fitted.primal
    assert free.rounding[1] - plain.rounding[1] >= abs(fitted.intercept) * abs(math.fsum(alpha))

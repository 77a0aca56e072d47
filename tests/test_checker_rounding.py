"""The checker and rounding: what it allows covers what rounding does, on badly scaled data too, and nothing more."""

from __future__ import annotations

from dataclasses import asdict, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import InputError, LogisticRegression, Status, checker
from minorant.linear import Run, fit_classifier

EXACT = ("hinge", "squared_hinge", "logistic")
SCALES = {"well": (1.0, 0.0), "large": (1e3, 10.0), "small": (1e-3, 10.0), "far": (1.0, 1e4)}


def draw(seed, scale=1.0, shift=0.0, n=24, p=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return scale * (rng.normal(size=(n, p)) + 1.5 * y[:, None] + shift), y


def solved(seed, scale, shift, loss, bias, C=1.0, tol=1e-6):
    X, y = draw(seed, scale, shift)
    return X, y, fit_classifier(X, y, loss=loss, C=C, fit_intercept=bias, run=Run(tol=tol)).certificates[0]


def log1p_exp(m):
    """log(1 + e^m) to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        m = Decimal(m.numerator) / Decimal(m.denominator)
        return Fraction((1 + m.exp()).ln() if m < 0 else m + (1 + (-m).exp()).ln())


def entropy(t):
    """-t log t - (1 - t) log(1 - t) to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        parts = [Decimal(a.numerator) / Decimal(a.denominator) for a in (t, 1 - t)]
        return Fraction(-sum((a * a.ln() for a in parts if a > 0), Decimal(0)))


LOSS = {
    "hinge": lambda m: max(0, 1 - m),
    "squared_hinge": lambda m: max(0, 1 - m) ** 2,
    "logistic": lambda m: log1p_exp(-m),
}
GAIN = {"hinge": lambda t: t, "squared_hinge": lambda t: t - t * t / 4, "logistic": entropy}


def fractions(values):
    return [Fraction(float(v)) for v in values]


def exact_primal(X, y, w, b, certificate):
    """J without any rounding."""
    w, b, c = fractions(w), Fraction(float(b)), Fraction(1.0 / len(y))
    scores = (sum((x * v for x, v in zip(fractions(row), w, strict=True)), b) for row in X)
    loss = LOSS[certificate.objective.loss]
    penalty = Fraction(certificate.lam) / 2 * sum(v * v for v in w)
    return penalty + c * sum(loss(int(label) * s) for s, label in zip(scores, y, strict=True))


def exact_dual(X, y, alpha, certificate):
    """D without any rounding, where the larger direction is made as small as the other one if there is a bias."""
    alpha, c, lam = fractions(alpha), Fraction(1.0 / len(y)), Fraction(certificate.lam)
    if certificate.objective.fit_intercept:
        plus, minus = (sum(a for a, label in zip(alpha, y, strict=True) if label == sign) for sign in (1, -1))
        shrink = {1.0: min(1, minus / plus), -1.0: min(1, plus / minus)}
        alpha = [a * shrink[label] for a, label in zip(alpha, y, strict=True)]
    rows = [fractions(row) for row in X]
    v = [sum(a * int(label) * row[j] for a, label, row in zip(alpha, y, rows, strict=True)) for j in range(X.shape[1])]
    gain = GAIN[certificate.objective.loss]
    return c * sum(gain(a / c) for a in alpha) - sum(a * a for a in v) / (2 * lam)


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e5])
def test_both_sides_are_within_the_rounding_that_is_stated(loss, bias, scale, C):
    """Against exact arithmetic; the gap found is never below the true one, and the lower bound holds with a bias."""
    X, y, certificate = solved(0, *SCALES[scale], loss, bias, C)
    J = exact_primal(X, y, certificate.w, certificate.intercept, certificate)
    D = exact_dual(X, y, certificate.alpha, certificate)
    for data in (X, csr_array(X)):
        verdict = certificate.verify(data, y)
        assert abs(Fraction(verdict.primal) - J) <= verdict.rounding[0]
        assert abs(Fraction(verdict.dual) - D) <= verdict.rounding[1]
        assert 0 <= J - D <= verdict.gap


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("bias", [True, False])
def test_on_well_scaled_data_rounding_is_negligible(loss, bias):
    X, y = draw(1, n=300, p=10)
    (certificate,) = fit_classifier(X, y, loss=loss, C=0.01, fit_intercept=bias).certificates
    verdict = certificate.verify(X, y)
    assert 0 < sum(verdict.rounding) <= 5e-13 * verdict.primal


def test_more_zeros_are_no_more_rounding():
    """What counts is the number of terms, not of columns."""
    X, y, certificate = solved(2, 1.0, 0.0, "hinge", True)
    wide = replace(certificate, w=np.r_[certificate.w, np.zeros(10_000)])
    few = certificate.verify(X, y).rounding
    many = wide.verify(
        csr_array((csr_array(X).data, csr_array(X).indices, csr_array(X).indptr), (24, 10_003)), y
    ).rounding
    assert many[0] <= few[0] + 2e-12 * certificate.primal
    padded = checker.product(checker.Triplets(*np.nonzero(X), X.ravel(), (24, 10_003)), np.ones(10_003))[1]
    assert np.array_equal(padded, checker.product(X, np.ones(3))[1])


def odd(seed):
    """Small data of the kinds that make the terms of a sum much larger than the sum."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, p)) + 10.0 * rng.choice([-1, 0, 1], size=p)
    X *= 10.0 ** rng.uniform(-3, 3, size=p if rng.random() < 0.3 else 1) * (10.0 ** rng.uniform(-1, 2))
    X[rng.integers(0, n, size=n // 4)] = 0.0
    X[rng.integers(0, n, size=n // 4)] = X[0]
    scores = X @ rng.normal(size=p)
    y = np.where(scores > np.quantile(scores, rng.uniform(0.2, 0.8)), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight = rng.exponential(size=n) if rng.random() < 0.4 else None
    return (csr_array(X) if rng.random() < 0.5 else X), y, weight, 10.0 ** rng.uniform(-2, 4)


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("bias", [True, False])
def test_no_certificate_is_refused_for_its_rounding(loss, bias):
    refused = []
    for seed in range(60):
        X, y, weight, C = odd(seed)
        options = {"loss": loss, "C": C, "sample_weight": weight, "fit_intercept": bias}
        (certificate,) = fit_classifier(X, y, **options, run=Run(tol=1e-6, max_iter=300)).certificates
        try:
            verdict = certificate.verify(X, y)
            assert verdict.gap >= 0
        except InputError as error:
            refused.append((seed, str(error)))
    assert refused == []


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_a_claim_off_by_more_than_rounding_is_refused(loss, bias, scale):
    X, y, certificate = solved(3, *SCALES[scale], loss, bias)
    verdict = certificate.verify(X, y)
    for side, found, rounding in zip(("primal", "dual"), (verdict.primal, verdict.dual), verdict.rounding, strict=True):
        for sign in (1, -1):
            replace(certificate, **{side: found + sign * 1.9 * rounding}).verify(X, y)
            with pytest.raises(InputError, match="the claimed"):
                replace(certificate, **{side: found + sign * 2.1 * rounding}).verify(X, y)


def tampered(certificate, what, i, factor):
    if what == "intercept":
        return replace(certificate, intercept=certificate.intercept * factor)
    values = getattr(certificate, what).copy()
    values[i] *= factor
    return replace(certificate, **{what: values})


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("what", "bias"), [("w", True), ("w", False), ("alpha", True), ("alpha", False), ("intercept", True)]
)
def test_a_point_moved_by_more_than_rounding_is_refused(loss, scale, what, bias):
    """By factors 1 - 2^-k, from far below rounding on: what changes the true J or D by more than rounding is caught."""
    X, y, certificate = solved(4, *SCALES[scale], loss, bias, tol=1e-3)
    allowed = 4.0 * certificate.verify(X, y).rounding[what == "alpha"]
    claimed = Fraction(certificate.dual if what == "alpha" else certificate.primal)
    caught = []
    for i in range(3):
        j = int(np.argsort(certificate.alpha)[-1 - i]) if what == "alpha" else i
        for k in range(52, 3, -1):
            moved = tampered(certificate, what, j, 1.0 - 2.0**-k)
            if what == "alpha":
                change = abs(exact_dual(X, y, moved.alpha, moved) - claimed)
            else:
                change = abs(exact_primal(X, y, moved.w, moved.intercept, moved) - claimed)
            if change > allowed:
                with pytest.raises(InputError, match="does not hold"):
                    moved.verify(X, y)
                caught.append(float(change) / allowed)
                break
    assert caught
    assert min(caught) < 3 or (loss, what) == (
        "hinge",
        "intercept",
    )  # tried just above, unless J is flat up to a corner


def test_alpha_off_the_plane_by_more_than_rounding_is_refused():
    X, y, certificate = solved(5, 1e3, 10.0, "hinge", True)
    i = int(np.argmax(certificate.alpha))
    for part, refused in ((2.0**-50, False), (2.0**-40, True)):
        moved = tampered(certificate, "alpha", i, 1.0 - part)
        claim = asdict(certificate.objective)
        verdict = checker.check_linear(X, y, moved.w, moved.intercept, moved.alpha, np.full(24, 1 / 24), claim)
        assert any("a free intercept needs 0" in problem for problem in verdict.problems) == refused


def test_the_gap_says_so_where_rounding_is_larger_than_the_gap_claimed():
    """A claim that is right up to rounding is confirmed, and the gap proved is the one with rounding."""
    X, y, certificate = solved(6, 1.0, 1e6, "squared_hinge", True, tol=1e-9)
    verdict = certificate.verify(X, y)
    assert certificate.relative_gap <= 1e-9 < verdict.relative_gap
    assert checker.judge({"a": verdict}, 1e-2)[1] == 0
    assert checker.judge({"a": verdict}, 1e-9)[1] == 3


@pytest.mark.parametrize("seed", range(6))
def test_a_dual_point_of_a_norm_stays_in_its_ball_on_the_hyperplane(seed):
    """Rounding leads it off the hyperplane of the bias, and the way back out of the ball ‖Aᵀα‖ ≤ λ."""
    rng = np.random.default_rng(seed)
    X = 30 * rng.normal(size=(160, 110)) + 50
    y = X[:, 0] + 20 * rng.normal(size=160) > 50
    model = LogisticRegression(C=10, penalty="l1", tol=1e-5).fit(X, y)
    assert model.certificate_.status is Status.CERTIFIED
    assert model.certificate_.verify(X, y).relative_gap <= 1e-5 * (1 + 1e-6)

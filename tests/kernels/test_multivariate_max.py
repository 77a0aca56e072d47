"""The worst labeling of a whole sample: against all labelings, the twins, shapes of user losses, bad input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from minorant import _core, measures
from minorant.errors import InputError
from minorant.kernels import _numpy, _pairs, multivariate, multivariate_max
from minorant.measures import ContingencyLoss, FBeta, measure

NAMED = [
    ("f1", {}),
    ("fbeta", {"beta": 0.3}),
    ("fbeta", {"beta": 4.0}),
    ("gmean", {}),
    ("error_rate", {}),
    ("balanced_error", {}),
    ("precision_at_k", {"k": 3}),
    ("recall_at_k", {"k": 4}),
    ("prbep", {}),
]
IDS = [name + "".join(f"-{v}" for v in options.values()) for name, options in NAMED]
TWINS = pytest.mark.parametrize("kernels", [_core, _numpy], ids=["native", "numpy"])
STEP = {k: np.array(list(product([0.0, 1.0], repeat=k))) for k in range(1, 13)}


def draw(rng, most=12):
    """Scores, labels of both classes, and weights or None; often with ties, zeros and scores of a hard size."""
    n = int(rng.integers(2, most + 1))
    y = np.where(rng.random(n) < rng.choice([0.2, 0.5, 0.8]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    rng.shuffle(y)
    s = rng.normal(size=n) * 10.0 ** rng.integers(-2, 2) + rng.choice([0.0, 1.0]) * y
    if rng.random() < 0.4:
        s = np.round(s)
    weights = rng.choice([0.0, 0.1, 0.3], n) + 1e-3 if rng.random() < 0.3 else None
    return s, y, weights


def brute(s, y, which, weights):
    """The value of every labeling, Δ + Σ c s (y' - y), with its flips."""
    flips = STEP[y.size]
    c = np.full(y.size, 1.0 / y.size) if weights is None else weights
    b, f = flips @ (y > 0), flips @ (y < 0)
    loss = which.loss(b, f, int((y > 0).sum()), int((y < 0).sum()))
    return loss + flips @ (-2.0 * c * y * s), loss, flips


def check_worst(s, y, which, weights):
    worst = multivariate_max(s, y, which, weights=weights)
    values, loss, flips = brute(s, y, which, weights)
    slack = 1e-12 * (1 + np.abs(s).max())
    assert abs(worst.value - values.max()) <= slack
    at = int(np.flatnonzero((flips == worst.marginals).all(axis=1))[0])
    assert values[at] >= values.max() - slack
    assert worst.loss == pytest.approx(loss[at], abs=1e-14)
    # The value is linear where the labeling stays the worst, so its slope times s is what the labeling adds to Δ.
    assert worst.gradient @ s == pytest.approx(values[at] - loss[at], abs=slack)


@TWINS
@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_no_labeling_is_worse(kernels, name, options, monkeypatch):
    monkeypatch.setattr(multivariate, "_core", kernels)
    rng = np.random.default_rng([1, len(name), int(10 * options.get("beta", 0))])
    for _ in range(250):
        s, y, weights = draw(rng)
        if options.get("k", 0) <= y.size:
            check_worst(s, y, measure(name, **options), weights)


@pytest.mark.campaign
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_no_labeling_is_worse_in_many_draws(name, options):
    rng = np.random.default_rng([2, len(name), int(10 * options.get("beta", 0))])
    for _ in range(2000):
        s, y, weights = draw(rng)
        k = {"k": int(rng.integers(1, y.size + 1))} if "k" in options else options
        check_worst(s, y, measure(name, **k), weights)


def test_of_equal_examples_the_first_are_flipped():
    y = np.array([1.0, -1, -1, -1, -1, -1])
    worst = multivariate_max([5.0, 0, 0, 0, 0, 0], y, "precision_at_k", k=3)
    np.testing.assert_array_equal(worst.marginals, [0, 1, 1, 0, 0, 0])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_the_twins_agree_on_larger_samples(seed, name, options, monkeypatch):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(3000) < rng.choice([0.01, 0.3, 0.9]), 1.0, -1.0)
    s = rng.normal(size=y.size) * rng.choice([0.1, 1.0, 10.0]) + rng.choice([0.0, 2.0]) * y
    native = multivariate_max(s, y, name, **options)
    monkeypatch.setattr(multivariate, "_core", _numpy)
    plain = multivariate_max(s, y, name, **options)
    assert native.value == pytest.approx(plain.value, rel=1e-12)
    if "k" not in options:
        assert native.loss == pytest.approx(plain.loss, abs=1e-12)


USER = {
    "monotone": lambda b, c, p, q: 1 - np.exp(-(2 * b + np.sqrt(c)) / p),
    "concave": lambda b, c, p, q: (b + np.sqrt(c)) / (p + b),
    "submodular": lambda b, c, p, q: 1 - ((p - b) / p) ** 0.7 * ((q - c) / q) ** 0.3,
    "none": lambda b, c, p, q: np.sin(3 * b) + np.cos(5 * c + b),
}


@pytest.mark.parametrize("structure", USER)
def test_losses_of_the_users_own(structure):
    rng = np.random.default_rng(5)
    for _ in range(150):
        s, y, weights = draw(rng)
        check_worst(s, y, ContingencyLoss(USER[structure], structure), weights)


@pytest.mark.parametrize("structure", ["monotone", "concave", "submodular"])
def test_known_structure_saves_reading_the_table(structure):
    rng, read = np.random.default_rng(6), []

    def counted(b, c, p, q):
        read.append(b.size)
        return USER[structure](b, c, p, q)

    y = np.where(rng.random(20_000) < 0.3, 1.0, -1.0)
    s = rng.normal(size=y.size) + 0.5 * y
    worst = multivariate_max(s, y, ContingencyLoss(counted, structure))
    assert sum(read) < 60 * y.size  # of 84 million entries
    fine = multivariate_max(s[:400], y[:400], ContingencyLoss(USER[structure], structure)).value
    assert fine == pytest.approx(
        multivariate_max(s[:400], y[:400], ContingencyLoss(USER[structure], "none")).value, rel=1e-13
    )
    assert worst.value > 0


def test_a_loss_that_falls_is_not_taken_for_monotone():
    with pytest.raises(InputError, match="the loss falls"):
        multivariate_max(np.zeros(40), np.tile([1.0, -1.0], 20), ContingencyLoss(lambda b, c, p, q: 1.0 / (1 + b)))


def pairs(s, y, weights):
    c = np.ones(y.size) if weights is None else weights
    margin = 1.0 - (s[y > 0][:, None] - s[y < 0])
    share = np.outer(c[y > 0], c[y < 0])
    return margin, share / share.sum()


@TWINS
@pytest.mark.parametrize("weighted", [False, True])
def test_roc_area_is_the_hinge_over_pairs(kernels, weighted, monkeypatch):
    monkeypatch.setattr(_pairs, "_core", kernels)
    rng = np.random.default_rng(7)
    for _ in range(200):
        s, y, _ = draw(rng, 40)
        s += rng.choice([0.0, 100.0])
        weights = rng.integers(1, 4, y.size).astype(float) if weighted else None
        margin, share = pairs(s, y, weights)
        worst = multivariate_max(s, y, "roc_auc", weights=weights)
        swapped = margin > 0
        assert worst.value == pytest.approx((share * np.maximum(margin, 0)).sum(), rel=1e-11, abs=1e-12)
        assert worst.loss == pytest.approx((share * swapped).sum(), abs=1e-12)
        slope = np.zeros(y.size)
        slope[y > 0], slope[y < 0] = -(share * swapped).sum(axis=1), (share * swapped).sum(axis=0)
        np.testing.assert_allclose(worst.gradient, slope, atol=1e-13)


@TWINS
@pytest.mark.parametrize("weighted", [False, True])
def test_a_pair_at_its_kink_is_swapped_for_both_or_for_neither(kernels, weighted, monkeypatch):
    monkeypatch.setattr(_pairs, "_core", kernels)
    rng = np.random.default_rng(8)
    for _ in range(300):
        s, y, _ = draw(rng, 12)
        negative = rng.choice(np.flatnonzero(y < 0))
        s[rng.choice(np.flatnonzero(y > 0))] = s[negative] + 1.0 + rng.choice([-1e-16, 0.0, 1e-16])
        margin, share = pairs(s, y, None)
        worst = multivariate_max(s, y, "roc_auc", weights=np.ones(y.size) if weighted else None)
        assert worst.value == pytest.approx((share * np.maximum(margin, 0)).sum(), abs=1e-12)
        assert worst.marginals[y > 0].mean() == pytest.approx(worst.marginals[y < 0].mean(), abs=1e-12)


def test_ranks_of_the_twins():
    rng = np.random.default_rng(9)
    for x in (rng.normal(size=500), np.exp(20 * rng.normal(size=500)), np.full(30, 2.0), rng.integers(0, 9, 80) + 0.0):
        x.sort()
        q = np.concatenate([x, x + 1.0, [-np.inf, np.inf, -1e308, 1e308], rng.normal(size=50)])
        for equal in (False, True):
            np.testing.assert_array_equal(_core.ranks(x, q, equal), _numpy.ranks(x, q, equal))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multivariate_max([1.0, 2.0], [-1, -1]), "no positive examples"),
        (lambda: multivariate_max([1.0, 2.0], [1, 1], "gmean"), "no negative examples"),
        (lambda: multivariate_max([1.0, 2.0], [1, 1], "roc_auc"), "no negative examples"),
        (lambda: multivariate_max([1.0, np.nan], [1, -1]), "score 1 is nan"),
        (lambda: multivariate_max([1.0, np.inf], [1, -1]), "score 1 is inf"),
        (lambda: multivariate_max([1.0, 2.0], [1, 0]), r"label 1 is 0\.0"),
        (lambda: multivariate_max([1.0, 2.0], [1, np.nan]), "label 1 is nan"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "precision_at_k", k=3), "k = 3 is more than the 2 examples"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "recall_at_k", k=0), "k must be a whole number"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "precision_at_k"), "needs k"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "fbeta", beta=0.0), "beta must be positive"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "fbeta", beta=-1.0), "beta must be positive"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "fbeta", beta=np.nan), "beta must be positive"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], "gmeans"), "did you mean 'gmean'"),
        (lambda: multivariate_max([1.0, 2.0], [1], "f1"), "shape of scores"),
        (lambda: multivariate_max([], []), "at least one entry"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], weights=[1.0, -1.0]), "weights must be finite"),
        (lambda: ContingencyLoss(3), "callable"),
        (lambda: ContingencyLoss(USER["none"], "convex"), "unknown structure"),
        (lambda: multivariate_max([1.0, 2.0], [1, -1], ContingencyLoss(lambda b, c, p, q: b * np.nan)), "nan or inf"),
    ],
)
@TWINS
def test_bad_input(kernels, call, message, monkeypatch):
    monkeypatch.setattr(multivariate, "_core", kernels)
    with pytest.raises(InputError, match=message):
        call()


def test_no_negatives_are_fine_where_the_measure_does_not_need_them():
    assert multivariate_max([1.0, -2.0], [1, 1], "f1").value == pytest.approx(1 / 3 + 2.0)


def test_e18_the_loss_is_not_the_score():
    """With the score for Δ the true labeling is the worst at w = 0, where the gradient is then 0."""
    s, y = np.zeros(9), np.array([1.0, -1, 1, -1, -1, -1, 1, -1, -1])
    printed = ContingencyLoss(lambda b, c, p, q: 1.0 - FBeta(1.0).loss(b, c, p, q), "none")
    assert multivariate_max(s, y, printed).value == 1.0
    assert not multivariate_max(s, y, printed).marginals.any()
    assert multivariate_max(s, y, "f1").marginals.any()


def test_measures_agree_with_their_definitions():
    rng = np.random.default_rng(8)
    for _ in range(50):
        p, q = (int(v) for v in rng.integers(1, 30, 2))
        b, c = float(rng.integers(0, p)), float(rng.integers(0, q + 1))
        a, d = p - b, q - c
        precision, recall = a / (a + c), a / p
        beta = float(rng.uniform(0.1, 5))
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert FBeta(beta).loss(b, c, p, q) == pytest.approx(1 - f)
        assert measures.GMean().loss(b, c, p, q) == pytest.approx(1 - np.sqrt(recall * d / q))
        k = int(a + c)
        assert measures.PrecisionAtK(k).loss(b, c, p, q) == pytest.approx(0.0 if b == c == 0 else 1 - precision)
        assert measures.RecallAtK(k).loss(b, c, p, q) == pytest.approx(0.0 if b == c == 0 else 1 - recall)
        assert measures.BalancedError().loss(b, c, p, q) == pytest.approx(1 - (recall + d / q) / 2)

"""MultivariateSVC: what it promises, what it proves, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score, fbeta_score, roc_auc_score

from minorant import InputError, LinearSVC, MultivariateSVC, NotCertified, TrivialSolution, measures
from minorant.solvers import bundle
from minorant.solvers.bundle import Flips, Labelings

METRICS = [
    ("f1", {}),
    ("fbeta", {"beta": 0.3}),
    ("gmean", {}),
    ("balanced_error", {}),
    ("error_rate", {}),
    ("precision_at_k", {"k": 20}),
    ("recall_at_k", {"k": 30}),
    ("prbep", {}),
    ("roc_auc", {}),
]


def drawn(seed=0, n=300, p=6, share=0.15):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, 0)
    return rng.normal(size=(n, p)) + 1.2 * y[:, None] * rng.random(p), y


@pytest.mark.parametrize("many", [0, 30])
@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_the_certificate_is_true(metric, options, many, monkeypatch):
    monkeypatch.setattr(bundle, "_MANY", many)  # 0: with averages of labelings from the first cut on
    for seed in range(3):
        X, y = drawn(seed)
        model = MultivariateSVC(metric, C=1.0, tol=1e-4, **options).fit(sparse.csr_matrix(X), y)
        proof = model.certificate_
        assert proof.relative_gap <= 1e-4
        verdict = proof.verify(X, y)
        assert verdict.relative_gap <= 1e-4
        np.testing.assert_allclose(-proof.alpha @ X / proof.lam, model.dual_coef_[0] @ X, atol=1e-9)
        # no other point is below the lower bound
        rng = np.random.default_rng(seed)
        for size in (0.0, 1e-3, 1e-1):
            other = replace(
                proof, w=proof.w + size * rng.normal(size=6), bias=proof.bias + size * rng.normal() * proof.free
            )
            with pytest.raises(InputError, match="claimed J") if size else pytest.MonkeyPatch.context():
                other.verify(X, y)


def test_a_false_certificate_is_found():
    X, y = drawn()
    proof = MultivariateSVC().fit(X, y).certificate_
    for false in (
        replace(proof, dual=proof.dual + 1e-6),
        replace(proof, primal=proof.primal - 1e-6),
        replace(proof, lam=2 * proof.lam),
        replace(proof, law=Labelings(proof.law.weights * 1.01, proof.law.losses, proof.law.flips)),
        replace(
            proof,
            law=Labelings(proof.law.weights, proof.law.losses, (Flips.pack(0.5 - 0.001 * y), *proof.law.flips[1:])),
        ),
        replace(proof, law=Labelings(proof.law.weights, proof.law.losses, (Flips.pack(1.0 * y), *proof.law.flips[1:]))),
    ):
        with pytest.raises(InputError, match="does not hold"):
            false.verify(X, y)
    with pytest.raises(InputError, match="is for X of shape"):
        proof.verify(X[1:], y[1:])
    with pytest.raises(InputError, match="does not hold"):
        proof.verify(X, 1 - y)


def test_shares_that_no_swaps_have_are_found():
    X, y = drawn(n=60)[0], np.repeat([0, 1], 30)
    proof = MultivariateSVC("roc_auc", C=0.1).fit(X, y).certificate_
    half = np.tile([0.0, 1.0], 30)  # half of the positives with all their pairs, and half of the negatives
    with pytest.raises(InputError, match="no swaps"):
        replace(proof, law=Labelings(np.ones(1), proof.law.losses[:1], (Flips.pack(half),))).verify(X, y)
    with pytest.raises(InputError, match="no swaps"):
        replace(proof, law=Labelings(np.ones(1), proof.law.losses[:1], (Flips.pack(half * y),))).verify(X, y)


def test_error_rate_is_the_svm():
    X, y = drawn()
    ours = MultivariateSVC("error_rate", C=0.5, tol=1e-8).fit(X, y)
    svm = LinearSVC(C=2.0, tol=1e-8).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(svm.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(2 * ours.coef_, svm.coef_, atol=1e-3)


def test_weights_are_copies():
    X, y = drawn(n=60, share=0.4)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, 60)
    for metric in ("f1", "roc_auc"):
        one = MultivariateSVC(metric, tol=1e-8).fit(X, y, sample_weight=weight)
        two = MultivariateSVC(metric, tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-7)
        assert one.certificate_.verify(X, y).relative_gap <= 1e-7
        assert one.score(X, y, sample_weight=weight) == pytest.approx(
            one.score(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        )
    uneven = weight + rng.random(60)
    with pytest.raises(InputError, match="knapsack"):
        one.fit(X, y, sample_weight=uneven)
    with pytest.raises(InputError, match="knapsack"):
        one.score(X, y, sample_weight=uneven)
    with pytest.raises(InputError, match="copies of 60 examples"):
        one.fit(X, y, sample_weight=np.where(y == y[0], 1e-7, 1.0))


def test_weights_may_be_multiples_of_the_smallest():
    X, y = drawn(n=60, share=0.4)
    counts = 1.0 + np.arange(y.size) % 3
    whole = MultivariateSVC("f1", C=0.25, tol=1e-8).fit(X, y, sample_weight=counts)
    parts = MultivariateSVC("f1", C=1.0, tol=1e-8).fit(X, y, sample_weight=0.25 * counts)
    np.testing.assert_allclose(whole.coef_, parts.coef_, rtol=1e-3)
    assert whole.certificate_.primal == pytest.approx(parts.certificate_.primal, rel=1e-7)
    parts.certificate_.verify(X, y)
    assert whole.score(X, y, sample_weight=counts) == parts.score(X, y, sample_weight=0.25 * counts)


def test_score_is_the_measure():
    X, y = drawn()
    model = MultivariateSVC().fit(X, y)
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X)))
    model = MultivariateSVC("fbeta", beta=2.0).fit(X, y)
    assert model.score(X, y) == pytest.approx(fbeta_score(y, model.predict(X), beta=2.0))
    model = MultivariateSVC("roc_auc").fit(X, y)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    model = MultivariateSVC("precision_at_k", k=17).fit(X, y)
    assert model.predict(X).sum() == 17
    assert model.score(X, y) == pytest.approx(y[model.predict(X) == 1].mean())
    model = MultivariateSVC("prbep").fit(X, y)
    assert model.predict(X).sum() == y.sum()
    assert MultivariateSVC("precision_at_k", k=y.size).fit(X, y).predict(X).all()


def test_several_classes_are_averaged():
    X, y = load_iris(return_X_y=True)
    model = MultivariateSVC(C=10.0).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert len(model.certificate_) == 3
    for proof in model.certificate_:
        proof.verify(X, y)
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X), average="macro"))
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_certificate_is_of_what_is_returned(dtype):
    X, y = drawn()
    model = MultivariateSVC(tol=1e-4).fit(X.astype(dtype), y)
    assert model.coef_.dtype == dtype
    assert model.certificate_.verify(X.astype(dtype), y).relative_gap <= 1e-4


def test_a_warm_start_is_the_start():
    X, y = drawn()
    model = MultivariateSVC(tol=1e-6, warm_start=True).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= first
    assert model.trace_[0].primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert model.trace_[0].primal < MultivariateSVC().fit(X, y).trace_[0].primal


def test_nothing_to_learn_is_said():
    X, y = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 2, axis=0), np.tile([0, 1], 30)
    with pytest.warns(TrivialSolution, match="w = 0 is the best model"):
        model = MultivariateSVC().fit(X, y)
    assert model.trivial_
    assert model.certificate_.verify(X, y).relative_gap <= 1e-3
    assert not MultivariateSVC().fit(*drawn()).trivial_


def test_an_unfinished_fit_warns_and_is_still_proved():
    X, y = drawn()
    with pytest.warns(NotCertified, match="max_iter"):
        model = MultivariateSVC(max_iter=3, tol=1e-9).fit(X, y)
    model.certificate_.verify(X, y)


def test_a_loss_of_your_own():
    X, y = drawn(n=80)
    own = measures.ContingencyLoss(lambda b, c, n_pos, n_neg: (b + c) / (2.0 * n_pos - b + c))
    ours, named = MultivariateSVC(own, tol=1e-6).fit(X, y), MultivariateSVC("f1", tol=1e-6).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(named.certificate_.primal, rel=2e-6)
    assert ours.certificate_.verify(X, y).relative_gap <= 1e-6
    excluded = measures.ContingencyLoss(lambda b, c, n_pos, n_neg: np.where(b == n_pos, -np.inf, b + c), "none")
    with pytest.raises(InputError, match="fit_intercept=False"):
        MultivariateSVC(excluded).fit(X, y)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metric": "f2"}, "measure"),
        ({"metric": "fbeta", "beta": 0.0}, "beta must be positive"),
        ({"metric": "precision_at_k"}, "needs k"),
        ({"metric": "precision_at_k", "k": 301}, "more than the 300 examples"),
        ({"metric": "recall_at_k", "k": 0}, "at least 1"),
        ({"C": -1.0}, "'C' parameter"),
    ],
)
def test_bad_parameters(options, match):
    with pytest.raises(ValueError, match=match):
        MultivariateSVC(**options).fit(*drawn())


def test_bad_data():
    X, y = drawn()
    with pytest.raises(InputError, match="only one class"):
        MultivariateSVC().fit(X, np.zeros(300))
    with pytest.raises(InputError, match="only one class"):
        MultivariateSVC().fit(X, y, sample_weight=1 - y)
    with pytest.raises(InputError, match="NaN"):
        MultivariateSVC().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="continuous"):
        MultivariateSVC().fit(X, X[:, 0])

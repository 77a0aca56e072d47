"""The start from a part of the sample: what it saves, what it counts, and when there is none."""

from time import perf_counter

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import whole_sample
from minorant.linear import Run
from minorant.measures import BreakEven, FBeta, GMean
from minorant.operators import Counting, as_linear_map
from minorant.solvers.bundle import Bundle, WholeSample
from minorant.solvers.sampled_start import sampled_start
from minorant.whole_sample import fit_measure


def draw(n=4000, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    return rng.normal(size=(n, 8)) + 0.6 * y[:, None] * rng.random(8), y


def problem(X, y, which=None, index=None):
    return WholeSample(Counting(as_linear_map(X, 1)), y, which or FBeta(), 1e-3, True, index)


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, csr_array])
@pytest.mark.parametrize("which", [FBeta(), GMean()], ids=str)
def test_it_is_better_than_nothing(form, which):
    X, y = draw()
    whole = problem(form(X), y, which)
    w, b = sampled_start(whole, 100, None)
    began = Bundle(whole, start=(w, b))
    optimum = fit_measure(X, y, which, C=1 / (1e-3 * y.size), run=Run(tol=1e-4)).certificates[0].primal
    assert began.primal - optimum < 0.5 * (began.trivial - optimum)
    assert 0 < whole.partial < 5  # passes over a sixteenth of the rows


def test_repeated_rows_are_those_of_the_copies():
    X, y = draw()
    index = np.repeat(np.arange(y.size), 2)
    w, b = sampled_start(problem(X, y, index=index), 100, None)
    again, b_again = sampled_start(problem(X[index], y[index]), 100, None)
    np.testing.assert_allclose(w, again, rtol=1e-9)
    assert b == pytest.approx(b_again, rel=1e-9)


def test_none_where_a_class_is_small_or_examples_are_counted():
    X, y = draw()
    assert sampled_start(problem(X, y, BreakEven()), 100, None) is None
    y[:] = -1.0
    y[:1000] = 1.0
    assert sampled_start(problem(X, y), 100, None) is None  # 63 of a sixteenth


def test_limits_hold():
    X, y = draw()
    w, _ = sampled_start(problem(X, y), 1, None)
    late, _ = sampled_start(problem(X, y), 100, perf_counter() - 1.0)
    assert not w.any()  # nothing but the first bound
    assert not late.any()
    fit = fit_measure(X, y, FBeta(), C=1.0, run=Run(tol=1e-12, max_iter=3))
    assert fit.n_iter[0] == 3


def test_the_start_is_proven_like_any_other(monkeypatch):
    X, y = draw()
    proofs = []
    for start in (whole_sample.sampled_start, lambda *_: None, lambda *_: (np.full(8, 1e3), 5.0)):
        monkeypatch.setattr(whole_sample, "sampled_start", start)
        proof = fit_measure(X, y, FBeta(), C=1 / (1e-3 * y.size), run=Run(tol=1e-6)).certificates[0]
        proof.verify(X, y)
        proofs.append(proof)
    for proof in proofs[1:]:
        assert proof.primal == pytest.approx(proofs[0].primal, rel=2e-6)
        assert proof.relative_gap <= 1e-6

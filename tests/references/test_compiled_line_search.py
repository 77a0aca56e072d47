"""The compiled line search over labelings takes the steps of the one in Python, which is the method as it reads."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant import kernels
from minorant.measures import FBeta, GMean
from minorant.operators import Counting, as_linear_map
from minorant.solvers import bundle as module
from minorant.solvers.bundle import Bundle, WholeSample
from minorant.solvers.line_search import CompiledLineSearch, LineSearch

pytestmark = pytest.mark.skipif(not kernels.native, reason="there is nothing compiled")
MEASURES = pytest.mark.parametrize("which", [FBeta(), FBeta(0.5), FBeta(2.0), GMean()], ids=str)


def draw(which, *, free=True, sparse=False, ties=False, repeated=False, lam=0.01, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, 1.0, -1.0)
    X = rng.normal(size=(n, 6)) + 0.5 * y[:, None] * rng.random(6)
    if ties:
        X = np.round(X)
    index = np.repeat(np.arange(n), rng.integers(0, 3, size=n)) if repeated else None
    A = Counting(as_linear_map(csr_array(X) if sparse else X, 1))
    return WholeSample(A, y, which, lam, free, index)


def run(problem, search, monkeypatch, steps=25, many=30):
    monkeypatch.setattr(module, "line_search_of", search)
    monkeypatch.setattr(module, "_MANY", many)
    return list(islice(Bundle(problem).steps(), steps))


@MEASURES
@pytest.mark.parametrize(
    "options",
    [{}, {"free": False}, {"sparse": True}, {"ties": True}, {"repeated": True}, {"lam": 1e-4, "sparse": True}],
    ids=str,
)
@pytest.mark.parametrize("many", [2, 1000], ids=["averages", "labelings"])
def test_the_same_steps(which, options, many, monkeypatch):
    fast = run(draw(which, **options), CompiledLineSearch, monkeypatch, many=many)
    slow = run(draw(which, **options), LineSearch, monkeypatch, many=many)
    for mine, other in zip(fast, slow, strict=True):
        if other.primal - other.dual < 1e-3:  # trials are where lines meet: rounding may choose between labelings
            break
        np.testing.assert_allclose(mine, other, rtol=1e-9)


def same(search, mine, other):
    """Labelings, their lines, and what changed from one to the next."""
    n = search.order.size
    np.testing.assert_allclose(
        [mine.t, mine.value, mine.loss, mine.slope], [other.t, other.value, other.loss, other.slope],
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    assert (mine.b, mine.c, mine.whole, mine.rising) == (other.b, other.c, other.whole, other.rising)
    restored = np.empty(n)
    restored[search.order] = mine.flips.unpack(n)
    np.testing.assert_array_equal(restored, other.flips.unpack(n))
    order = np.argsort(mine.rows)
    np.testing.assert_array_equal(mine.rows[order], other.rows)
    np.testing.assert_allclose(mine.change[order], other.change, rtol=1e-12)


@MEASURES
@pytest.mark.parametrize("ties", [False, True])
def test_the_same_trials(which, ties):
    """Also where none is flipped, or nothing changes."""
    problem = draw(which, ties=ties)
    n = problem.y.size
    rng = np.random.default_rng(1)
    fast, slow = CompiledLineSearch(problem), LineSearch(problem)
    most = 1 if ties else 6  # the second may be where two labelings are equally bad
    for step in range(12):
        scores, target = rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-2, 1)
        if ties:
            scores, target = np.round(scores, 1), np.round(target, 1)
        if step % 3 == 2:
            scores = target = 100.0 * problem.y
        q = (*rng.normal(size=2).tolist(), float(rng.random()))
        assert fast.stand(scores) == pytest.approx(slow.stand(scores), rel=1e-12, abs=1e-12)
        if step % 2:
            same(fast, fast.here(), slow.here())
        arguments = target, float(rng.normal()), q, float(rng.random()), q[0] + 3.0, 1e-3, most
        (trials, best), (others, other_best) = fast.along(*arguments), slow.along(*arguments)
        assert (len(trials), best) == (len(others), other_best)
        for mine, other in zip(trials, others, strict=True):
            same(fast, mine, other)
        if best < most:
            fast.take()
            slow.take()
        shares = rng.random(n)
        z = np.empty(n)
        z[fast.order] = fast.nearest(shares[fast.order], 2.0, trials[-1].b, trials[-1].c)
        np.testing.assert_allclose(z, slow.nearest(shares, 2.0, trials[-1].b, trials[-1].c), rtol=0, atol=1e-9)

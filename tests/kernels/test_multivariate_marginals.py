"""The entropic law of labelings: against all labelings, against the recursion in long double, several modes, bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from minorant import _core
from minorant.errors import InputError
from minorant.kernels import _numpy, _smoothing, multivariate, multivariate_marginals, smoothed_multivariate
from minorant.kernels import multivariate_max as exact_max
from minorant.measures import ContingencyLoss, FBeta, GMean, measure

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
STEP = {k: np.array(list(product([0.0, 1.0], repeat=k))) for k in range(1, 13)}


@pytest.fixture(params=[_core, _numpy], ids=["native", "numpy"])
def kernels(request, monkeypatch):
    for module in (multivariate, smoothed_multivariate, _smoothing):
        monkeypatch.setattr(module, "_core", request.param)
    return request.param


def draw(rng, n):
    """Scores, labels of both classes, weights or None, and mu."""
    y = np.where(rng.random(n) < rng.choice([0.05, 0.3, 0.7]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    rng.shuffle(y)
    s = rng.normal(size=n) * 10.0 ** rng.uniform(-1.5, 1) + rng.choice([0.0, 0.7]) * y
    if rng.random() < 0.3:
        s = np.round(s)
    weights = rng.choice([1e-3, 1.0, 3.0], n) / n if rng.random() < 0.3 else None
    return s, y, weights, float(10.0 ** rng.uniform(-2.5, 0.7))


def by_brute_force(s, y, weights, mu, which):
    flips, T = STEP[y.size], mu / y.size
    c = np.full(y.size, 1.0 / y.size) if weights is None else weights
    loss = which.loss(flips @ (y > 0), flips @ (y < 0), int((y > 0).sum()), int((y < 0).sum()))
    energy = (loss + flips @ (-2.0 * c * y * s)) / T
    p = np.exp(energy - energy.max())
    value = T * (energy.max() + np.log(p.sum())) - mu * np.log(2.0)
    p /= p.sum()
    return value, float(p @ np.where(p > 0, loss, 0.0)), p @ flips


def by_recursion(s, y, weights, mu, which):
    """The recursion over the examples in long double logarithms; also the law of b."""
    Q = np.longdouble
    T = Q(mu) / y.size
    c = np.full(y.size, Q(1) / y.size) if weights is None else weights.astype(Q)
    t = -2 * c * y * s.astype(Q) / T
    forward = []
    for sign in (1, -1):
        rows = [np.zeros(1, Q)]
        for x in t[y == sign]:
            end = np.array([-np.inf], Q)
            rows.append(np.logaddexp(np.append(rows[-1], end), np.append(end, rows[-1] + x)))
        forward.append(rows)
    up, down = forward[0][-1], forward[1][-1]
    b, f = np.meshgrid(np.arange(up.size, dtype=Q), np.arange(down.size, dtype=Q), indexing="ij")
    loss = which.loss(b, f, up.size - 1, down.size - 1)
    joint = loss / T + up[:, None] + down
    top = joint.max()
    P = np.exp(joint - top)
    log_mass = top + np.log(P.sum())
    P /= P.sum()
    flips = np.empty(y.size)
    with np.errstate(divide="ignore"):
        etas = np.log(P.sum(axis=1)) - up, np.log(P.sum(axis=0)) - down
    for sign, rows, eta in zip((1, -1), forward, etas, strict=True):
        index, weight = np.flatnonzero(y == sign), eta
        for k in range(index.size - 1, -1, -1):
            flipped = t[index[k]] + weight[1:]
            flips[index[k]] = np.exp(rows[k] + flipped).sum()
            weight = np.logaddexp(weight[:-1], flipped)
    value = float(T * log_mass - Q(mu) * np.log(Q(2)))
    return value, float((P * np.where(P > 0, loss, 0)).sum()), flips, np.asarray(P.sum(axis=1), float)


def errors(got, truth, n, mu):
    """Of the value in units of the bound, of the loss, of the marginals."""
    value, loss, flips = truth[:3]
    return max(abs(got.value - value) * n / mu, abs(got.loss - loss), float(np.abs(got.marginals - flips).max()))


@pytest.mark.parametrize("method", ["tree", "recursion"])
@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_all_labelings(kernels, name, options, method):
    rng = np.random.default_rng([1, len(name)])
    for _ in range(40 if kernels is _core else 8):
        s, y, weights, mu = draw(rng, int(rng.integers(options.get("k", 2), 13)))
        which = measure(name, **options)
        got = multivariate_marginals(s, y, which, mu=mu, weights=weights, method=method)
        assert errors(got, by_brute_force(s, y, weights, mu, which), y.size, mu) <= max(1e-9, got.bound)
        assert got.bound <= 1e-11
        exact = exact_max(s, y, which, weights=weights).value
        assert exact - mu * np.log(2.0) - 1e-9 <= got.value <= exact + 1e-9


@pytest.mark.campaign
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_all_labelings_of_many_draws(name, options):
    rng = np.random.default_rng([2, len(name)])
    for _ in range(2000):
        s, y, weights, mu = draw(rng, int(rng.integers(2, 13)))
        k = {"k": int(rng.integers(1, y.size + 1))} if "k" in options else options
        which = measure(name, **k)
        got = multivariate_marginals(s, y, which, mu=mu, weights=weights, method="tree")
        assert errors(got, by_brute_force(s, y, weights, mu, which), y.size, mu) <= max(1e-9, got.bound)


@pytest.mark.parametrize(("name", "options"), NAMED, ids=IDS)
def test_long_double_recursion(name, options):
    rng = np.random.default_rng([3, len(name)])
    for _ in range(6):
        s, y, weights, mu = draw(rng, int(rng.integers(80, 400)))
        which = measure(name, **options)
        got = multivariate_marginals(s, y, which, mu=mu, weights=weights, method="tree")
        assert errors(got, by_recursion(s, y, weights, mu, which), y.size, mu) <= max(1e-9, got.bound)
        assert got.bound <= 1e-11


def bimodal(rng, n, which, mu):
    """Scores with two modes of about the same mass: between few and many missed positives, by bisection in a shift."""
    y = np.where(np.arange(n) < max(2, int(rng.choice([0.1, 0.3, 0.6]) * n)), 1.0, -1.0)
    noise = rng.normal(size=n) * np.where(y > 0, 10.0 ** rng.uniform(-3, -1), rng.choice([0.05, 0.5, 2.0]))

    def missed(shift):
        got = multivariate_marginals(noise + shift * y, y, which, mu=mu, method="recursion" if n < 400 else "tree")
        return float(got.marginals[y > 0].mean())

    low, high = -5.0, 5.0  # missed falls with the shift
    for _ in range(22):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if missed(middle) > 0.5 else (low, middle)
    return noise + 0.5 * (low + high) * y, y


def modes(law):
    """The number of separate ranges of b that hold 1e-3 of the mass or more each, with next to nothing between."""
    alive = np.flatnonzero(law > 1e-9 * law.max())
    parts = np.split(alive, np.flatnonzero(np.diff(alive) > 1) + 1)
    return sum(law[part].sum() > 1e-3 for part in parts)


@pytest.mark.parametrize("which", [FBeta(1.0), FBeta(2.5), GMean()], ids=["f1", "f2.5", "gmean"])
def test_several_modes(which):
    rng, seen = np.random.default_rng(4), 0
    for _ in range(4):
        n, mu = int(rng.integers(130, 200)), float(10.0 ** rng.uniform(-2, -0.5))
        s, y = bimodal(rng, n, which, mu)
        truth = by_recursion(s, y, None, mu, which)
        seen += modes(truth[3]) > 1
        got = multivariate_marginals(s, y, which, mu=mu, method="tree")
        assert errors(got, truth, n, mu) <= max(1e-9, got.bound)
        assert got.bound <= 1e-11
    assert seen >= 1


@pytest.mark.parametrize("trim", [1e-20, 1e-120])
@pytest.mark.parametrize("tiles", [1, 40])
def test_the_bound_is_a_bound(trim, tiles, monkeypatch):
    """Also where the search is stopped after one tile, which misses a mode."""
    monkeypatch.setattr(_smoothing, "_TILES", tiles)
    rng, missed = np.random.default_rng(5), 0
    for _ in range(4):
        n, mu = int(rng.integers(130, 200)), float(10.0 ** rng.uniform(-2, -0.5))
        s, y = bimodal(rng, n, FBeta(1.0), mu)
        got = multivariate_marginals(s, y, "f1", mu=mu, trim=trim, method="tree")
        error = errors(got, by_recursion(s, y, None, mu, FBeta(1.0)), n, mu)
        assert error <= max(1e-9, got.bound)
        missed += error > 1e-3
    assert tiles > 1 or missed > 0


@pytest.mark.campaign
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("seed", range(30))
def test_long_double_recursion_of_thousands(seed):
    """Half of the draws have two modes; trims from coarse to fine."""
    rng = np.random.default_rng([6, seed])
    which = [FBeta(1.0), FBeta(0.4), FBeta(3.0), GMean()][seed % 4]
    for _ in range(4):
        s, y, weights, mu = draw(rng, int(rng.integers(500, 4001)))
        if rng.random() < 0.5:
            mu, weights = float(10.0 ** rng.uniform(-2, 0)), None
            s, y = bimodal(rng, y.size, which, mu)
        truth = by_recursion(s, y, weights, mu, which)
        for trim in (1e-20, 1e-60, 1e-120):
            got = multivariate_marginals(s, y, which, mu=mu, weights=weights, trim=trim, method="tree")
            assert errors(got, truth, y.size, mu) <= max(1e-9, got.bound)


def test_tree_is_the_law_of_coins(kernels):
    rng = np.random.default_rng(7)
    for size in (1, 2, 63, 64, 65, 300):
        logits = rng.normal(size=size) * rng.choice([0.1, 3.0, 100.0, 1000.0])
        tree = kernels.PoissonTree(logits, 1e-120)
        heads = 1.0 / (1.0 + np.exp(-np.clip(logits, -700, 700)))
        law, without = np.ones(1), []
        for p in heads:
            law = np.convolve(law, [1 - p, p])
        window = slice(tree.first, tree.first + tree.law.size)
        np.testing.assert_allclose(tree.law, law[window], atol=1e-15)
        assert law[: window.start].sum() + law[window.stop :].sum() <= tree.dropped + 1e-18
        assert tree.log_partition == pytest.approx(np.logaddexp(0, logits).sum(), rel=1e-14)
        r = np.zeros(size + 1)
        r[window] = rng.random(tree.law.size)
        for i in range(min(size, 20)):
            rest = np.ones(1)
            for p in np.delete(heads, i):
                rest = np.convolve(rest, [1 - p, p])
            without.append(heads[i] * (rest @ r[1:]))
        np.testing.assert_allclose(tree.marginals(r[window])[:20], without, atol=1e-14)


def test_what_the_tree_drops_is_counted(kernels):
    rng = np.random.default_rng(12)
    for trim in (1e-3, 1e-8):
        logits = rng.normal(size=500) * 4.0
        coarse, fine = kernels.PoissonTree(logits, trim), kernels.PoissonTree(logits, 1e-120)
        law = np.zeros(502)
        law[fine.first : fine.first + fine.law.size] = fine.law
        window = slice(coarse.first, coarse.first + coarse.law.size)
        assert trim / 10 < 1.0 - coarse.law.sum() <= coarse.dropped + 1e-14
        assert (coarse.law <= law[window] * (1 + 1e-12)).all()
        lost = 1.0 / (1.0 + np.exp(-logits)) - coarse.marginals(np.ones(coarse.law.size))
        assert -1e-14 <= lost.min() <= lost.max() <= coarse.dropped + 1e-14


def test_what_the_trees_drop_is_in_the_bound():
    """With a trim so coarse that it shows; the public function does not allow it."""
    rng, shown = np.random.default_rng(13), 0
    for _ in range(5):
        s, y, _, mu = draw(rng, 300)
        T, which = mu / y.size, FBeta(1.0)
        t = -2.0 * y * s / mu
        pos, neg = t[y > 0], t[y < 0]
        law = _smoothing.table_law(which, (pos, neg), (np.sort(pos), np.sort(neg)), 1.0 / T, 1e-6, (0, 0))
        truth = by_recursion(s, y, None, mu, which)
        error = max(np.abs(law.pos - truth[2][y > 0]).max(), np.abs(law.neg - truth[2][y < 0]).max())
        assert max(error, abs(law.loss - truth[1])) <= law.missing + 1e-10
        shown += error > 1e-8
    assert shown > 0


def test_twins_of_the_coupling_agree():
    rng = np.random.default_rng(8)
    p, q = rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(50))
    covered = np.array([5.0, 12.0, 100.0, 120.0])
    sides = (p, 3.0, 15.0, 2.0, q, 90.0, 110.0, -0.4, covered)
    for args in (("couple_f", 4.0, 100.0, 200.0, 300.0), ("couple_gmean", 100.0, 200.0, 300.0)):
        a, b = (getattr(k, args[0])(*args[1:], *sides) for k in (_core, _numpy))
        np.testing.assert_allclose(a[0], b[0], rtol=1e-12)
        np.testing.assert_allclose(a[1], b[1], rtol=1e-11)
        np.testing.assert_allclose(a[2], b[2], rtol=1e-11)


def test_the_gradient_is_that_of_the_value():
    rng = np.random.default_rng(9)
    for name, options in (*NAMED, ("roc_auc", {})):
        s, y, _, _ = draw(rng, 150)
        v, h = rng.normal(size=150), 1e-5
        at = [multivariate_marginals(s + step * v, y, name, mu=0.8, **options) for step in (-h, 0.0, h)]
        assert (at[2].value - at[0].value) / (2 * h) == pytest.approx(at[1].gradient @ v, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_area_has_a_square_for_each_pair(weighted):
    rng = np.random.default_rng(10)
    for _ in range(50):
        s, y, _, mu = draw(rng, 60)
        weights = rng.integers(1, 4, 60).astype(float) if weighted else None
        c = np.ones(60) if weights is None else weights
        share = np.outer(c[y > 0], c[y < 0]) / (c[y > 0].sum() * c[y < 0].sum())
        margin = 1.0 - (s[y > 0][:, None] - s[y < 0])
        p = np.clip(margin / mu, 0.0, 1.0)
        got = multivariate_marginals(s, y, "roc_auc", mu=mu, weights=weights)
        assert got.value == pytest.approx((share * (p * margin - 0.5 * mu * p * p)).sum(), rel=1e-9, abs=1e-11)
        assert got.loss == pytest.approx((share * p).sum(), abs=1e-10)
        slope = np.zeros(60)
        slope[y > 0], slope[y < 0] = -(share * p).sum(axis=1), (share * p).sum(axis=0)
        np.testing.assert_allclose(got.gradient, slope, atol=1e-11)


def test_a_loss_of_the_users_own():
    rng, own = np.random.default_rng(11), ContingencyLoss(FBeta(1.5).loss)
    s, y, weights, mu = draw(rng, 200)
    a = multivariate_marginals(s, y, own, mu=mu, weights=weights)
    b = multivariate_marginals(s, y, FBeta(1.5), mu=mu, weights=weights, method="tree")
    assert a.value == pytest.approx(b.value, abs=1e-10)
    np.testing.assert_allclose(a.marginals, b.marginals, atol=1e-8)


def test_e29_energies_do_not_overflow():
    rng = np.random.default_rng(14)
    s, y, _, _ = draw(rng, 60)
    s, mu = s / np.abs(s).max(), 1e-3
    with np.errstate(over="ignore"):
        assert not np.isfinite(np.exp(np.abs(s) / mu)).all()
    got = multivariate_marginals(s, y, "f1", mu=mu, method="recursion")
    assert errors(got, by_recursion(s, y, None, mu, FBeta(1.0)), y.size, mu) <= 1e-8
    assert exact_max(s, y, "f1").value - mu * np.log(2.0) <= got.value <= exact_max(s, y, "f1").value


def test_one_class_alone():
    got = multivariate_marginals([0.3, -0.2, 0.1], [1, 1, 1], "f1", mu=0.5, method="tree")
    truth = by_brute_force(np.array([0.3, -0.2, 0.1]), np.ones(3), None, 0.5, FBeta(1.0))
    assert errors(got, truth, 3, 0.5) <= 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mu": 0.0}, "mu must be positive"),
        ({"mu": np.nan}, "mu must be positive"),
        ({"mu": 1.0, "trim": 0.0}, "trim must be"),
        ({"mu": 1.0, "method": "fft"}, "unknown method"),
        ({"mu": 1.0, "metric": "fbeta", "beta": 0.0}, "beta must be positive"),
        ({"mu": 1.0, "metric": "precision_at_k", "k": 4}, "k = 4 is more than the 3 examples"),
        ({"mu": 1.0, "scores": [1.0, np.nan, 2.0]}, "score 1 is nan"),
        ({"mu": 1.0, "y": [0, 1, 1]}, "label 0 is 0"),
        ({"mu": 1.0, "y": [-1, -1, -1]}, "no positive examples"),
        ({"mu": 1.0, "metric": ContingencyLoss(FBeta(1.0).loss), "method": "tree"}, "has no other method"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        multivariate_marginals(**{"scores": [1.0, 2.0, 3.0], "y": [1, -1, 1], **options})

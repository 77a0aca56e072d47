"""The optimized prox-function: weights t of d(α) = ½ Σ t_i α_i²/c_i that make the smoothed loss flatter.

L(t)/L(1) = (Σ c_i t_i) λ_max(Σ (c_i/t_i) a_i a_iᵀ) / λ_max(Σ c_i a_i a_iᵀ) is computed here by a dense solver.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import InputError, Problem, Status, solve
from minorant.kernels import project_box_plane
from minorant.losses import Hinge
from minorant.prox_weights import choose_prox_weights
from minorant.regularizers import L2
from minorant.views import PrimalView


def instances():
    rng = np.random.default_rng(0)
    block = rng.standard_normal((20, 3))
    return {
        "gauss": rng.standard_normal((60, 5)),
        "square": rng.standard_normal((30, 30)),
        "skewed": rng.standard_normal((60, 5)) * np.exp(1.5 * rng.standard_normal((60, 1))),
        "rank-one": np.outer(rng.standard_normal(60), rng.standard_normal(5)) + 0.05 * rng.standard_normal((60, 5)),
        "blocks": np.kron(np.diag([1.0, 0.9]), block),
        "sparse": rng.standard_normal((60, 20)) * (rng.random((60, 20)) < 0.1),
    }


INSTANCES = instances()
TRIANGLE = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])  # three unit vectors at 120 degrees


def objective(X, t, c):
    """(Σ c t) λ_max(Σ (c/t) a aᵀ); infinite where an example with features has t = 0."""
    used = np.abs(X).sum(axis=1) > 0
    if (t[used] < 1e-12).any():
        return np.inf
    return float(c @ t) * float(np.linalg.eigvalsh((X[used] * (c[used] / t[used])[:, None]).T @ X[used])[-1])


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_computed_constant_drops(name, weighted):
    X = INSTANCES[name]
    n = X.shape[0]
    sample_weight = np.random.default_rng(1).uniform(0.2, 3.0, n) if weighted else None
    c = np.full(n, 1 / n) if sample_weight is None else sample_weight / sample_weight.sum()
    found = choose_prox_weights(X, sample_weight=sample_weight, rounds=60)
    isotropic = objective(X, np.ones(n), c)
    true = objective(X, found.weights, c) / isotropic
    assert true == pytest.approx(found.ratios[found.chosen], rel=1e-4)
    assert true < 0.85
    assert set(found.ratios) == {"one", "norms", "eigenvector", "frank-wolfe"}
    assert found.ratios[found.chosen] == min(found.ratios.values())
    assert float(c @ found.weights) == pytest.approx(1.0)
    assert found.lower * (1 - 1e-4) <= true <= 1.03 * found.lower


def test_more_rounds_close_the_gap():
    """Frank–Wolfe has a lower bound to meet: with enough rounds they agree."""
    found = choose_prox_weights(INSTANCES["gauss"], rounds=300)
    assert found.ratios["frank-wolfe"] <= 1.003 * found.lower
    assert "frank-wolfe" not in choose_prox_weights(INSTANCES["gauss"], rounds=0).ratios


def test_no_gain_leaves_the_smoothing_alone():
    for X in (TRIANGLE, np.eye(4), np.zeros((3, 2)), 1e-200 * TRIANGLE, 1e-100 * TRIANGLE, np.ones((5, 1))):
        found = choose_prox_weights(X)
        assert found.chosen == "one"
        np.testing.assert_array_equal(found.weights, np.ones(X.shape[0]))


def test_scale_and_storage_do_not_matter():
    X = INSTANCES["sparse"]
    found = choose_prox_weights(X)
    for same in (1e90 * X, 1e-90 * X, sp.csr_matrix(X)):
        np.testing.assert_allclose(choose_prox_weights(same).weights, found.weights, rtol=1e-6)
    one = np.array([[3.0], [1.0], [-0.5]])  # a single column: t = |x| is best, and L is the square of their mean
    assert choose_prox_weights(one).ratios["norms"] == pytest.approx(one.size * 1.5**2 / np.sum(one**2))


def test_rows_without_features():
    X = np.vstack([np.zeros((5, 5)), INSTANCES["skewed"]])
    found = choose_prox_weights(X)
    assert (found.weights > 0).all()
    true = objective(X, found.weights, np.full(65, 1 / 65)) / objective(X, np.ones(65), np.full(65, 1 / 65))
    assert true < 0.2
    assert found.lower * (1 - 1e-4) <= true


@pytest.mark.parametrize("options", [{"rounds": -1}, {"floor": 0.0}, {"floor": 1.5}])
def test_bad_options(options):
    with pytest.raises(InputError, match="0 < floor"):
        choose_prox_weights(TRIANGLE, **options)


@pytest.mark.parametrize(
    ("t", "says"),
    [(np.ones(3), r"shape \(4,\); got \(3,\)"), ([1, 1, 0, 1], "positive"), ([1, 1, np.nan, 1], "finite")],
)
def test_bad_weights(t, says):
    with pytest.raises(InputError, match=says):
        Hinge([1, 1, -1, -1], prox_weights=t)


@pytest.mark.parametrize("bias", [False, True])
def test_weights_of_one_are_no_weights(bias):
    rng = np.random.default_rng(2)
    y = np.where(rng.random(30) < 0.4, 1.0, -1.0)
    sample_weight = rng.integers(0, 3, 30)
    plain = Hinge(y, bias=bias, sample_weight=sample_weight)
    same = Hinge(y, bias=bias, sample_weight=sample_weight, prox_weights=np.ones(30))
    assert same.radius == pytest.approx(plain.radius)
    for mu in (1e-6, 0.1, 3.0):
        u = rng.standard_normal(30)
        a, b = plain.smoothed(u, mu), same.smoothed(u, mu)
        assert a.value == pytest.approx(b.value, rel=1e-9)
        np.testing.assert_allclose(a.alpha, b.alpha, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
def test_radius_bounds_the_prox_function(bias):
    """Exactly attained without bias; with it, a bound no drawn vertex of Q exceeds, and some come close to."""
    rng = np.random.default_rng(3)
    y, t = np.repeat([1.0, -1.0], [8, 14]), rng.uniform(0.2, 4.0, 22)
    loss = Hinge(y, bias=bias, prox_weights=t)
    if not bias:
        assert loss.radius == pytest.approx(loss.prox(loss.c))
        return
    vertices = [project_box_plane(9 * rng.standard_normal(22), 0.0, loss.c, y).x for _ in range(300)]
    greedy = np.r_[loss.c[:8], np.where(np.argsort(np.argsort(-t[8:])) < 8, loss.c[8:], 0.0)]
    assert max(map(loss.prox, vertices)) <= loss.radius * (1 + 1e-12)
    assert loss.radius == pytest.approx(loss.prox(greedy))


@pytest.mark.parametrize("smoothing", ["primal", "dual", "decreasing", "none"])
@pytest.mark.parametrize("bias", [False, True])
def test_solve_is_still_certified(smoothing, bias):
    X = INSTANCES["skewed"]
    y = np.where(X[:, 0] + 0.3 * np.random.default_rng(4).standard_normal(60) > 0, 1.0, -1.0)
    found = choose_prox_weights(X)
    r = solve(Problem(Hinge(y, bias=bias, prox_weights=found.weights), X, L2(0.1)), tol=1e-4, smoothing=smoothing)
    assert r.certificate.status is Status.CERTIFIED
    plain = Problem(Hinge(y, bias=bias), X, L2(0.1))
    assert plain.primal(r.w) == pytest.approx(r.certificate.primal, rel=1e-12)  # the problem is the same
    assert plain.dual(r.certificate.alpha) == pytest.approx(r.certificate.dual, rel=1e-9)


def test_the_view_has_the_smaller_constant():
    """At mu = eps/D the proven L of the primal view falls with the weights."""
    X, y, eps = INSTANCES["skewed"], np.resize([1.0, -1.0], 60), 1e-2
    plain, uneven = (
        Problem(Hinge(y, bias=False, prox_weights=t), X, L2(0.1)) for t in (None, choose_prox_weights(X).weights)
    )
    L = [PrimalView(p, eps / p.loss.radius).lipschitz for p in (plain, uneven)]
    assert L[1] < 0.3 * L[0]


def test_e35_the_gradient_at_the_cap_carries_c():
    """Printed: a_i where u_i = c. True: c a_i."""
    rng = np.random.default_rng(5)
    X, t, mu, h = rng.standard_normal((12, 3)), rng.uniform(0.3, 2.0, 12), 0.4, 1e-6
    loss = Hinge(np.resize([1.0, -1.0], 12), bias=False, prox_weights=t)
    A = loss.signs[:, None] * X
    w = rng.standard_normal(3)
    alpha = loss.smoothed(A @ w, mu).alpha
    at_cap = alpha == loss.c
    assert at_cap.any()
    assert ((alpha > 0) & ~at_cap).any()
    slope = [
        (loss.smoothed(A @ (w + h * e), mu).value - loss.smoothed(A @ (w - h * e), mu).value) / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(slope, A.T @ alpha, atol=1e-8)
    printed = A.T @ np.where(at_cap, 1.0, alpha)
    assert np.abs(printed - slope).max() > 0.1


def test_e36_the_minimum_and_the_maximum_do_not_swap():
    """Three unit vectors at 120 degrees: min over b of the max over v is 4.5, the max of the min is 4."""
    angles = np.linspace(0, np.pi, 3001)
    v = np.stack([np.cos(angles), np.sin(angles)])
    swapped = np.abs(TRIANGLE @ v).sum(axis=0).max() ** 2  # by Cauchy–Schwarz, the min over b at each v
    assert swapped == pytest.approx(4.0, abs=1e-6)
    rng, c = np.random.default_rng(6), np.ones(3)
    assert objective(TRIANGLE, np.ones(3), c) == pytest.approx(4.5)
    assert min(objective(TRIANGLE, t, c) for t in rng.uniform(0.1, 3.0, (4000, 3))) >= 4.5 - 1e-12
    # The dual over V ⪰ 0, tr V = 1 has no gap: V = I/2.
    assert np.sqrt(0.5 * (TRIANGLE**2).sum(axis=1)).sum() ** 2 == pytest.approx(4.5)
    assert choose_prox_weights(TRIANGLE).lower == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "least"), [("gauss", 2.0), ("square", 5.0), ("blocks", np.inf), ("sparse", 5.0)])
def test_e37_the_printed_weights_make_it_worse(name, least):
    """Printed: b_i² = |a_iᵀv*| with the top eigenvector v* reduces L. On most data it makes L many times larger."""
    X = INSTANCES[name]
    c = np.full(X.shape[0], 1 / X.shape[0])
    v = np.linalg.eigh(X.T @ X)[1][:, -1]
    ratio = objective(X, np.abs(X @ v), c) / objective(X, np.ones(c.size), c)
    assert ratio >= least

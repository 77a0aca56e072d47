"""Smoothing and the Lipschitz bounds for losses of several scores per example, and for the largest score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import logsumexp

from minorant import Problem, solve
from minorant.errors import InputError
from minorant.geometry import Entropy as EntropyGeometry
from minorant.losses import CrammerSinger, Maximum, MultinomialLogistic
from minorant.losses.biases import balance, best_biases, nearest_with_sums, project_with_sums, simplex_rows
from minorant.regularizers import L2, Entropy
from minorant.views import DualView, PrimalView

N, K, P = 12, 3, 4
Y = np.array([0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 2, 2])
WEIGHT = np.linspace(0.2, 2.0, N)

LOSSES = {
    "multinomial": lambda: MultinomialLogistic(Y, bias=False),
    "multinomial-bias": lambda: MultinomialLogistic(Y, sample_weight=WEIGHT),
    "crammer-singer": lambda: CrammerSinger(Y, sample_weight=WEIGHT),
    "crammer-singer-euclidean": lambda: CrammerSinger(Y, smoothing="euclidean"),
    "crammer-singer-bias": lambda: CrammerSinger(Y, smoothing="euclidean", bias=True),
    "maximum": lambda: Maximum(N),
}


@pytest.fixture(params=list(LOSSES))
def loss(request):
    return LOSSES[request.param]()


@pytest.mark.parametrize("mu", [1e-3, 0.3, 4.0])
def test_sandwich(loss, mu):
    """g* - mu D ≤ g*_mu ≤ g* for every u: the prox-function is centered, and D is its maximum (ERRATUM 21)."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        u = rng.standard_normal(loss.size) * rng.choice([0.01, 1.0, 10.0])
        value, smoothed = loss.value(u), loss.smoothed(u, mu).value
        assert value - mu * loss.radius - 1e-12 <= smoothed <= value + 1e-12


def test_radius_is_attained(loss):
    """The greatest d is that of a vertex of Q: all weight on one label, or on one example."""
    if isinstance(loss, Maximum):
        assert loss.prox(np.eye(N)[3]) == pytest.approx(loss.radius, rel=1e-14)
    elif getattr(loss, "smoothing", "entropy") == "entropy":
        assert loss.prox(np.zeros(loss.size)) == pytest.approx(loss.radius, rel=1e-13)
    else:
        order = np.argsort(Y)
        away = np.empty_like(Y)
        away[order] = np.roll(Y[order], np.bincount(Y).max())  # as often as in Y, and nowhere the same
        other = np.eye(K)[away] - np.eye(K)[Y]
        assert loss.prox((loss.c[:, None] * other).ravel()) == pytest.approx(loss.radius, rel=1e-14)


def test_e21_uncentered_entropy_lies_above():
    """The printed mu log Σ exp(u/mu) exceeds max u; less mu log t it does not."""
    rng, mu = np.random.default_rng(1), 0.5
    for _ in range(20):
        u = rng.standard_normal(N)
        printed = mu * logsumexp(u / mu)
        assert printed > Maximum(N).value(u)
        assert Maximum(N).smoothed(u, mu).value == pytest.approx(printed - mu * np.log(N), rel=1e-13)


@pytest.mark.parametrize("mu", [0.0, 0.2])
@pytest.mark.parametrize("view", [PrimalView, DualView])
def test_gradient_is_lipschitz(loss, mu, view):
    """f(x) - f(u) - ⟨∇f(u), x - u⟩ ≤ (L/2)‖x - u‖² with the proven L."""
    if view is PrimalView and mu + loss.curvature == 0:
        mu = 0.05  # a loss that is not smooth needs some
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, P)) + 1.0
    boosting = isinstance(loss, Maximum)
    problem = Problem(loss, X, Entropy(0.3) if boosting else L2(0.3), geometry=EntropyGeometry() if boosting else None)
    seen, tight = view(problem, mu), 0.0
    for _ in range(200):
        if view is DualView:
            x, u = (loss.smoothed(5 * rng.standard_normal(loss.size), 0.1).alpha for _ in range(2))
        elif boosting:
            x, u = rng.dirichlet(np.ones(P), 2)
        else:
            x, u = 0.3 * rng.standard_normal((2, problem.A.shape[1]))
            # Two columns against each other, along the top singular vector: the worst direction.
            top = np.linalg.svd(np.sqrt(loss.c)[:, None] * X)[2][0]
            x = u + 1e-3 * np.outer(top, [1.0, -1.0, 0.0]).ravel() if rng.random() < 0.5 else x
        here, there = seen.point(u), seen.point(x)
        at_u = seen.lower(here)[1]
        bound = 0.5 * seen.lipschitz * seen.geometry.norm(x - u) ** 2
        divergence = seen.divergence(there, here, at_u)
        assert divergence <= bound * (1 + 1e-12)
        tight = max(tight, divergence / bound)
    assert tight > 0.005  # the bound is not vacuous


def test_biases_balance_the_classes():
    """Σ c_i softmax((v_i + b)/T) = target to rounding, also where almost every softmax is a vertex."""
    rng = np.random.default_rng(3)
    for seed in range(200):
        n, k = int(rng.integers(2, 30)), int(rng.integers(2, 6))
        V = rng.standard_normal((n, k)) * 10.0 ** rng.uniform(-2, 2)
        c, target = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(k))
        b = balance(V, c, target, 1.0 + rng.choice([0.0, 3.0]), 5 * rng.standard_normal(k))
        for T in (1.0, 4.0):
            b = balance(V, c, target, T, b)
            E = np.exp((V + b - (V + b).max(axis=1, keepdims=True)) / T)
            assert np.abs(c @ (E / E.sum(axis=1, keepdims=True)) - target).max() <= 1e-12, seed
            assert abs(b.mean()) <= 1e-10 * (1 + np.abs(b).max())


def test_projection_with_both_sums():
    """Feasible, and no feasible direction leads closer: ⟨X - Y, Z - Y⟩ ≤ 0 for every other feasible Z."""
    rng = np.random.default_rng(4)
    for seed in range(200):
        n, k = int(rng.integers(2, 30)), int(rng.integers(2, 6))
        c, others = rng.dirichlet(np.ones(n)), [rng.dirichlet(np.full(k, 0.3), n) for _ in range(5)]
        target = c @ others[0]
        feasible = [project_with_sums(c[:, None] * Q, c, target) for Q in others]
        X = c[:, None] * others[1] + 10.0 ** rng.uniform(-6, 0) * rng.standard_normal((n, k))
        near = project_with_sums(X, c, target)
        for Z in [*feasible, near]:
            assert Z.min() >= 0
            assert np.abs(Z.sum(axis=1) - c).max() <= 1e-14, seed
            assert np.abs(Z.sum(axis=0) - target).max() <= 1e-12, seed
            assert ((X - near) * (Z - near)).sum() <= 1e-12 * (1 + np.abs(X).max()), seed


def transport(seed):
    """Scores, weights, and the frequencies of labels that each class has."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 40)), int(rng.integers(2, 6))
    V = rng.standard_normal((n, k)) * 10.0 ** rng.uniform(-2, 2)
    if seed % 3 == 0:
        V = np.round(V)  # ties: the best b are many
    E = np.eye(k)[np.r_[np.arange(k), rng.integers(0, k, n - k)]]
    c = rng.dirichlet(np.ones(n))
    return V, c, c @ E, E


def test_best_biases_are_those_of_a_linear_program():
    """min over b, t of ⟨c, t⟩ - ⟨target, b⟩ with t_i ≥ v_iy + b_y, by HiGHS."""
    for seed in range(60):
        V, c, target, E = transport(seed)
        n, k = V.shape
        rows = np.hstack([-np.kron(np.eye(n), np.ones((k, 1))), np.tile(np.eye(k), (n, 1))])
        lowest = linprog(np.r_[c, -target], A_ub=rows, b_ub=-V.ravel(), bounds=(None, None)).fun
        P, b = best_biases(V, c, target, E, np.zeros(k))
        scale = 1e-13 * (1 + np.abs(V).max())
        assert c @ (V + b).max(axis=1) - target @ b == pytest.approx(lowest, abs=1e-8 * (1 + np.abs(V).max())), seed
        assert c @ (V + b).max(axis=1) - target @ b - c @ (V * P).sum(axis=1) <= scale, seed  # weak duality: the least
        assert np.abs(c @ P - target).max() <= 1e-12, seed
    same = np.ones((3, 2)), np.full(3, 1 / 3), np.array([1 / 3, 2 / 3]), np.eye(2)[[0, 1, 1]]
    assert (best_biases(*same, np.array([1.0, -1.0]))[1] == 0).all()


@pytest.mark.parametrize("mu", [1e-9, 1e-4, 1.0])
def test_smoothed_biases_balance_the_classes(mu):
    """Σ c_i P_i = target to rounding, from any start, for a P_i that is the nearest to center + (v_i + b)/mu."""
    rng = np.random.default_rng(6)
    for seed in range(60):
        V, c, target, E = transport(seed)
        P, b = nearest_with_sums(V, c, target, mu, E, rng.choice([0.0, 5.0]) * rng.standard_normal(target.size))
        assert np.abs(c @ P - target).max() <= 1e-13, seed
        R = (V + b) - (V + b).max(axis=1, keepdims=True)
        rounding = 1e-14 * (np.abs(V).max() + np.abs(b).max()) / mu
        assert np.abs(simplex_rows(E + R / mu) - P).max() <= rounding + 1e-13, seed


def test_simplex_rows():
    """KKT: P = [v - τ]_+ with Σ P = the mass; scores of 1e12 do not spoil the sum."""
    rng = np.random.default_rng(5)
    for scale in (1e-3, 1.0, 1e12):
        V, mass = scale * rng.standard_normal((50, 4)), rng.uniform(0.1, 3.0, 50)
        Q = simplex_rows(V, mass)
        assert np.abs(Q.sum(axis=1) - mass).max() <= 4e-15
        for v, q in zip(V, Q, strict=True):
            tau = (v - q)[q > 0]
            assert np.ptp(tau) <= 1e-15 * max(scale, 1.0) * 4
            assert (v[q == 0] <= tau.max() + 1e-15 * scale).all()


@pytest.mark.parametrize("make", [MultinomialLogistic, CrammerSinger])
def test_bad_labels(make):
    for y in ([0, 1, -1], [0.5, 1.0], [0.0, np.nan], [[0, 1]], ["a", "b"], []):
        with pytest.raises(InputError, match="labels 0, 1"):
            make(y)
    with pytest.raises(InputError, match="n_classes of at least 3"):
        make([0, 1, 2], 2)
    with pytest.raises(InputError, match="3 rows, but the loss has 2 examples"):
        Problem(make([0, 1]), np.ones((3, 1)), L2(1.0))


def test_options_that_are_refused():
    with pytest.raises(InputError, match="class 1 of 3 has none"):
        MultinomialLogistic([0, 2, 2])
    assert MultinomialLogistic([0, 2, 2], bias=False).k == 3
    with pytest.raises(InputError, match="class 1 of 3 has none"):
        CrammerSinger([0, 2, 2], smoothing="euclidean", bias=True)
    with pytest.raises(InputError, match="smoothing='euclidean'"):
        CrammerSinger([0, 1], bias=True)
    with pytest.raises(InputError, match="did you mean 'entropy'"):
        CrammerSinger([0, 1], smoothing="entropi")
    with pytest.raises(InputError, match="at least one score"):
        Maximum(0)


def test_a_maximum_is_never_shrunk():
    """Q does not contain 0. Where Ω* is infinite at the start there is no bound, and a sentence says so."""

    class Ball(L2):
        def conjugate(self, v):
            return 0.0 if np.abs(v).max() <= self.lam else np.inf

        def dual_scale(self, v):
            return self.lam / np.abs(v).max()

    loss = Maximum(3)
    assert loss.scale(loss.start(), 0.1) == 1.0
    with pytest.raises(InputError, match="no finite duality gap at the start"):
        solve(Problem(loss, np.full((3, 2), 7.0), Ball(0.5)))


def test_a_maximum_of_one_score_is_linear():
    result = solve(Problem(Maximum(1), np.array([[2.0, -1.0]]), L2(1.0)), tol=1e-8)
    assert result.certificate.primal == pytest.approx(-2.5, rel=1e-8)

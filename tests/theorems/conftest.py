"""The drawn problems of the theorems, and what an accelerated method did on each.

A `Run` is a view with the states of one method on it. The settings cover λ₁ and λ₂ zero and positive, quadratic and
entropic d, bounded and unbounded domains, the primal and the dual view. Fixtures hand them out; nothing is imported
from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from minorant import Problem
from minorant.geometry import Entropy, Euclidean, WeightedEuclidean
from minorant.losses import Hinge, Smoothed
from minorant.minorants import Point
from minorant.regularizers import L2, Regularizer
from minorant.regularizers import Entropy as KL
from minorant.solvers import AgmInf, AgmOne, State
from minorant.views import Candidates, DualView, PrimalView, View

ITERATIONS = 80
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Box(Regularizer):
    """The indicator of [-radius, radius]^p: convex, not strongly."""

    radius: float
    geometries = (Euclidean,)

    def value(self, x):
        return 0.0 if np.abs(x).max() <= self.radius * (1 + 1e-12) else np.inf

    def conjugate(self, v):
        return self.radius * float(np.abs(v).sum())

    def maximizer(self, v):
        return self.radius * np.sign(v)

    def argmin(self, s, t, geometry, weight=1.0):
        x = np.clip(-s / t, -self.radius, self.radius)
        return x, x

    def strong_convexity(self, geometry):
        return 0.0

    def start(self, size):
        return np.zeros(size)


class Quadratic(View):
    """f(x) = ½‖K x - b‖² with λ₁ = λ_min(KᵀK), plus a regularizer, in the Euclidean geometry."""

    mu = 0.0

    def __init__(self, K, b, regularizer, lam1=None):
        self.K, self.b, self.psi, self.geometry = K, b, regularizer, Euclidean()
        spectrum = np.linalg.eigvalsh(K.T @ K)
        self.lam1 = float(spectrum[0]) * (1 - 1e-12) if lam1 is None else lam1
        self.lipschitz = float(spectrum[-1]) * (1 + 1e-12)
        self.lam2 = regularizer.strong_convexity(self.geometry)

    def start(self):
        return self.psi.start(self.K.shape[1])

    def point(self, x, mirror=None):
        return Point(x, self.K @ x, mirror)

    def oracle(self, image):
        r = image - self.b
        return Smoothed(0.5 * float(r @ r), r)

    def slope(self, witness):
        return self.K.T @ witness

    def divergence(self, x, u, at_u):
        r = x.image - u.image
        return 0.5 * float(r @ r)

    def candidates(self, x, minorants):
        return Candidates((), ())


def draw(n=40, p=6, seed=0, weights=False):
    """Two overlapping clouds: scores of both signs, examples on both sides of the margin."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3.0, p) + 0.7 * y[:, None]
    return X, y, rng.uniform(0.1, 3.0, n) if weights else None


def _primal(regularizer, geometry, mu, *, bias=False, weights=False, seed=0):
    X, y, weight = draw(seed=seed, weights=weights)
    return PrimalView(Problem(Hinge(y, sample_weight=weight, bias=bias), X, regularizer, geometry=geometry), mu)


def _dual(mu, *, bias=False, weights=False, seed=0, lam=0.05, regularizer=None, geometry=None):
    X, y, weight = draw(seed=seed, weights=weights)
    loss = Hinge(y, sample_weight=weight, bias=bias)
    return DualView(Problem(loss, X, regularizer or L2(lam), geometry=geometry), mu)


def _quadratic(regularizer, seed=7):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((12, 6)) * np.geomspace(0.3, 2.0, 6)
    return Quadratic(K, 3.0 * rng.standard_normal(12), regularizer)


_B = np.geomspace(0.2, 5.0, 6)
_PRIOR = np.array([0.4, 0.1, 0.2, 0.05, 0.15, 0.1])

SETTINGS = {
    "ridge": lambda: _primal(L2(0.05), Euclidean(), 0.3),
    "ridge-bias-weights": lambda: _primal(L2(0.4), Euclidean(), 0.05, bias=True, weights=True, seed=1),
    "ridge-weighted-geometry": lambda: _primal(L2(0.3), WeightedEuclidean(_B), 0.2, bias=True, seed=2),
    "simplex": lambda: _primal(KL(0.0), Entropy(), 0.1, seed=3),
    "kl-bias": lambda: _primal(KL(0.2, _PRIOR), Entropy(), 0.1, bias=True, seed=4),
    "box": lambda: _primal(Box(0.3), Euclidean(), 0.1, weights=True, seed=5),
    "dual": lambda: _dual(0.0, seed=6),
    "dual-bias-mu": lambda: _dual(0.2, bias=True, weights=True, seed=7),
    "dual-kl-mu": lambda: _dual(0.3, seed=8, regularizer=KL(0.3, _PRIOR), geometry=Entropy()),
    "quadratic-box": lambda: _quadratic(Box(0.6)),
    "quadratic-ridge": lambda: _quadratic(L2(0.5)),
}
MEMORIES = {"inf": AgmInf, "1": AgmOne}


@dataclass(frozen=True)
class Run:
    """A view and the states of one method on it, the start first."""

    view: View
    states: tuple[State, ...]
    memory: str

    @property
    def lam(self):
        return self.view.lam1 + self.view.lam2

    @property
    def steps(self):
        """(k, state) for k = 1, 2, ..."""
        return tuple(enumerate(self.states))[1:]

    @property
    def scale(self):
        return 1.0 + abs(self.values[0])

    def objective(self, x):
        """J(x) = f(K x) + Ψ(x), from x alone."""
        return self.view.oracle(self.view.point(x).image).value + self.view.psi.value(x)

    @cached_property
    def values(self):
        """J(x_k) for k = 1, 2, ..."""
        return [self.objective(s.x.x) for s in self.states[1:]]

    def divergence(self, x, y: Point):
        return self.view.geometry.divergence(x, y.x, y.mirror)

    @cached_property
    def model_minima(self):
        """q_k*, the minimum of the k-th estimate function, for k = 1, 2, ..."""
        if self.memory == "inf":
            return [s.rho * self.divergence(s.z.x, s.start) + s.minorant(s.z.x) for s in self.states[1:]]
        first = self.states[1]
        minima = [first.rho * self.divergence(first.z.x, first.start) + first.lower(first.z.x)]
        for old, new in zip(self.states[1:], self.states[2:], strict=False):
            kept = minima[-1] + (old.rho + self.lam) * self.divergence(new.z.x, old.z)
            minima.append((1 - new.theta) * kept + new.theta * new.lower(new.z.x))
        return minima

    @property
    def minimizer(self):
        return minimizer(self.view)

    def feasible(self, count, seed=0):
        """Random points of the domain of Ψ."""
        return feasible(self.view, count, seed)


@cache
def minimizer(view):
    """A minimizer of J, proved by the gap to the minimum of the minorant of its own linearizations."""
    method, state = AgmInf(), None
    state = method.init(view, view.point(view.start()))
    best, value, floor = None, np.inf, -np.inf
    for k in range(6000):
        state = method.step(view, state)
        if k % 20 == 0:
            J = view.oracle(state.x.image).value + view.psi.value(state.x.x)
            if value > J:
                best, value = state.x.x, J
            floor = max([floor, *(lower_bound(view, m) for m in state.minorants)])
            if value - floor <= 1e-13 * (1 + abs(value)):
                break
    assert value - floor <= 1e-6 * (1 + abs(value)), "the setting is too hard for a reference"
    return best


def lower_bound(view, m):
    """The minimum over the domain of b + ⟨s, x⟩ + Ψ(x), the affine part of a minorant with λ₁ = 0."""
    if view.lam1:
        x, _ = view.psi.argmin(m.s, m.c, view.geometry, m.omega)
        return m(x)
    if isinstance(view, DualView):
        loss = view.problem.loss
        return m.b - (loss.smoothed(-m.s, view.mu).value if view.mu else loss.value(-m.s))
    return m.b - view.psi.conjugate(-m.s)


def feasible(view, count, seed=0):
    rng = np.random.default_rng(seed)
    size = view.start().size
    if isinstance(view, DualView):
        loss = view.problem.loss
        return [loss.project(loss.c * rng.uniform(-0.5, 1.5, size)) for _ in range(count)]
    if isinstance(view.psi, KL):
        return list(rng.dirichlet(np.full(size, 0.5), count))
    spread = view.psi.radius if isinstance(view.psi, Box) else 2.0
    return list(rng.uniform(-spread, spread, (count, size)))


def trajectory(view, method, iterations=ITERATIONS, L=None, start=None):
    state = method.init(view, view.point(view.start() if start is None else start), L)
    states = [state]
    for _ in range(iterations):
        state = method.step(view, state)
        states.append(state)
    return tuple(states)


@cache
def _view(name):
    return SETTINGS[name]()


@cache
def _run(name, memory, adaptive):
    view = _view(name)
    return Run(view, trajectory(view, MEMORIES[memory](adaptive=adaptive)), memory)


def _parameters(adaptive, names=tuple(SETTINGS)):
    return [
        pytest.param((name, memory, a), id=f"{name}-{memory}-{'adaptive' if a else 'fixed'}")
        for name in names
        for memory in MEMORIES
        for a in adaptive
    ]


@pytest.fixture(params=_parameters((False, True)))
def run(request):
    """Every setting with both memories, fixed and adaptive L."""
    return _run(*request.param)


@pytest.fixture(params=_parameters((False,)))
def fixed_run(request):
    """Every setting with both memories, fixed L."""
    return _run(*request.param)


@pytest.fixture(params=_parameters((False, True), [name for name in SETTINGS if "quadratic" not in name]))
def gap_run(request):
    """The settings in which f is a maximum of functions affine in x: those with a duality gap at λ₁ = 0."""
    return _run(*request.param)


@pytest.fixture(params=_parameters((True,)))
def adaptive_run(request):
    """Every setting with both memories, adaptive L."""
    return _run(*request.param)


@pytest.fixture(scope="session")
def kit():
    """The parts of the settings, for tests that build their own."""
    return SimpleNamespace(
        Box=Box,
        Quadratic=Quadratic,
        Run=Run,
        draw=draw,
        feasible=feasible,
        lower_bound=lower_bound,
        minimizer=minimizer,
        settings=SETTINGS,
        trajectory=trajectory,
        view=_view,
    )

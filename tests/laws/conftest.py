"""One factory for each loss, regularizer and geometry of the package.

The packages are listed, not imported by name: a file that exists is a class that is tested, and a class without a
factory fails with the name of what is missing. A `Case` draws points of the domain next to the object itself.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from minorant import geometry, losses, regularizers
from minorant.geometry import BlockEntropy, Entropy, Euclidean, Geometry, WeightedEuclidean
from minorant.kernels import entropic_capped_simplex, project_box_plane, project_capped_simplex
from minorant.losses import (
    CrammerSinger,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Maximum,
    MultinomialLogistic,
    Quantile,
    SmoothHinge,
    Squared,
    SquaredHinge,
)
from minorant.regularizers import (
    L1,
    L2,
    Box,
    BoxPlane,
    CappedSimplex,
    ElasticNet,
    ElasticNetBall,
    GroupL2,
    L1Ball,
    L1Inf,
    LogDet,
    Nuclear,
    Regularizer,
    Simplex,
)
from minorant.regularizers import Entropy as KL

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """An object, a way to draw points of its domain, and the geometries it is tested in.

    `size` is the length of its vectors, where they have not P; `tight` says that the points drawn and those of the
    laws come close to the strong convexity, so that a larger one would be seen to be wrong.
    """

    name: str
    it: object
    draw: Callable[[np.random.Generator], np.ndarray]
    geometries: tuple[Geometry, ...] = ()
    size: int = 7
    tight: bool = True


P = 7
_B = np.geomspace(0.1, 8.0, P)
_PRIOR = np.array([0.3, 0.05, 0.2, 0.1, 0.15, 0.12, 0.08])


def _gaussian(rng):
    return rng.standard_normal(P) * rng.choice([0.01, 1.0, 30.0])


def _simplex(mass=1.0):
    return lambda rng: mass * rng.dirichlet(np.full(P, rng.choice([0.2, 1.0, 20.0])))


def _hinges():
    rng = np.random.default_rng(0)
    y = np.array([1.0, -1, -1, 1, -1, -1, 1, -1, -1, -1, 1, -1, -1])
    weight = rng.uniform(0.1, 3.0, y.size)
    weight[4] = 0.0
    for bias in (False, True):
        for w in (None, weight):
            loss = Hinge(y, bias=bias, sample_weight=w)
            name = f"Hinge{'-bias' if bias else ''}{'-weights' if w is not None else ''}"
            yield Case(name, loss, lambda rng: rng.standard_normal(13) * rng.choice([0.1, 1.0, 20.0]))
            uneven = Hinge(y, bias=bias, sample_weight=w, prox_weights=np.geomspace(0.2, 4.0, 13))
            yield Case(f"{name}-prox", uneven, lambda rng: rng.standard_normal(13) * rng.choice([0.1, 1.0, 20.0]))


_QUADRATIC = (Euclidean(), WeightedEuclidean(_B))
_LABELS = np.array([2, 0, 2, 5, 0, 2, 0])
_LOWER, _UPPER = np.array([-1.0, -2, 0, 0.5, -30, 1, -1]), np.array([1.0, -1, 4, 0.5, 30, 1.5, 20])


def _in_box(lower, upper):
    return lambda rng: rng.uniform(lower, upper, P)


def _mixed(project, sharp):
    """Points of a set, from its projection of points near it and far from it, and mixtures of them."""

    def draw(rng):
        x, y = (project(rng.standard_normal(P) * rng.choice([0.1, 1.0, sharp])) for _ in range(2))
        mixed = rng.choice([0.0, 0.5]) * (y - x)
        return x + mixed

    return draw


def _in_ball(size):
    """Points with size(x) ≤ 1 for a function that is convex with size(0) = 0."""

    def draw(rng):
        x = rng.standard_normal(P) * rng.choice([0.0, 1.0], P)
        while size(x) > 1:
            x = 0.9 * x
        return x

    return draw


def _elastic_net_balls():
    for radius, gamma in ((0.01, 3.0), (2.0, 0.0), (50.0, 0.3)):
        it = ElasticNetBall(radius, gamma)
        draw = _in_ball(lambda x, r=radius, g=gamma: (g * np.abs(x).sum() + 0.5 * (x @ x)) / r)
        yield Case(f"ElasticNetBall-{radius}-{gamma}", it, draw, _QUADRATIC)


def _box_planes():
    normal = np.array([1.0, -1, 0, 2, -0.5, 3, 0.1])
    for name, args in {"": (_LOWER, _UPPER, normal, 1.5), "-numbers": (-1.0, 2.0, 1.0, 3.0)}.items():
        draw = _mixed(lambda c, a=args: project_box_plane(c, *a).x, 30.0)
        yield Case(f"BoxPlane{name}", BoxPlane(*args), draw, _QUADRATIC)


def _capped(cap):
    """Points of the capped simplex, by both projections."""
    euclidean = _mixed(lambda c: project_capped_simplex(c, cap).x, 30.0)
    entropic = _mixed(lambda c: entropic_capped_simplex(c, cap).x, 300.0)
    return lambda rng: (euclidean if rng.random() < 0.5 else entropic)(rng)


def _symmetric(size, lower, upper):
    """Matrices with eigenvalues from lower to upper, flattened."""

    def draw(rng):
        basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
        X = (basis * rng.uniform(max(lower, 1e-3 * upper), upper, size)) @ basis.T
        return (0.5 * (X + X.T)).ravel()

    return draw


def _log_dets():
    C = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.4], [0.0, -0.4, 0.5]])
    for name, it in {"": LogDet(0.7, 3, 4.0), "-covariance": LogDet(2.0, 3, 5.0, 0.2, C)}.items():
        yield Case(f"LogDet{name}", it, _symmetric(3, it.lower, it.upper), (Euclidean(),), size=9, tight=False)


_SHARES = np.array([0.2, 0.7, 0.1])


def _blocks(rng):
    return np.ravel(_SHARES[:, None] * rng.dirichlet(np.full(4, rng.choice([0.2, 1.0, 20.0])), 3))


def _multiclass(make, name, biases=(False,)):
    rng = np.random.default_rng(1)
    y = np.array([1, 0, 2, 2, 1, 0, 2, 2, 1])
    weight = rng.uniform(0.1, 3.0, y.size)
    weight[4] = 0.0
    for bias in biases:
        for w in (None, weight):
            loss = make(y, 3, bias=bias, sample_weight=w)
            label = f"{name}{'-bias' if bias else ''}{'-weights' if w is not None else ''}"
            yield Case(label, loss, lambda rng: rng.standard_normal(27) * rng.choice([0.1, 1.0, 20.0]))


def _crammer_singers():
    for smoothing in ("entropy", "euclidean"):
        biases = (False, True) if smoothing == "euclidean" else (False,)
        yield from _multiclass(partial(CrammerSinger, smoothing=smoothing), f"CrammerSinger-{smoothing}", biases)


def _separable(make, name, margin):
    """With and without bias, with and without weights, of which one is 0."""
    rng = np.random.default_rng(0)
    labels = np.array([1.0, -1, -1, 1, -1, -1, 1, -1, -1, -1, 1, -1, -1])
    y = labels if margin else 2.0 * rng.standard_normal(13) + 1.0
    weight = rng.uniform(0.1, 3.0, y.size)
    weight[4] = 0.0
    for bias in (False, True):
        for w in (None, weight):
            loss = make(y, bias=bias, sample_weight=w)
            full = f"{name}{'-bias' if bias else ''}{'-weights' if w is not None else ''}"
            yield Case(full, loss, lambda rng: rng.standard_normal(13) * rng.choice([0.1, 1.0, 20.0]))


def _with(cls, margin, **parameters):
    """The cases of a separable loss for each value of its parameter."""
    if not parameters:
        return list(_separable(cls, cls.__name__, margin))
    ((key, values),) = parameters.items()
    return [case for v in values for case in _separable(partial(cls, **{key: v}), f"{cls.__name__}-{v}", margin)]


FACTORIES = {
    Logistic: lambda: _with(Logistic, True),
    Squared: lambda: _with(Squared, False),
    SquaredHinge: lambda: _with(SquaredHinge, True),
    SmoothHinge: lambda: _with(SmoothHinge, True, gamma=(0.01, 0.5)),
    EpsilonInsensitive: lambda: _with(EpsilonInsensitive, False, eps=(0.0, 0.7)),
    Quantile: lambda: _with(Quantile, False, q=(0.5, 0.1)),
    Huber: lambda: _with(Huber, False, delta=(0.3, 2.0)),
    L1: lambda: [Case(f"L1-{lam}", L1(lam), _gaussian, _QUADRATIC) for lam in (1e-3, 2.0)],
    ElasticNet: lambda: [
        Case(f"ElasticNet-{lam}-{gamma}", ElasticNet(lam, gamma), _gaussian, _QUADRATIC)
        for lam, gamma in ((1e-3, 3.0), (0.7, 0.0), (4.0, 0.3))
    ],
    Box: lambda: [
        Case("Box", Box(_LOWER, _UPPER), _in_box(_LOWER, _UPPER), _QUADRATIC),
        Case("Box-numbers", Box(-0.5, 2.0), _in_box(-0.5, 2.0), _QUADRATIC),
    ],
    GroupL2: lambda: [
        Case(f"GroupL2-{lam}", GroupL2(lam, _LABELS), _gaussian, (*_QUADRATIC, WeightedEuclidean(np.full(P, 3.0))))
        for lam in (0.01, 2.0)
    ],
    L1Inf: lambda: [Case(f"L1Inf-{lam}", L1Inf(lam, _LABELS), _gaussian, _QUADRATIC) for lam in (0.01, 2.0)],
    Nuclear: lambda: [
        Case(
            f"Nuclear-{rows}x{6 // rows}",
            Nuclear(0.4, (rows, 6 // rows)),
            lambda rng: _gaussian(rng)[:6],
            (Euclidean(),),
            size=6,
        )
        for rows in (2, 3)
    ],
    LogDet: _log_dets,
    L1Ball: lambda: [
        Case(f"L1Ball-{r}", L1Ball(r), _in_ball(lambda x, r=r: np.abs(x).sum() / r), _QUADRATIC) for r in (0.1, 5.0)
    ],
    ElasticNetBall: _elastic_net_balls,
    BoxPlane: _box_planes,
    Simplex: lambda: [Case("Simplex", Simplex(), _simplex(), (*_QUADRATIC, Entropy()))],
    CappedSimplex: lambda: [
        Case(f"CappedSimplex-{cap}", CappedSimplex(cap), _capped(cap), (*_QUADRATIC, Entropy()))
        for cap in (1 / 7, 0.25, 0.6, 3.0)
    ],
    Hinge: _hinges,
    L2: lambda: [
        Case(f"L2-{lam}", L2(lam), _gaussian, (Euclidean(), WeightedEuclidean(_B))) for lam in (1e-3, 0.7, 40.0)
    ],
    KL: lambda: [
        Case("Entropy-0", KL(0.0), _simplex(), (Entropy(),)),
        Case("Entropy-0.2", KL(0.2), _simplex(), (Entropy(),)),
        Case("Entropy-prior", KL(3.0, _PRIOR), _simplex(), (Entropy(),)),
        Case("Entropy-0-cap", KL(0.0, cap=0.3), _capped(0.3), (Entropy(),)),
        Case("Entropy-0.2-cap", KL(0.2, cap=0.25), _capped(0.25), (Entropy(),)),
        Case("Entropy-prior-cap", KL(3.0, _PRIOR, cap=0.2), _capped(0.2), (Entropy(),)),
    ],
    CrammerSinger: _crammer_singers,
    Maximum: lambda: [
        Case("Maximum", Maximum(9), lambda rng: rng.standard_normal(9) * rng.choice([0.1, 1.0, 20.0])),
    ],
    MultinomialLogistic: lambda: _multiclass(MultinomialLogistic, "MultinomialLogistic", (False, True)),
    BlockEntropy: lambda: [Case("BlockEntropy", BlockEntropy(_SHARES, np.zeros((3, 4))), _blocks)],
    Euclidean: lambda: [Case("Euclidean", Euclidean(), _gaussian)],
    WeightedEuclidean: lambda: [Case("WeightedEuclidean", WeightedEuclidean(_B), _gaussian)],
    Entropy: lambda: [Case(f"Entropy-{m}", Entropy(m), _simplex(m)) for m in (1.0, 0.2, 6.0)],
}


def listed(package, base):
    """Every concrete subclass of `base` defined in a module of the package."""
    modules = [package]
    for info in pkgutil.iter_modules(getattr(package, "__path__", [])):
        modules.append(importlib.import_module(f"{package.__name__}.{info.name}"))
    found = {
        cls
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, base) and not inspect.isabstract(cls) and cls.__module__.startswith(package.__name__)
    }
    return sorted(found, key=lambda cls: cls.__name__)


LISTED = {"losses": listed(losses, Loss), "regularizers": listed(regularizers, Regularizer)}
LISTED["geometries"] = listed(geometry, Geometry)


def _cases(kind):
    return [pytest.param(c, id=c.name) for cls in LISTED[kind] if cls in FACTORIES for c in FACTORIES[cls]()]


@pytest.fixture(params=_cases("losses"))
def loss_case(request):
    return request.param


@pytest.fixture(params=_cases("regularizers"))
def regularizer_case(request):
    return request.param


@pytest.fixture(params=_cases("geometries"))
def geometry_case(request):
    return request.param


@pytest.fixture
def packages():
    """What the package listing found, and the factories that exist."""
    return SimpleNamespace(listed=LISTED, factories=FACTORIES)

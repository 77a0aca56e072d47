"""One factory for each loss, regularizer and geometry of the package.

The packages are listed, not imported by name: a file that exists is a class that is tested, and a class without a
factory fails with the name of what is missing. A `Case` draws points of the domain next to the object itself.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from minorant import geometry, losses, regularizers
from minorant.geometry import Entropy, Euclidean, Geometry, WeightedEuclidean
from minorant.losses import Hinge, Loss
from minorant.regularizers import L2, Regularizer
from minorant.regularizers import Entropy as KL

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """An object, a way to draw points of its domain, and the geometries it is tested in."""

    name: str
    it: object
    draw: Callable[[np.random.Generator], np.ndarray]
    geometries: tuple[Geometry, ...] = ()


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


FACTORIES = {
    Hinge: _hinges,
    L2: lambda: [
        Case(f"L2-{lam}", L2(lam), _gaussian, (Euclidean(), WeightedEuclidean(_B))) for lam in (1e-3, 0.7, 40.0)
    ],
    KL: lambda: [
        Case("Entropy-0", KL(0.0), _simplex(), (Entropy(),)),
        Case("Entropy-0.2", KL(0.2), _simplex(), (Entropy(),)),
        Case("Entropy-prior", KL(3.0, _PRIOR), _simplex(), (Entropy(),)),
    ],
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

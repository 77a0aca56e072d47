"""The problems of the excessive gap technique, and the states of its runs on them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.special import entr, expit

from minorant import Problem
from minorant.geometry import Entropy, WeightedEuclidean
from minorant.losses import Hinge, Loss, Smoothed
from minorant.regularizers import L1, L2, GroupL2
from minorant.regularizers import Entropy as KL
from minorant.solvers import ExcessiveGap
from minorant.solvers.saddle import Saddle

STEPS = 120


class Logistic(Loss):
    """The mean of log(1 + exp(u_i)): g is the entropy of p = n α, which is curved (κ = 4) and not smooth."""

    radius, curvature = 0.5, 4.0

    def __init__(self, y):
        self.size, self.signs, self.geometry = y.size, -y, WeightedEuclidean(np.full(y.size, float(y.size)))

    def value(self, u):
        return float(np.logaddexp(0.0, u).mean())

    def smoothed(self, u, mu):
        low, high = u - mu, u.copy()  # s + mu expit(s) = u
        for _ in range(70):
            s = 0.5 * (low + high)
            above = s + mu * expit(s) > u
            low, high = np.where(above, low, s), np.where(above, s, high)
        p = expit(0.5 * (low + high))
        alpha = p / self.size
        return Smoothed(float(alpha @ u) - self.conjugate(alpha) - mu * self.prox(alpha), alpha)

    def conjugate(self, alpha):
        p = self.size * alpha
        return -float((entr(p) + entr(1 - p)).mean()) if (p >= 0).all() and (p <= 1).all() else np.inf

    def project(self, alpha):
        return np.clip(alpha, 0.0, 1.0 / self.size)

    def start(self):
        return np.zeros(self.size)


@dataclass(frozen=True)
class Setting:
    """A problem, and D₁, the largest Δ₁ from the start: infinite for a norm, whose domain is all of space."""

    problem: Problem
    D1: float = 0.0


def _simplex(loss, X, lam=0.0):
    return Setting(Problem(loss, X, KL(lam), geometry=Entropy()), 0.0 if lam else np.log(X.shape[1]))


SETTINGS = {
    "ridge": lambda kit, X, y, weight: Setting(Problem(Hinge(y, bias=False), X, L2(0.05))),
    "ridge-bias-weights": lambda kit, X, y, weight: Setting(Problem(Hinge(y, sample_weight=weight), X, L2(0.5))),
    "kl": lambda kit, X, y, weight: _simplex(Hinge(y), X, 0.2),
    "simplex": lambda kit, X, y, weight: _simplex(Hinge(y), X),
    "box": lambda kit, X, y, weight: Setting(Problem(Hinge(y, bias=False), X, kit.Box(0.3)), 0.5 * 6 * 0.3**2),
    "l1": lambda kit, X, y, weight: Setting(Problem(Hinge(y), X, L1(0.05)), np.inf),
    "group-weights": lambda kit, X, y, weight: Setting(
        Problem(Hinge(y, sample_weight=weight, bias=False), X, GroupL2(0.1, [0, 0, 1, 1, 2, 2])), np.inf
    ),
    "logistic-l1": lambda kit, X, y, weight: Setting(Problem(Logistic(y), X, L1(0.05)), np.inf),
    "logistic-ridge": lambda kit, X, y, weight: Setting(Problem(Logistic(y), X, L2(0.3))),
    "logistic-simplex": lambda kit, X, y, weight: _simplex(Logistic(y), X),
}


@pytest.fixture(scope="module")
def setting(kit):
    """setting(name): the problem of that name, always the same."""
    return lambda name: SETTINGS[name](kit, *kit.draw(seed=31, weights=True))


@pytest.fixture(params=SETTINGS)
def name(request):
    """The name of each setting."""
    return request.param


@dataclass(frozen=True)
class Course:
    """The states of one run."""

    problem: Problem
    D1: float
    saddle: Saddle
    states: list


@pytest.fixture(scope="module")
def course(setting):
    """Runs by setting and N fixed or adaptive, each made once."""

    @cache
    def run(name, adaptive):
        s = setting(name)
        saddle = Saddle(s.problem, s.problem.regularizer.start(6), s.problem.loss.start())
        method = ExcessiveGap(adaptive=adaptive)
        states = [method.init(saddle)]
        for _ in range(STEPS):
            states.append(method.step(saddle, states[-1]))
        return Course(s.problem, s.D1, saddle, states)

    return run


@pytest.fixture(
    params=itertools.product(SETTINGS, [False, True]), ids=lambda v: f"{v[0]}-{'adaptive' if v[1] else 'fixed'}"
)
def run(request, course):
    return course(*request.param)

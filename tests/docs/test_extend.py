"""The tutorial runs; its classes are short; and the checks it uses catch what is wrong."""

import ast
import runpy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from minorant.losses import Hinge, Smoothed
from minorant.regularizers import L2, Entropy
from minorant.testing import check_loss, check_regularizer

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "extend.py"


def test_the_tutorial_runs_and_certifies(capsys):
    runpy.run_path(str(TUTORIAL), run_name="__main__")
    assert "within tol" in capsys.readouterr().out


def test_each_class_is_short():
    classes = [n for n in ast.parse(TUTORIAL.read_text(encoding="utf-8")).body if isinstance(n, ast.ClassDef)]
    assert len(classes) == 2
    for node in classes:
        assert node.end_lineno - node.lineno < 40


Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])


@pytest.mark.parametrize("bias", [False, True])
def test_our_own_keep_the_laws(bias):
    check_loss(Hinge(Y, bias=bias, sample_weight=[1.0, 2.0, 0.0, 1.0, 3.0, 1.0]))
    check_regularizer(L2(0.3), 5)
    check_regularizer(Entropy(0.3), 5)
    check_regularizer(Entropy(), 5)


class WrongScale(Hinge):
    def smoothed(self, u, mu):
        at = super().smoothed(u, mu)
        return Smoothed(0.9 * at.value, at.alpha)


class WrongGradient(Hinge):
    def smoothed(self, u, mu):
        at = super().smoothed(u, mu)
        return Smoothed(at.value, 0.9 * at.alpha)


class WrongConjugate(Hinge):
    def conjugate(self, alpha):
        return 1.1 * super().conjugate(alpha)


class WrongRadius(Hinge):
    def __init__(self, y):
        super().__init__(y)
        self.radius = 0.1 * self.radius


class WrongDivergence(Hinge):
    def smoothed_divergence(self, *args):
        return 1.01 * super().smoothed_divergence(*args)


@pytest.mark.parametrize("wrong", [WrongScale, WrongGradient, WrongConjugate, WrongRadius, WrongDivergence])
def test_a_wrong_loss_is_caught(wrong):
    with pytest.raises(AssertionError, match=r"broken law"):
        check_loss(wrong(Y))


@dataclass(frozen=True)
class InverseStep(L2):
    def argmin(self, s, t, geometry, weight=1.0):
        return super().argmin(s, 1.0 / t, geometry, weight)


@dataclass(frozen=True)
class HalfConjugate(L2):
    def conjugate(self, v):
        return 0.5 * super().conjugate(v)


@dataclass(frozen=True)
class TooConvex(L2):
    def strong_convexity(self, geometry):
        return 1.5 * super().strong_convexity(geometry)


@dataclass(frozen=True)
class WrongMaximizer(L2):
    def maximizer(self, v):
        return 2.0 * super().maximizer(v)


@pytest.mark.parametrize("wrong", [InverseStep, HalfConjugate, TooConvex, WrongMaximizer])
def test_a_wrong_regularizer_is_caught(wrong):
    with pytest.raises(AssertionError, match=r"broken law"):
        check_regularizer(wrong(0.3), 5)

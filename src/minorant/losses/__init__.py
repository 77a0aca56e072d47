"""Losses g*, one file each."""

from minorant.losses.base import Loss, Smoothed
from minorant.losses.crammer_singer import CrammerSinger
from minorant.losses.epsilon_insensitive import EpsilonInsensitive
from minorant.losses.hinge import Hinge
from minorant.losses.huber import Huber
from minorant.losses.logistic import Logistic
from minorant.losses.maximum import Maximum
from minorant.losses.multinomial import MultinomialLogistic
from minorant.losses.quantile import Quantile
from minorant.losses.smooth_hinge import SmoothHinge
from minorant.losses.squared import Squared
from minorant.losses.squared_hinge import SquaredHinge

__all__ = [
    "CrammerSinger",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Maximum",
    "MultinomialLogistic",
    "Quantile",
    "SmoothHinge",
    "Smoothed",
    "Squared",
    "SquaredHinge",
]

"""Losses g*, one file each."""

from minorant.losses.base import Loss, Smoothed
from minorant.losses.epsilon_insensitive import EpsilonInsensitive
from minorant.losses.hinge import Hinge
from minorant.losses.huber import Huber
from minorant.losses.logistic import Logistic
from minorant.losses.quantile import Quantile
from minorant.losses.smooth_hinge import SmoothHinge
from minorant.losses.squared import Squared
from minorant.losses.squared_hinge import SquaredHinge

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Quantile",
    "SmoothHinge",
    "Smoothed",
    "Squared",
    "SquaredHinge",
]

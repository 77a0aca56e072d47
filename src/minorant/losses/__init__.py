"""Losses g*, one file each."""

from minorant.losses.base import Loss, Smoothed
from minorant.losses.crammer_singer import CrammerSinger
from minorant.losses.hinge import Hinge
from minorant.losses.maximum import Maximum
from minorant.losses.multinomial import MultinomialLogistic

__all__ = ["CrammerSinger", "Hinge", "Loss", "Maximum", "MultinomialLogistic", "Smoothed"]

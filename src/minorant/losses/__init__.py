"""Losses g*, one file each."""

from minorant.losses.base import Loss, Smoothed
from minorant.losses.hinge import Hinge
from minorant.losses.multinomial import MultinomialLogistic

__all__ = ["Hinge", "Loss", "MultinomialLogistic", "Smoothed"]

"""Losses g*, one file each."""

from minorant.losses.base import Loss, Smoothed
from minorant.losses.hinge import Hinge

__all__ = ["Hinge", "Loss", "Smoothed"]

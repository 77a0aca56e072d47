"""Regularizers Ω, one file each."""

from minorant.regularizers.base import Regularizer
from minorant.regularizers.entropy import Entropy
from minorant.regularizers.l2 import L2

__all__ = ["L2", "Entropy", "Regularizer"]

"""Regularizers Ω, one file each."""

from minorant.regularizers.base import Regularizer
from minorant.regularizers.box import Box
from minorant.regularizers.box_plane import BoxPlane
from minorant.regularizers.elastic_net import ElasticNet
from minorant.regularizers.elastic_net_ball import ElasticNetBall
from minorant.regularizers.entropy import Entropy
from minorant.regularizers.group_l2 import GroupL2
from minorant.regularizers.l1 import L1
from minorant.regularizers.l1_ball import L1Ball
from minorant.regularizers.l1_inf import L1Inf
from minorant.regularizers.l2 import L2
from minorant.regularizers.log_det import LogDet
from minorant.regularizers.nuclear import Nuclear
from minorant.regularizers.simplex import CappedSimplex, Simplex

__all__ = [
    "L1",
    "L2",
    "Box",
    "BoxPlane",
    "CappedSimplex",
    "ElasticNet",
    "ElasticNetBall",
    "Entropy",
    "GroupL2",
    "L1Ball",
    "L1Inf",
    "LogDet",
    "Nuclear",
    "Regularizer",
    "Simplex",
]

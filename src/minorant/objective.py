"""What a linear model minimizes, by name: the loss, the penalty and its strength."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from minorant.errors import InputError, unknown_option
from minorant.losses import EpsilonInsensitive, Hinge, Logistic, Quantile, SmoothHinge, Squared, SquaredHinge
from minorant.problem import Problem
from minorant.regularizers import L1, L2, ElasticNet, ElasticNetBall

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from minorant.operators import LinearMap
    from minorant.regularizers import Regularizer

    Vector = NDArray[np.float64]

__all__ = ["LOSSES", "PENALTIES", "Objective"]

LOSSES: dict[str, Callable[..., Any]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smooth_hinge": partial(SmoothHinge, gamma=1.0),
    "logistic": Logistic,
    "squared": Squared,
    "epsilon_insensitive": EpsilonInsensitive,
    "quantile": Quantile,
}
PENALTIES = ("l2", "l1", "elasticnet", "elasticnet_ball")


@dataclass(frozen=True)
class Objective:
    """What is minimized, by name: the loss, the penalty and its strength λ, and whether there is a bias.

    `epsilon` and `quantile` are for the losses of these names, `radius` and `gamma` for the ball, which has no λ.
    """

    loss: str
    penalty: str
    lam: float = 1.0
    l1_ratio: float = 0.0
    fit_intercept: bool = True
    epsilon: float = 0.0
    quantile: float = 0.5
    radius: float = 1.0
    gamma: float = 1.0
    losses: ClassVar[dict[str, Callable[..., Any]]] = LOSSES

    def __post_init__(self) -> None:
        if self.loss not in self.losses:
            raise unknown_option("loss", self.loss, self.losses)
        if self.penalty not in PENALTIES:
            raise unknown_option("penalty", self.penalty, PENALTIES)
        if not 0 < self.lam < inf:
            raise InputError(f"the strength λ of the penalty must be a finite number > 0; got {self.lam}")
        if not 0 <= self.l1_ratio <= 1:
            raise InputError(f"l1_ratio must be between 0 and 1; got {self.l1_ratio}")

    @property
    def regularizer(self) -> Regularizer:
        """Ω; an elastic net without one of its parts is the other."""
        if self.penalty == "elasticnet_ball":
            return ElasticNetBall(self.radius, self.gamma)
        r = {"l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio}[self.penalty]
        if r == 0:
            return L2(self.lam)
        return L1(self.lam) if r == 1 else ElasticNet(self.lam * (1 - r), r / (1 - r))

    def problem(self, A: LinearMap, y: Vector, weight: Vector | None, threads: int) -> Problem:
        """The problem for labels ±1, or for targets."""
        options: dict[str, dict[str, Any]] = {
            "hinge": {"threads": threads},
            "epsilon_insensitive": {"eps": self.epsilon},
            "quantile": {"q": self.quantile},
        }
        more = options.get(self.loss, {})
        loss = self.losses[self.loss](y, sample_weight=weight, bias=self.fit_intercept, **more)
        return Problem(loss, A, self.regularizer)

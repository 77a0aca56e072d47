"""The file of a linear model with a loss for each example: the model, and the dual point that proves how good it is.

With weights c_i (1/n where absent), scores s_i = ⟨coef_r, x_i⟩ + intercept_r and Ω of strength lam,

    J = Ω(coef) + Σ c_i loss(s_i, y_i)   ≥   min J   ≥   D(alpha).

| losses                                       | rows of coef                           | alpha  | certificates |
|----------------------------------------------|----------------------------------------|--------|--------------|
| hinge, squared_hinge, smooth_hinge, logistic | one against the rest (2 classes: 1 row)| (k, n) | k            |
| multinomial, crammer_singer                  | one for each class, in one problem     | (n, k) | 1            |
| squared, epsilon_insensitive, quantile       | one; no classes                        | (1, n) | 1            |

Tensors: coef (k, p), intercept (k,), alpha, weights (n,) if not uniform. The description has the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.errors import InputError
from minorant.io._model_base import FittedModel, check_classes, check_flag, check_tensor, is_number, need, one_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["LinearModel"]

_NORMS = ("l2", "l1", "elasticnet")
# model: its losses, its penalties
_MODELS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linear_svc": (("hinge", "squared_hinge", "smooth_hinge", "crammer_singer"), _NORMS),
    "logistic_regression": (("logistic", "multinomial"), _NORMS),
    "elastic_net": (("squared",), ("elasticnet",)),
    "elastic_net_ball": (("squared",), ("elasticnet_ball",)),
    "linear_svr": (("epsilon_insensitive",), ("l2",)),
    "quantile_regressor": (("quantile",), ("l1",)),
}
_JOINT = ("multinomial", "crammer_singer")
_TARGETS = ("squared", "epsilon_insensitive", "quantile")
# loss or penalty: its parameters, and what they may be
_PARAMETERS: dict[str, dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "elasticnet": {"l1_ratio": ("from 0 to 1", lambda v: 0 <= v <= 1)},
    "elasticnet_ball": {"radius": ("> 0", lambda v: v > 0), "gamma": ("≥ 0", lambda v: v >= 0)},
    "epsilon_insensitive": {"epsilon": ("≥ 0", lambda v: v >= 0)},
    "quantile": {"quantile": ("between 0 and 1", lambda v: 0 < v < 1)},
}


@dataclass(frozen=True, kw_only=True)
class LinearModel(FittedModel):
    """A fitted linear model as a file holds it; every instance has passed the checks of the format.

    Parameters
    ----------
    coef : array of shape (k, n_features), float32 or float64
    intercept : array of shape (k,), float32 or float64
    alpha : array, float64
        The dual points; its shape is in the table above.
    lam : float
        Strength of the penalty.
    fit_intercept : bool
    classes : list of numbers or of strings; None for targets
    certificates : list of dicts
        One for each problem that was solved, with `primal`, `dual`, `status` and `n_products`.
    model, loss, penalty : str
        What was fitted.
    parameters : dict
        Of the loss and the penalty, where they have some: `l1_ratio`, `radius` and `gamma`, `epsilon`, `quantile`.
    weights : array of shape (n_rows,), float64, optional
        The c_i, which sum to 1; absent where they are all 1/n_rows.
    tol : float, optional
        The relative gap that was asked for.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    """

    alpha: NDArray[np.float64]
    fit_intercept: bool
    model: str = "linear_svc"
    loss: str = "hinge"
    penalty: str = "l2"
    parameters: dict[str, float] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self._check_objective()
        if self.loss in _TARGETS:
            if self.classes is not None:
                raise InputError(f"a model of targets has no classes; got {self.classes!r:.80}")
            k = 1
        else:
            n_classes = check_classes(self.classes)
            k = 1 if n_classes == 2 and self.loss not in _JOINT else n_classes
        joint = self.loss in _JOINT
        p = self._check_scores(k, 1 if joint else k)
        shape = check_tensor("alpha", self.alpha, (np.float64,), (None, k) if joint else (k, None))
        n = shape[0] if joint else shape[1]
        if p == 0 or n == 0:
            raise InputError(f"a model needs features and rows; got {p} features and {n} rows")
        if self.weights is not None:
            check_tensor("weights", self.weights, (np.float64,), (n,))
            if self.weights.min() < 0 or abs(self.weights.sum() - 1.0) > 1e-9:
                raise InputError("weights must be nonnegative and sum to 1")
        check_flag("fit_intercept", self.fit_intercept)

    def _check_objective(self) -> None:
        one_of("model", self.model, tuple(_MODELS))
        losses, penalties = _MODELS[self.model]
        one_of("loss", self.loss, losses)
        one_of("penalty", self.penalty, penalties)
        allowed = {**_PARAMETERS.get(self.loss, {}), **_PARAMETERS.get(self.penalty, {})}
        if set(self.parameters) != set(allowed):
            raise InputError(f"{self.model} has the parameters {sorted(allowed)}; got {sorted(self.parameters)}")
        for name, (text, fits) in allowed.items():
            value = self.parameters[name]
            if not (is_number(value) and fits(value)):
                raise InputError(f"{name} must be a number {text}; got {value!r:.60}")

    def _tensors(self) -> dict[str, NDArray[Any]]:
        return {"alpha": self.alpha} if self.weights is None else {"alpha": self.alpha, "weights": self.weights}

    def _description(self) -> dict[str, Any]:
        names = {key: getattr(self, key) for key in ("model", "loss", "penalty", "fit_intercept")}
        return {**names, **self.parameters}

    @classmethod
    def _parts(cls, tensors: dict[str, NDArray[Any]], meta: dict[str, Any]) -> dict[str, Any]:
        need(meta, ("loss", "penalty", "fit_intercept"), "description")
        need(tensors, ("alpha",), "tensor")
        known = [name for which in _PARAMETERS.values() for name in which]
        return {
            **{key: meta[key] for key in ("model", "loss", "penalty", "fit_intercept")},
            "parameters": {name: meta[name] for name in known if name in meta},
            "alpha": tensors["alpha"],
            "weights": tensors.get("weights"),
        }

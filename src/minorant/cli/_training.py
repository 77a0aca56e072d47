"""From the name of a model and its options to a fit, and from the fit to what its file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.cli._models import MODELS
from minorant.io import LinearModel, MeasureModel
from minorant.io.measure_model import packed_law
from minorant.linear import LinearFit, Run, fit_classifier, fit_regressor, inverse_strength
from minorant.measures import measure
from minorant.multiclass import JointFit, fit_joint
from minorant.objective import Objective
from minorant.whole_sample import MeasureFit, fit_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Fit = LinearFit | JointFit | MeasureFit

__all__ = ["claim", "names_of_problems", "to_model", "train"]

_FILES = {
    "svm": "linear_svc",
    "l1svm": "linear_svc",
    "logistic": "logistic_regression",
    "enet": "elastic_net",
    "enet_ball": "elastic_net_ball",
    "svr": "linear_svr",
    "quantile": "quantile_regressor",
}
_PARAMETERS = {  # of a loss or a penalty
    "elasticnet": ("l1_ratio",),
    "elasticnet_ball": ("radius", "gamma"),
    "epsilon_insensitive": ("epsilon",),
    "quantile": ("quantile",),
}


def train(
    name: str, options: dict[str, Any], X: Any, y: Vector, weight: Vector | None, fit_intercept: bool, run: Run
) -> Fit:
    """Fit the model of that name."""
    how: dict[str, Any] = {"sample_weight": weight, "run": run}
    kind = MODELS[name].kind
    if kind == "targets":
        total = float(y.size if weight is None else weight.sum())
        return fit_regressor(X, y, objective=_objective(name, options, fit_intercept, total), **how)
    how |= {"C": options["c"], "fit_intercept": fit_intercept}
    if kind == "measure":
        return fit_measure(X, y, measure(name, beta=options.get("beta", 1.0), k=options.get("k")), **how)
    joint = joint_loss(name, options, y)
    how["loss"] = joint or ("logistic" if name == "logistic" else options["loss"])
    how["penalty"] = "l1" if name == "l1svm" else options["penalty"]
    how["l1_ratio"] = options.get("l1_ratio", 0.0)
    return fit_joint(X, y, **how) if joint else fit_classifier(X, y, **how)


def joint_loss(name: str, options: dict[str, Any], y: Vector) -> str | None:
    """The loss that fits all classes in one problem, if the model has one for these labels."""
    if name == "logistic":
        return "multinomial" if np.unique(y).size > 2 else None
    return "crammer_singer" if options.get("multi_class") == "crammer_singer" else None


def _objective(name: str, options: dict[str, Any], fit_intercept: bool, total_weight: float) -> Objective:
    """What the estimator of the same model minimizes."""
    if name == "enet":
        return Objective("squared", "elasticnet", 2.0 * options["alpha"], options["l1_ratio"], fit_intercept)
    if name == "enet_ball":
        ball = {"radius": options["radius"], "gamma": options["gamma"]}
        return Objective("squared", "elasticnet_ball", fit_intercept=fit_intercept, **ball)
    if name == "svr":
        lam = inverse_strength(options["c"], total_weight)
        return Objective("epsilon_insensitive", "l2", lam, fit_intercept=fit_intercept, epsilon=options["epsilon"])
    return Objective("quantile", "l1", options["alpha"], fit_intercept=fit_intercept, quantile=options["quantile"])


def names_of_problems(name: str, options: dict[str, Any], y: Vector, weight: Vector | None) -> list[str]:
    """What each certificate of the fit is about."""
    if MODELS[name].kind == "targets" or joint_loss(name, options, y):
        return [name]
    if MODELS[name].kind == "measure" and weight is not None:
        y = y[weight > 0]  # an example that is left out has no class
    classes = np.unique(y)
    if classes.size == 2:
        return [f"{classes[1]:g} against {classes[0]:g}"]
    return [f"{label:g} against the rest" for label in classes]


def to_model(name: str, fit: Fit, tol: float) -> LinearModel | MeasureModel:
    """The fit as a file holds it."""
    shared: dict[str, Any] = {
        "coef": fit.coef,
        "intercept": fit.intercept,
        "classes": [int(c) if c == int(c) else c for c in fit.classes.tolist()] or None,
        "certificates": [claim(c) for c in fit.certificates],
        "tol": tol,
    }
    if isinstance(fit, MeasureFit):
        return _measure_model(name, fit, shared)
    first = fit.certificates[0]
    about = first.objective
    parameters = {p: getattr(about, p) for which in (about.loss, about.penalty) for p in _PARAMETERS.get(which, ())}
    return LinearModel(
        **shared,
        model=_FILES[name],
        loss=about.loss,
        penalty=about.penalty,
        parameters=parameters,
        lam=about.lam,
        fit_intercept=about.fit_intercept,
        alpha=first.alpha if isinstance(fit, JointFit) else np.array([c.alpha for c in fit.certificates]),
        weights=first.weights,
    )


def _measure_model(name: str, fit: MeasureFit, shared: dict[str, Any]) -> MeasureModel:
    first = fit.certificates[0]
    n = first.alpha.size
    size = n if first.index is None else first.index.size
    rows = [(c.law.weights, c.law.each(size)) for c in fit.certificates]
    return MeasureModel(
        **shared,
        lam=first.lam,
        metric="fbeta" if name == "f1" else name,
        beta=getattr(first.measure, "beta", None),
        k=getattr(first.measure, "k", None),
        bias=first.free,
        n_rows=n,
        **packed_law(rows),
        repeats=None if first.index is None else np.bincount(first.index, minlength=n).astype(np.int32),
    )


def claim(certificate: Any) -> dict[str, Any]:
    """What a file and a log say of a certificate."""
    return {
        "primal": certificate.primal,
        "dual": certificate.dual,
        "status": certificate.status.name,
        "n_products": certificate.n_products,
    }

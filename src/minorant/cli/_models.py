"""What `minorant fit --model NAME` can fit, and which options each model has; nothing is imported for it.

An option that is not given is None until here, so that one that does nothing is refused instead of ignored.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from minorant.errors import InputError, unknown_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["MODELS", "MODELS_TEXT", "Model", "chosen"]


class Model(NamedTuple):
    """A model of the command line: how it is fitted, and its own options with their defaults."""

    kind: str  # "classes", "targets" or "measure"
    about: str
    options: dict[str, Any]


_HOW = {"solver": "auto", "smoothing": "auto"}
_SPARSE = {"penalty": "l2", "l1_ratio": 0.5}
_C = {"c": 1.0}


def _measure(about: str, **options: Any) -> Model:
    return Model("measure", about, {**_C, **options})


MODELS = {
    "svm": Model("classes", "linear SVM", {**_C, "loss": "hinge", **_SPARSE, "multi_class": "ovr", **_HOW}),
    "l1svm": Model("classes", "linear SVM with an L1 penalty", {**_C, "loss": "hinge", **_HOW}),
    "logistic": Model("classes", "logistic regression, multinomial for more than two classes", _C | _SPARSE | _HOW),
    "enet": Model("targets", "elastic net: least squares with L1 and L2", {"alpha": 1.0, "l1_ratio": 0.5, **_HOW}),
    "enet_ball": Model("targets", "least squares in an elastic-net ball", {"radius": 1.0, "gamma": 1.0, **_HOW}),
    "svr": Model("targets", "support vector regression", {**_C, "epsilon": 0.0, **_HOW}),
    "quantile": Model("targets", "quantile regression with L1", {"quantile": 0.5, "alpha": 1.0, **_HOW}),
    "f1": _measure("SVM for the F1 measure"),
    "fbeta": _measure("SVM for the F-beta measure", beta=1.0),
    "gmean": _measure("SVM for the geometric mean of both recalls"),
    "balanced_error": _measure("SVM for the mean error of both classes"),
    "error_rate": _measure("SVM for the share of errors, as one loss"),
    "precision_at_k": _measure("SVM for the precision among k predicted positives", k=None),
    "recall_at_k": _measure("SVM for the recall among k predicted positives", k=None),
    "prbep": _measure("SVM for the precision where it equals recall"),
    "roc_auc": _measure("SVM for the area under the ROC curve"),
}
_WORDS = {  # the options above on the command line
    "c": "-c",
    **{name: "--" + name.replace("_", "-") for model in MODELS.values() for name in model.options if name != "c"},
}
_CHOICES = {
    "loss": ("hinge", "squared_hinge", "smooth_hinge"),
    "penalty": ("l2", "l1", "elasticnet"),
    "multi_class": ("ovr", "crammer_singer"),
}
_RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "c": ("> 0", lambda v: v > 0),
    "alpha": ("> 0", lambda v: v > 0),
    "l1_ratio": ("from 0 to 1", lambda v: 0 <= v <= 1),
    "radius": ("> 0", lambda v: v > 0),
    "gamma": (">= 0", lambda v: v >= 0),
    "epsilon": (">= 0", lambda v: v >= 0),
    "quantile": ("between 0 and 1", lambda v: 0 < v < 1),
}


def chosen(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The name of the model, and its options: those given, else their defaults."""
    name = args.model.replace("-", "_")
    if name not in MODELS:
        raise unknown_option("--model", args.model, MODELS)
    own = MODELS[name].options
    for option, word in _WORDS.items():
        if getattr(args, option) is not None and option not in own:
            having = ", ".join(n for n, model in MODELS.items() if option in model.options)
            raise InputError(
                f"{word} is no option of --model {name}, which has {', '.join(_WORDS[o] for o in own)}; "
                f"{word} is for {having}"
            )
    given = {option: getattr(args, option) for option in own if getattr(args, option) is not None}
    for option, allowed in _CHOICES.items():
        if option in given:
            given[option] = given[option].replace("-", "_")
            if given[option] not in allowed:
                raise unknown_option(_WORDS[option], given[option], allowed)
    for option, (text, fits) in _RANGES.items():
        if option in given and not (isfinite(given[option]) and fits(given[option])):
            word = "C" if option == "c" else _WORDS[option]
            raise InputError(f"{word} must be a finite number {text}; got {given[option]}")
    _check(name, given)
    return name, {**own, **given}


def _check(name: str, given: dict[str, Any]) -> None:
    """Refuse options that contradict each other."""
    if "l1_ratio" in given and "penalty" in MODELS[name].options and given.get("penalty") != "elasticnet":
        penalty = given.get("penalty", "l2")
        raise InputError(f"--l1-ratio is the share of the L1 norm in --penalty elasticnet; got --penalty {penalty}")
    if given.get("multi_class") == "crammer_singer" and given.get("loss", "hinge") != "hinge":
        raise InputError(
            f"--multi-class crammer_singer has a hinge loss of its own; got --loss {given['loss']}. Leave --loss out, "
            "or choose --multi-class ovr"
        )
    if "k" in MODELS[name].options and "k" not in given:
        raise InputError(f"--model {name} needs --k, the number of predicted positives, such as --k 10")


def _text() -> str:
    width = max(map(len, MODELS))
    lines = [
        f"  {name:{width}}  {model.about}: {' '.join(_WORDS[o] for o in model.options if o not in _HOW)}"
        for name, model in MODELS.items()
    ]
    return "models, and the options of each (others are refused):\n" + "\n".join(lines)


MODELS_TEXT = _text()

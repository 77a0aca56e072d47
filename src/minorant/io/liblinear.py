"""Models in the text format of LIBLINEAR, for programs that read it.

    solver_type NAME | nr_class k | label ... | nr_feature p | bias 1 | w | p + 1 rows of numbers, the bias last

LIBLINEAR predicts, from the scores s = Wᵀ(x, 1), the first label where there is one score and it is positive, else the
label of the largest score, and targets as they are. That is all of a linear model but its proof, and for more than two
classes but its probabilities: those of LIBLINEAR are not multinomial, so such a model is written as MCSVM_CS, which has
none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minorant.errors import InputError
from minorant.io._atomic import replace_file
from minorant.io.linear_model import LinearModel

if TYPE_CHECKING:
    import os

    from minorant.io.measure_model import MeasureModel

__all__ = ["save_liblinear"]

# the loss and the penalty that LIBLINEAR's name stands for; others predict alike under the name of the hinge
_NAMES = {
    ("hinge", "l2"): "L2R_L1LOSS_SVC_DUAL",
    ("squared_hinge", "l2"): "L2R_L2LOSS_SVC",
    ("squared_hinge", "l1"): "L1R_L2LOSS_SVC",
    ("logistic", "l2"): "L2R_LR",
    ("logistic", "l1"): "L1R_LR",
    ("logistic", "elasticnet"): "L2R_LR",
    ("epsilon_insensitive", "l2"): "L2R_L1LOSS_SVR_DUAL",
}


def save_liblinear(path: str | os.PathLike[str], model: LinearModel | MeasureModel) -> None:
    """Write the model as LIBLINEAR's `train` would; a file that is there is replaced in one step.

    Raises
    ------
    InputError
        If its labels are not whole numbers: LIBLINEAR has no others.
    """
    W, b, classes = model.coef, model.intercept, model.classes
    lines = [f"solver_type {_solver(model)}", f"nr_class {2 if classes is None else len(classes)}"]
    if classes is not None:
        if any(type(label) is not int or abs(label) >= 2**31 for label in classes):
            raise InputError(f"LIBLINEAR has whole numbers as labels; this model has {classes!r:.200}")
        order = classes[::-1] if len(W) == 1 else classes  # one score speaks for the first label
        lines.append("label " + " ".join(map(str, order)))
    lines += [f"nr_feature {W.shape[1]}", "bias 1", "w"]
    for row in [*W.T.tolist(), b.tolist()]:
        lines.append(" ".join(f"{value:.17g}" for value in row) + " ")
    replace_file(path, "".join(line + "\n" for line in lines).encode())


def _solver(model: LinearModel | MeasureModel) -> str:
    if model.classes is None:
        loss = model.loss if isinstance(model, LinearModel) else ""
        return _NAMES.get((loss, "l2"), "L2R_L2LOSS_SVR")
    if isinstance(model, LinearModel):
        if len(model.coef) == len(model.classes) and model.loss in ("multinomial", "crammer_singer"):
            return "MCSVM_CS"
        return _NAMES.get((model.loss, model.penalty), "L2R_L1LOSS_SVC_DUAL")
    return "L2R_L1LOSS_SVC_DUAL"

"""`minorant predict`: one label or target per line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.cli import CERTIFIED
from minorant.cli.fit import check_outputs
from minorant.errors import InputError
from minorant.io import LinearModel, MeasureModel, load_data, load_fitted
from minorant.io._atomic import replace_file
from minorant.measures import measure

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


def run(args: argparse.Namespace) -> int:
    """Write the predictions; how good they are goes to standard error, where the data have labels the model knows."""
    check_outputs(args.data, args.output)
    model = load_fitted(args.model)
    if args.scores and model.classes is None:
        raise InputError(f"--scores is for classes; {args.model} predicts targets, which are their own scores")
    X, y = load_data(args.data, zero_based=True if args.zero_based else "auto")
    scores = decision(model, X)
    if model.classes is None:
        _write(args.output, [repr(value) for value in scores[:, 0].tolist()])
        verdict = _fit_of_targets(scores[:, 0], y)
    else:
        index = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        labels = [str(label) for label in model.classes]
        lines = [labels[k] for k in index]
        if args.scores:
            lines = [f"{line} {' '.join(map(repr, row))}" for line, row in zip(lines, scores.tolist(), strict=True)]
        _write(args.output, lines)
        verdict = _fit_of_labels(model, index, scores, y)
    if verdict and not args.quiet:
        print(verdict, file=sys.stderr)
    return CERTIFIED


def _write(output: str | None, lines: list[str]) -> None:
    if output is not None:
        replace_file(output, "".join(line + "\n" for line in lines).encode())
        return
    # In blocks: of one large write an unbuffered stream (PYTHONUNBUFFERED) may drop the end without an error.
    for first in range(0, len(lines), 1000):
        print("\n".join(lines[first : first + 1000]))


def _fit_of_targets(predicted: Vector, y: Vector) -> str:
    """The mean squared error and its relation to the variance; the latter needs targets that differ."""
    residual = float(np.mean((y - predicted) ** 2))
    spread = float(np.var(y))
    return f"Mean squared error {residual:.6g}" + (f", R2 {1.0 - residual / spread:.6f}" if spread > 0 else "")


def _fit_of_labels(model: LinearModel | MeasureModel, index: NDArray[Any], scores: Vector, y: Vector) -> str:
    """The accuracy, and the measure that was trained for; nothing where no label is known."""
    if model.classes is None or isinstance(model.classes[0], str) or not np.isin(y, model.classes).any():
        return ""
    classes = np.array(model.classes)
    right = int(np.sum(classes[index] == y))
    accuracy = f"Accuracy {100.0 * right / y.size:.2f} % ({right}/{y.size})"
    if not isinstance(model, MeasureModel):
        return accuracy
    from minorant.estimators.multivariate import attained  # noqa: PLC0415 - slow to load

    which = measure(model.metric, beta=model.beta or 1.0, k=model.k)
    name = "f1" if (model.metric, model.beta) == ("fbeta", 1.0) else model.metric
    try:
        rows = zip(classes[-scores.shape[1] :], scores.T, strict=True)  # of two classes, the second has the score
        value = float(np.mean([attained(which, y == c, classes[index] == c, s) for c, s in rows]))
        value = 1.0 - value if model.metric in ("error_rate", "balanced_error") else value
    except InputError as error:
        return f"{accuracy}; {name}: {error}"
    return f"{accuracy}; {name} {value:.6f}"


def decision(model: LinearModel | MeasureModel, X: Any) -> NDArray[np.float64]:
    """The scores. A column that the model has not seen has the weight 0, as it would have after a fit with it."""
    p = min(X.shape[1], model.coef.shape[1])
    scores = X[:, :p] @ model.coef[:, :p].T.astype(np.float64) + model.intercept
    return np.asarray(scores, dtype=np.float64)

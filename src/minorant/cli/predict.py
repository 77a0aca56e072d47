"""`minorant predict`: one label per line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.cli import CERTIFIED
from minorant.cli.fit import check_outputs
from minorant.io import LinearModel, load_data
from minorant.io._atomic import replace_file

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray


def run(args: argparse.Namespace) -> int:
    """Write the labels; the accuracy goes to standard error, where the data have labels the model knows."""
    check_outputs(args.data, args.output)
    model = LinearModel.load(args.model)
    X, y = load_data(args.data, zero_based=True if args.zero_based else "auto")
    scores = decision(model, X)
    chosen = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
    labels = [str(label) for label in model.classes]
    lines = [labels[k] for k in chosen]
    if args.scores:
        lines = [f"{line} {' '.join(map(repr, row))}" for line, row in zip(lines, scores.tolist(), strict=True)]
    if args.output is None:
        # In blocks: of one large write an unbuffered stream (PYTHONUNBUFFERED) may drop the end without an error.
        for first in range(0, len(lines), 1000):
            print("\n".join(lines[first : first + 1000]))
    else:
        replace_file(args.output, "".join(line + "\n" for line in lines).encode())
    truth = np.isin(y, model.classes) if not isinstance(model.classes[0], str) else np.zeros(y.size, dtype=bool)
    if truth.any() and not args.quiet:
        right = int(np.sum(np.array(model.classes)[chosen] == y))
        print(f"Accuracy {100.0 * right / y.size:.2f} % ({right}/{y.size})", file=sys.stderr)
    return CERTIFIED


def decision(model: LinearModel, X: Any) -> NDArray[np.float64]:
    """The scores. A column that the model has not seen has the weight 0, as it would have after a fit with it."""
    p = min(X.shape[1], model.coef.shape[1])
    scores = X[:, :p] @ model.coef[:, :p].T.astype(np.float64) + model.intercept
    return np.asarray(scores, dtype=np.float64)

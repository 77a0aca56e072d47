"""`minorant demo`: the whole story on 569 tumors, in one second, with files to go on with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import minorant
from minorant import checker
from minorant.cli import CERTIFIED, NOT_CERTIFIED
from minorant.cli._training import to_model
from minorant.cli._watch import Log
from minorant.io import load_data
from minorant.io._atomic import replace_file
from minorant.linear import Run, fit_classifier
from minorant.report import gap_svg

if TYPE_CHECKING:
    import argparse

    from minorant.driver import Progress

_C, _TOL = 0.01, 1e-4


def run(args: argparse.Namespace) -> int:
    """Fit scikit-learn's breast cancer data, explain the certificate, check it again, draw it."""
    from sklearn.datasets import dump_svmlight_file, load_breast_cancer  # noqa: PLC0415 - slow to load
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    data, model, log_file, picture = (folder / name for name in ("data.txt", "model", "run.jsonl", "gap.svg"))
    tumors, benign = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(StandardScaler().fit_transform(tumors), 2 * benign - 1, str(data), zero_based=False)
    X, y = load_data(data)

    with Log(str(log_file)) as log:
        log.write(
            {"minorant": minorant.__version__, "rows": X.shape[0], "features": X.shape[1], "lam": 1 / (_C * y.size)}
        )

        def record(row: int, progress: Progress) -> None:
            log.write({"class": row, **progress._asdict()})

        fit = fit_classifier(X, y, C=_C, run=Run(tol=_TOL, callback=record))
        certificate = fit.certificates[0]
        log.write({"status": certificate.status.name, "primal": certificate.primal, "dual": certificate.dual})
    to_model("svm", fit, _TOL).save(model)
    replace_file(picture, gap_svg(fit.traces[0], "A fit and its proof, closing on each other", _TOL).encode())
    lines, status = checker.check_files(str(model), str(data))

    print(
        f"A linear SVM that tells benign from malignant tumors: {X.shape[0]} examples, {X.shape[1]} features.\n\n"
        f"  J(w) = {certificate.primal:.10f}   the objective at the model found: what training minimizes\n"
        f"  D(α) = {certificate.dual:.10f}   a lower bound: no linear SVM on these data has an objective below it\n"
        f"  gap  = {certificate.gap:.10f}   so the model is at most this far from the best one, "
        f"{certificate.relative_gap:.1e} of J\n\n"
        f"That took {certificate.n_products} products with the data. The α that proves it is in the model file, for\n"
        "anyone to check. An independent program, with NumPy alone, reads the files again and finds:\n\n"
        + "".join(f"  {line}\n" for line in lines)
        + f"\nThe picture of it: {picture}\n\nGo on with\n\n"
        f"  minorant fit {data} -o {model} -c 0.1\n"
        f"  minorant certify {model} {data}\n"
        f"  minorant predict {data} {model} -o {folder / 'labels.txt'}\n"
        f"  python {checker.__file__} {model} {data}"
    )
    return CERTIFIED if status == CERTIFIED else NOT_CERTIFIED

"""F1 on new data: training for F1 against thresholds tuned for it, on six imbalanced sets.

    python benchmarks/imbalanced.py DATA_DIR

DATA_DIR has one folder a set, with LIBSVM text in it.

A split is a random 60 % for training and 40 % for testing, by class. On the training part, C is chosen by 5-fold
cross-validation: the scores of each fold come from a model of the other four, and their F1, all folds together, is
compared. The threshold is

    trained for F1          the model's own bias
    the same, tuned         the one with the best F1 on those scores
    SVM, tuned              the same for LinearSVC (hinge)
    logistic, tuned         the same for LogisticRegression
    SVM, as it is           the model's own bias

and the F1 reported is that of a model of the whole training part, with that C and that threshold, on the test part.
Columns are standardized (texts: tf-idf) by the training part. Splits overlap: a standard error is
s·√(1/splits + test/train) (Nadeau and Bengio), s the standard deviation over splits. The sets were chosen before any
result was seen. Every fit is certified to a relative gap of 1e-2. Writes results/imbalanced.md.
"""

from __future__ import annotations

import argparse
import platform
import warnings
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from minorant import LinearSVC, LogisticRegression, MultivariateSVC, TrivialSolution
from minorant.io import load_svmlight

RESULTS = Path(__file__).parent / "results"
SETS = {  # name: (file, kind, positive label or None: the largest)
    "mammography": ("mammography/mammography.xz", "dense", None),
    "oil_spill": ("oil_spill/oil_spill.xz", "dense", None),
    "yeast4": ("yeast4/yeast4.xz", "dense", None),
    "letter, A": ("letter/letter.xz", "dense", 1),
    "sms_spam": ("sms_spam/sms_counts.xz", "counts", None),
    "reuters_moneyfx": ("reuters_moneyfx/reuters.trn.xz", "unit rows", None),
}
CS = np.logspace(-2, 3, 6)
HOW = {"tol": 1e-2, "n_jobs": 1}
MODELS = {  # how it is made, and its values of C
    "trained for F1": (lambda C: MultivariateSVC("f1", C=C, **HOW), CS[:-1]),
    "SVM": (lambda C: LinearSVC(C=C, **HOW), CS),
    "logistic": (lambda C: LogisticRegression(C=C, **HOW), CS),
}
WAYS = {  # what is reported: the model, and whether its threshold is tuned
    "trained for F1": ("trained for F1", False),
    "the same, tuned": ("trained for F1", True),
    "SVM, tuned": ("SVM", True),
    "logistic, tuned": ("logistic", True),
    "SVM, as it is": ("SVM", False),
}
PEERS = ("SVM, tuned", "logistic, tuned")


def load(folder, file, kind, positive):
    X, y = load_svmlight(folder / file)
    labels = (y == (y.max() if positive is None else positive)).astype(int)
    return (X.toarray() if kind == "dense" else X), labels


def scaler(kind):
    return {
        "dense": StandardScaler,
        "counts": lambda: TfidfTransformer(sublinear_tf=True),
        "unit rows": FunctionTransformer,
    }[kind]()


def best_threshold(y, scores):
    """The threshold with the best F1 on these scores, halfway to the next lower score, and that F1."""
    precision, recall, thresholds = precision_recall_curve(y, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = int(f1[: thresholds.size].argmax())
    below = thresholds[best - 1] if best > 0 else thresholds[best] - 1.0
    return 0.5 * (thresholds[best] + below), float(f1[best])


def out_of_fold(make, X, y, seed):
    """The score of each example by a model of the other folds."""
    scores = np.empty(y.size)
    for train, valid in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        scores[valid] = make().fit(X[train], y[train]).decision_function(X[valid])
    return scores


def one_split(X, y, kind, seed):
    """{way: (F1 on the test part, whether C is an end of its grid)}"""
    ((train, test),) = StratifiedShuffleSplit(1, test_size=0.4, random_state=seed).split(y, y)
    prepare = scaler(kind)
    seen, new = prepare.fit_transform(X[train]), prepare.transform(X[test])
    found = {}
    for model, (make, grid) in MODELS.items():
        scores = [out_of_fold(lambda make=make, C=C: make(C), seen, y[train], seed) for C in grid]
        for way, (which, tuned) in WAYS.items():
            if which != model:
                continue
            choices = [best_threshold(y[train], s) if tuned else (0.0, f1_score(y[train], s > 0)) for s in scores]
            c = int(np.argmax([f1 for _, f1 in choices]))
            final = make(grid[c]).fit(seen, y[train])
            found[way] = (f1_score(y[test], final.decision_function(new) > choices[c][0]), c in (0, grid.size - 1))
    return found


def standard_error(values, ratio=0.4 / 0.6):
    return float(np.std(values, ddof=1) * np.sqrt(1 / len(values) + ratio))


def cell(values):
    return f"{np.mean(values):.3f} ± {standard_error(values):.3f}"


def compare(folder, splits, names):
    head = ["set", "examples", "columns", "positive", *WAYS, "trained for F1 - the better tuned rival"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ends = dict.fromkeys(WAYS, 0)
    for name in names:
        X, y = load(folder, *SETS[name])
        began = process_time()
        runs = [one_split(X, y, SETS[name][1], seed) for seed in range(splits)]
        f1 = {way: np.array([run[way][0] for run in runs]) for way in WAYS}
        for way in WAYS:
            ends[way] += sum(run[way][1] for run in runs)
        rival = max(PEERS, key=lambda way: f1[way].mean())
        row = [name, str(y.size), str(X.shape[1]), f"{100 * y.mean():.1f} %"]
        row += [cell(f1[way]) for way in WAYS] + [f"{cell(f1['trained for F1'] - f1[rival])} ({rival})"]
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], f"{process_time() - began:.0f} s", flush=True)
    return lines, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    args = parser.parse_args()
    warnings.simplefilter("ignore", TrivialSolution)  # at the smallest C, which are then not chosen
    began = process_time()
    lines, ends = compare(args.data, args.splits, args.sets)
    if args.sets != list(SETS):
        return
    page = [
        "# F1 on new data",
        "",
        f"Python {platform.python_version()}, NumPy {version('numpy')}, scikit-learn {version('scikit-learn')}, "
        f"{platform.machine()}; {args.splits} splits, {process_time() - began:.0f} s of one core; "
        f"`python benchmarks/imbalanced.py DATA_DIR --splits {args.splits}`.",
        "",
        __doc__[__doc__.index("A split is") : __doc__.index(" Writes")].rstrip(),
        "",
        *lines,
        "",
        f"C is a power of ten from {CS[0]:g} to {CS[-2]:g}, for the SVM and the logistic regression to {CS[-1]:g}, "
        f"which costs them little. An end of the grid was chosen in so many of {args.splits * len(SETS)} splits: "
        + "; ".join(f"{way}: {count}" for way, count in ends.items())
        + ".",
        "",
    ]
    (RESULTS / "imbalanced.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()

"""An imbalanced set: training for F1 against a threshold tuned for F1.

    python docs/gallery/imbalanced.py

The digit 8 against the others (one in ten), scikit-learn's bundled images with noise added. Three models, each at the
same values of C: `MultivariateSVC("f1")`, which trains for F1, and `LinearSVC` and `LogisticRegression`, whose
threshold is then chosen for F1 on the training set. C is chosen by F1 on a validation set, and F1 on a test set is
reported, over ten random splits. Writes imbalanced.svg, F1 on the test sets against C, and prints the table of
imbalanced.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.model_selection import train_test_split

from minorant import LinearSVC, LogisticRegression, MultivariateSVC

HERE = Path(__file__).parent
MODELS = {
    "trained for F1": lambda C: MultivariateSVC("f1", C=C),
    "SVM, threshold for F1": lambda C: LinearSVC(C=C),
    "logistic, threshold for F1": lambda C: LogisticRegression(C=C),
}


def data(seed=0):
    X, digit = load_digits(return_X_y=True)
    return X / 16 + 0.4 * np.random.default_rng(seed).normal(size=X.shape), (digit == 8).astype(int)


def best_threshold(y, scores):
    precision, recall, thresholds = precision_recall_curve(y, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return thresholds[f1[:-1].argmax()]


def run(Cs, splits):
    """F1 on the validation and the test set: models × splits × values of C."""
    X, y = data()
    found = np.empty((2, len(MODELS), splits, len(Cs)))
    for split in range(splits):
        rest, test = train_test_split(np.arange(y.size), test_size=0.4, stratify=y, random_state=split)
        train, valid = train_test_split(rest, test_size=0.3, stratify=y[rest], random_state=split)
        for m, make in enumerate(MODELS.values()):
            for c, C in enumerate(Cs):
                model = make(C).fit(X[train], y[train])
                at = 0.0 if m == 0 else best_threshold(y[train], model.decision_function(X[train]))
                for part, rows in enumerate((valid, test)):
                    found[part, m, split, c] = f1_score(y[rows], model.decision_function(X[rows]) >= at)
    return found


def table(found):
    """Test F1 at the C that is best on the validation set: the mean over splits, and its standard error."""
    chosen = np.take_along_axis(found[1], found[0].argmax(axis=-1)[..., None], axis=-1)[..., 0]
    lines = ["| model | F1, test sets | standard error |", "|---|---|---|"]
    for name, values in zip(MODELS, chosen, strict=True):
        lines.append(f"| {name} | {values.mean():.3f} | {values.std(ddof=1) / np.sqrt(values.size):.3f} |")
    return "\n".join(lines)


def plot(found, Cs, path):
    import matplotlib as mpl  # noqa: PLC0415 - the test of the page does without

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "minorant"
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, values in zip(MODELS, found[1], strict=True):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axes.errorbar(Cs, values.mean(axis=0), error, marker="o", capsize=3, label=name)
    axes.set(xscale="log", xlabel="C", ylabel="F1 on the test sets")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    args = parser.parse_args()
    Cs = np.logspace(-3, 1, 9)
    found = run(Cs, args.splits)
    plot(found, Cs, HERE / "imbalanced.svg")
    print(table(found))


if __name__ == "__main__":
    main()

"""Which smoothing scheme and which solver wins where: products and seconds to a certified gap, on real data.

    python benchmarks/schemes.py DATA_DIR

DATA_DIR has one folder a set, with LIBSVM text in it (.xz, .gz, .bz2 or plain). The linear SVM with a free bias;
text counts become unit-row tf-idf, other columns are scaled to [-1, 1]. Writes results/schemes.md and
results/schemes.svg.
"""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler

from minorant import Problem, kernels, solve
from minorant.io import load_svmlight
from minorant.losses import Hinge
from minorant.regularizers import L2

RESULTS = Path(__file__).parent / "results"
GAPS = (1e-2, 1e-3, 1e-4, 1e-6)
SETS = {  # name: (file, kind)
    "phishing": ("phishing/phishing.xz", "dense"),
    "svmguide1": ("svmguide1/svmguide1.xz", "dense"),
    "a9a": ("a9a/a9a.xz", "sparse"),
    "mushrooms": ("mushrooms/mushrooms.xz", "sparse"),
    "reuters": ("reuters_moneyfx/reuters.trn.xz", "text"),
    "svmlight_example1": ("svmlight_example1/train.xz", "text"),
    "sms_spam": ("sms_spam/sms_counts.xz", "counts"),
    "leukemia": ("leukemia/leukemia.train.xz", "p ≫ n"),
    "colon_cancer": ("colon_cancer/colon_cancer.xz", "p ≫ n"),
}
SCHEMES = {
    "primal, ∞-memory": {"smoothing": "primal", "solver": "agm-inf"},
    "primal, 1-memory": {"smoothing": "primal", "solver": "agm-1"},
    "dual, ∞-memory": {"smoothing": "dual", "solver": "agm-inf"},
    "dual, 1-memory": {"smoothing": "dual", "solver": "agm-1"},
    "none, ∞-memory": {"smoothing": "none", "solver": "agm-inf"},
    "none, 1-memory": {"smoothing": "none", "solver": "agm-1"},
    "decreasing (excessive gap)": {"smoothing": "decreasing"},
    "Newton's method": {"solver": "newton"},
    "default": {},
}


def load(path, kind):
    X, y = load_svmlight(path)
    y = np.where(y == y.max(), 1.0, -1.0)
    if kind == "counts":
        counts = sp.csr_array(X)
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        counts.data = (1 + np.log(counts.data)) * np.log(counts.shape[0] / np.maximum(frequency, 1))[counts.indices]
        norms = np.sqrt(counts.multiply(counts).sum(axis=1))
        return sp.csr_array(sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ counts), y
    if kind == "text":
        return X, y
    X = MaxAbsScaler().fit_transform(X)
    return (X.toarray() if kind != "sparse" else sp.csr_array(X)), y


def first(trace, gap):
    """Products and seconds when the relative gap was first this small, or None."""
    for p in trace:
        if p.primal - p.dual <= gap * p.primal:
            return p.products, p.seconds
    return None


def cell(hit):
    return "–" if hit is None else f"{hit[0]} / {hit[1]:.2f}"


def measure(X, y, C, options, seconds):
    problem = Problem(Hinge(y), X, L2(1 / (C * y.size)), threads=1)
    result = solve(problem, tol=GAPS[-1], max_iter=1_000_000, max_time=seconds, **options)
    return result.trace, [first(result.trace, gap) for gap in GAPS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a run")
    args = parser.parse_args()
    assert kernels.native
    lines = [
        "# Smoothing schemes and solvers",
        "",
        f"`python benchmarks/schemes.py DATA_DIR --seconds {args.seconds:g}` on {platform.machine()}, 1 thread, "
        f"Python {platform.python_version()}, minorant {version('minorant')}, numpy {version('numpy')}.",
        "Linear SVM with a free bias. The last two rows are no schemes of the paper: the default is dual coordinates, "
        "then Newton's method, and a step of conjugate gradients or a sweep counts two products. A cell is "
        "products with A or Aᵀ / seconds to the relative gap; –: not reached.",
        "",
    ]
    curves, wins = {}, {gap: dict.fromkeys(SCHEMES, 0) for gap in GAPS}
    for name, (file, kind) in SETS.items():
        X, y = load(args.data / file, kind)
        for C in (0.01, 1.0, 100.0):
            lines += [
                f"## {name} ({kind}, n = {X.shape[0]}, p = {X.shape[1]}), C = {C:g}",
                "",
                "| scheme | " + " | ".join(f"{gap:.0e}" for gap in GAPS) + " |",
                "|---" * (1 + len(GAPS)) + "|",
            ]
            hits = {}
            for scheme, options in SCHEMES.items():
                trace, hits[scheme] = measure(X, y, C, options, args.seconds)
                curves[name, C, scheme] = trace
                lines.append(f"| {scheme} | " + " | ".join(map(cell, hits[scheme])) + " |")
                print(lines[-1], flush=True)
            lines.append("")
            for k, gap in enumerate(GAPS):
                reached = {s: h[k][0] for s, h in hits.items() if h[k] is not None and "smoothing" in SCHEMES[s]}
                if reached:
                    wins[gap][min(reached, key=reached.get)] += 1
    lines += [
        "## Fewest products",
        "",
        "| scheme | " + " | ".join(f"{gap:.0e}" for gap in GAPS) + " |",
        "|---" * (1 + len(GAPS)) + "|",
        *(
            f"| {s} | " + " | ".join(map(str, (wins[gap][s] for gap in GAPS))) + " |"
            for s in SCHEMES
            if SCHEMES[s].get("smoothing")
        ),
        "",
        "![gap over products](schemes.svg)",
        "",
    ]
    (RESULTS / "schemes.md").write_text("\n".join(lines))
    plot(curves)


def thinned(trace):
    """Some sixty points of a trace, evenly spread on the logarithmic axis."""
    if not trace:
        return trace
    picks = np.unique(np.geomspace(1, len(trace), 60).astype(int)) - 1
    return [trace[k] for k in picks]


def plot(curves):
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    names = list(dict.fromkeys(name for name, _, _ in curves))
    figure, axes = plt.subplots(3, len(names), figsize=(3 * len(names), 8), sharey=True, squeeze=False)
    for j, name in enumerate(names):
        for i, C in enumerate((0.01, 1.0, 100.0)):
            ax = axes[i, j]
            for scheme in SCHEMES:
                trace = thinned(curves[name, C, scheme])
                ax.loglog([p.products for p in trace], [(p.primal - p.dual) / p.primal for p in trace], label=scheme)
            ax.set(title=f"{name}, C = {C:g}", ylim=(1e-7, 2))
    axes[0, 0].legend(fontsize=6)
    figure.supxlabel("products with the data")
    figure.supylabel("relative gap")
    figure.tight_layout()
    figure.savefig(RESULTS / "schemes.svg")


if __name__ == "__main__":
    main()

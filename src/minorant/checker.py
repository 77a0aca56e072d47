"""Check a linear SVM and its proof of optimality, with NumPy and the standard library alone.

    python checker.py MODEL DATA [--tol TOL]

For weights c_i ≥ 0 that sum to 1 and labels y_i = ±1 the model claims to minimize

    J(w, b) = lam/2 |w|² + Σ c_i max(0, 1 - y_i (⟨x_i, w⟩ + b)).

Why nothing is lower than D: if 0 ≤ α_i ≤ c_i, then c_i max(0, m) ≥ α_i m for every number m, so for every (w, b)

    J(w, b) ≥ lam/2 |w|² + Σ α_i (1 - y_i ⟨x_i, w⟩ - y_i b) ≥ Σ α_i - |Σ α_i y_i x_i|² / (2 lam) - b ⟨y, α⟩.

With ⟨y, α⟩ = 0 (or no b) the last term goes, and D(α) is the rest. What rounding leaves of ⟨y, α⟩ is charged to D: at
the optimum |b| ≤ 1 + max |x_i| |w| and |w| ≤ sqrt(2 J / lam). Nothing here is taken from the program that fitted.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import lzma
import math
import sys
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

ROUNDING = 1e-9  # relative: what two orders of summation may differ by


class Unusable(ValueError):
    """A file that cannot be checked: it is damaged, or model and data do not belong together."""


@dataclass(frozen=True)
class Verdict:
    """J and D recomputed, and what is wrong with the point that is to prove them (nothing, one hopes)."""

    primal: float
    dual: float
    problems: list[str]

    @property
    def gap(self) -> float:
        """The solution is at most this far above the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of J."""
        return self.gap / self.primal if self.primal > 0 else (0.0 if self.gap <= 0 else math.inf)


def check_hinge(
    X: Any, y: Any, w: Any, b: float, alpha: Any, lam: float, c: Any, free_bias: bool, rounding: float = ROUNDING
) -> Verdict:
    """Recompute J(w, b) and D(alpha) for labels y of ±1; X is anything with `X @ w`, `X.T @ a`, `abs(X)`, `X.shape`."""
    y, w, alpha, c = (np.asarray(v, dtype=np.float64) for v in (y, w, alpha, c))
    if not (c.min() >= 0 and abs(math.fsum(np.minimum(c, 2.0)) - 1.0) <= rounding):
        return Verdict(math.nan, math.nan, ["the weights must not be negative and must sum to 1"])
    problems = []
    if not free_bias and b != 0:
        problems.append(f"a model without intercept has the intercept {b:g}")

    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported below
        primal = 0.5 * lam * float(w @ w) + float(c @ np.maximum(0.0, 1.0 - y * (X @ w + b)))

    outside = np.maximum(alpha - c, -alpha)
    if outside.max() > rounding * c.max():
        i = int(outside.argmax())
        problems.append(f"alpha of row {i + 1} is {alpha[i]:.6g}, outside of [0, {c[i]:.6g}]")
    alpha = np.clip(alpha, 0.0, c)  # whatever the file says, the bound below is then a bound
    v = X.T @ (y * alpha)
    dual = float(alpha.sum()) - float(v @ v) / (2.0 * lam)
    if free_bias:
        off = abs(math.fsum(y * alpha))
        if off > rounding:
            problems.append(f"the positive and the negative alpha differ by {off:.3g}; a free intercept needs 0")
        longest = float((abs(X) @ np.ones(X.shape[1])).max())  # Σ_j |x_ij| ≥ |x_i|
        dual -= off * (1.0 + longest * math.sqrt(2.0 * primal / lam))
    if not (math.isfinite(primal) and math.isfinite(dual)):
        problems.append(f"J = {primal:g} and D = {dual:g} are not both finite")
    elif primal - dual < -rounding * (1.0 + primal):
        problems.append(f"J = {primal:.12g} is below its lower bound {dual:.12g}: this cannot be")
    return Verdict(primal, dual, problems)


def disagreements(verdict: Verdict, primal: float, dual: float, rounding: float = ROUNDING) -> list[str]:
    """What a claim about both sides of the gap says that the data do not."""
    scale = rounding * max(verdict.primal, abs(verdict.dual))
    pairs = (("J", primal, verdict.primal), ("lower bound", dual, verdict.dual))
    return [
        f"the claimed {name} is {claim:.12g}, but on these data it is {found:.12g}"
        for name, claim, found in pairs
        if not abs(claim - found) <= scale
    ]


class Triplets:
    """A matrix as lists of (row, column, value): all that is needed is its two products."""

    def __init__(self, rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.values, self.shape = rows, columns, values, shape

    def __matmul__(self, w: Any) -> Any:
        return np.bincount(self.rows, self.values * w[self.columns], minlength=self.shape[0])

    def __abs__(self) -> Triplets:
        return Triplets(self.rows, self.columns, np.abs(self.values), self.shape)

    @property
    def T(self) -> Triplets:
        """The transpose."""
        return Triplets(self.columns, self.rows, self.values, self.shape[::-1])


def read_data(path: str, n_features: int, zero_based: bool | None = None) -> tuple[Triplets, Any]:
    """The matrix and the labels of LIBSVM text; indices start at 1, unless index 0 appears or `zero_based` says."""
    openers = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
    with open(path, "rb") as file:
        opener: Any = openers.get(file.read(2), open)
    labels: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    number = 0
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 - an error names the line
                label, *features = line.split(b"#")[0].split() or [b""]
                if not label:
                    continue
                for feature in features:
                    index, value = feature.split(b":")
                    if index != b"qid":
                        rows.append(len(labels))
                        columns.append(int(index))
                        values.append(float(value))
                labels.append(float(label))
    except (ValueError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Unusable(f"{path}:{number or 1}: not LIBSVM text (`label index:value ...`): {error}") from None
    if not labels:
        raise Unusable(f"{path}: no rows")
    first = 0 if zero_based or (zero_based is None and 0 in columns) else 1
    if columns and not first <= min(columns) <= max(columns) < n_features + first:
        raise Unusable(f"{path}: an index is out of range: the model has {n_features} features")
    j, x, y = np.array(columns, dtype=np.int64) - first, np.array(values, dtype=float), np.array(labels)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise Unusable(f"{path}: has a number that is not finite")
    return Triplets(np.array(rows, dtype=np.int64), j, x, (y.size, n_features)), y


def read_model(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the description of a model file."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _parse_model(content)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Unusable(f"{path}: not a usable model file: {type(error).__name__}: {error}") from None


def _parse_model(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Safetensors: 8 bytes with the length of a JSON header, the header, the arrays."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    about = json.loads(header.pop("__metadata__")["minorant"])
    if (about["format"], about["model"], about["loss"], about["penalty"]) != (1, "linear_svc", "hinge", "l2"):
        raise ValueError("not a linear SVM with hinge loss and squared norm")
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if not 0 <= first <= last <= len(content) - start:
            raise ValueError(f"{name} lies outside of the file")
        kind = {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]
        tensors[name] = np.frombuffer(content[start + first : start + last], kind).reshape(entry["shape"])
        if not np.isfinite(tensors[name]).all():
            raise ValueError(f"{name} has a number that is not finite")
    k = 1 if len(about["classes"]) == 2 else len(set(about["classes"]))
    n = tensors["alpha"].shape[-1]
    shapes = {"coef": (k, about["n_features"]), "intercept": (k,), "alpha": (k, n), "weights": (n,)}
    shapes = {name: shape for name, shape in shapes.items() if name in tensors or name != "weights"}
    if {name: t.shape for name, t in tensors.items()} != shapes or n < 1 or len(about["certificates"]) != k:
        raise ValueError("its arrays do not fit each other")
    numbers = [claim[side] for claim in about["certificates"] for side in ("primal", "dual")]
    if not all(math.isfinite(x) for x in [about["lam"], about.get("tol", 0.0), *numbers]) or about["lam"] <= 0:
        raise ValueError("lam, tol or a claim is out of range")
    return tensors, about


def check_model(tensors: dict[str, Any], about: dict[str, Any], X: Any, labels: Any) -> dict[str, Verdict]:
    """The verdict of each binary problem, by its name; what the file claims falsely is among its problems."""
    classes, n = about["classes"], tensors["alpha"].shape[1]
    if X.shape != (n, tensors["coef"].shape[1]):
        raise Unusable(
            f"the model was fitted to {(n, tensors['coef'].shape[1])} rows and columns, the data have {X.shape}"
        )
    strangers = set(np.asarray(labels).tolist()) - set(classes)
    if strangers:
        raise Unusable(f"the data have the label {min(strangers)!r}; the model knows {classes!r:.200}")
    c = tensors.get("weights", np.full(n, 1.0 / n))
    rounding = ROUNDING if tensors["coef"].dtype == np.float64 else 1e-5
    verdicts = {}
    for r, claim in enumerate(about["certificates"]):
        positive = classes[1] if len(classes) == 2 else classes[r]
        name = f"{classes[1]} against {classes[0]}" if len(classes) == 2 else f"{positive} against the rest"
        y = np.where(np.asarray(labels) == positive, 1.0, -1.0)
        w, b, alpha = tensors["coef"][r], float(tensors["intercept"][r]), tensors["alpha"][r]
        found = check_hinge(X, y, w, b, alpha, about["lam"], c, about["fit_intercept"], rounding)
        false = disagreements(found, claim["primal"], claim["dual"], rounding)
        verdicts[name] = Verdict(found.primal, found.dual, [*found.problems, *false])
    return verdicts


def judge(verdicts: dict[str, Verdict], tol: float) -> tuple[list[str], int]:
    """The verdicts in plain words, and the exit status: 0 proved within tol, 3 proved but wider, 2 a false claim."""
    lines, status = [], 0
    for name, v in verdicts.items():
        lines.append(f"{name}: J = {v.primal:.10g}, no model is below {v.dual:.10g}: relative gap {v.relative_gap:.3g}")
        lines += [f"    FALSE: {problem}" for problem in v.problems]
        if v.problems:
            status = 2
        elif not v.relative_gap <= tol and status == 0:
            status = 3
    lines.append(
        {
            0: f"CONFIRMED: every model is within {tol:g} (relative) of the best there is.",
            2: "REFUTED: the file claims what these data do not bear out.",
            3: f"TRUE, BUT WIDER: the bounds hold, but a gap is larger than {tol:g}.",
        }[status]
    )
    return lines, status


def check_files(
    model: str, data: str, tol: float | None = None, zero_based: bool | None = None
) -> tuple[list[str], int]:
    """Check the model in one file against the data in another."""
    tensors, about = read_model(model)
    X, labels = read_data(data, tensors["coef"].shape[1], zero_based)
    return judge(check_model(tensors, about, X, labels), float(about.get("tol", 1e-3)) if tol is None else tol)


def main() -> int:
    """The command `python checker.py MODEL DATA`."""
    parser = argparse.ArgumentParser(description="Check a linear SVM and its proof of optimality, with NumPy alone.")
    parser.add_argument("model")
    parser.add_argument("data", help="the LIBSVM text it was fitted to; plain, gz, bz2 or xz")
    parser.add_argument("--tol", type=float, help="relative gap asked for (default: what was asked of the fit)")
    args = parser.parse_args()
    try:
        lines, status = check_files(args.model, args.data, args.tol)
    except (Unusable, OSError) as error:
        print(f"checker: error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())

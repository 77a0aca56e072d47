"""Check a linear model and its proof of optimality, with NumPy alone: python checker.py MODEL DATA [--tol TOL].

For weights c_i ≥ 0 that sum to 1 the model claims to minimize J(w, b) = Ω(w) + Σ c_i loss(s_i, y_i) over w and b, with
scores s_i = ⟨x_i, w⟩ + b. Why nothing is lower than D: each loss is a maximum of affine functions, loss(s, y) ≥
gain(t, y) - t o s for every slope t it can have, with o = y for labels y = ±1 and o = -1 for targets. So for any slopes
t_i, with α_i = c_i t_i and v = Σ α_i o_i x_i,

    J(w, b) ≥ Ω(w) - ⟨v, w⟩ + Σ c_i gain(t_i, y_i) - b Σ α_i o_i ≥ Σ c_i gain(t_i, y_i) - Ω*(v) - b Σ α_i o_i,

where Ω*(v) is the maximum of ⟨v, w⟩ - Ω(w). With Σ α_i o_i = 0 (or no b) the last term goes, and D(α) is the rest.
Rounding: m terms, added in any order, are off by at most gamma(m) times the sum of their sizes. Carried to J and D, it
is a part of the gap found here, and a claim may differ by twice as much: its rounding, and ours.
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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Parts = dict[str, Any]
UNIT = 2.0**-53  # relative: what rounding changes of one result
FEW = 64  # more roundings than one formula below has, those of the elementary functions among them


class Unusable(ValueError):
    """A file that cannot be checked: it is damaged, or model and data do not belong together."""


@dataclass(frozen=True)
class Verdict:
    """J, D, what is wrong with the proof (nothing, one hopes), and what rounding may change of J and D at most."""

    primal: float
    dual: float
    problems: list[str]
    rounding: tuple[float, float] = (0.0, 0.0)

    @property
    def gap(self) -> float:
        return self.primal - self.dual + sum(self.rounding)

    @property
    def relative_gap(self) -> float:
        return self.gap / self.primal if self.primal > 0 else (0.0 if self.gap <= 0 else math.inf)


def gamma(m: Any) -> Any:
    """(1 + UNIT)^m - 1, or more: what m roundings, one after the other, change of a number."""
    return m * UNIT / (1.0 - m * UNIT)


def plogp(t: Any) -> Any:
    """t log t, and 0 for t = 0."""
    return t * np.log(np.where(t > 0, t, 1.0))


# name: loss(s, y), gain(t, y), and the slopes t that it has; labels y are ±1, the targets of "squared" any number
LOSSES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], tuple[float, float]]] = {
    "hinge": (lambda s, y: np.maximum(0.0, 1.0 - y * s), lambda t, _: t, (0.0, 1.0)),
    "squared_hinge": (lambda s, y: np.maximum(0.0, 1.0 - y * s) ** 2, lambda t, _: t - t * t / 4, (0.0, math.inf)),
    "smooth_hinge": (
        lambda s, y: np.where(y * s < 0, 0.5 - y * s, np.maximum(0.0, 1.0 - y * s) ** 2 / 2),
        lambda t, _: t - t * t / 2,
        (0.0, 1.0),
    ),
    "logistic": (
        lambda s, y: np.logaddexp(0.0, -y * s),
        lambda t, _: -plogp(t) - (1.0 - t) * np.log1p(-np.minimum(t, 1.0 - UNIT)),  # precise where t is tiny
        (0.0, 1.0),
    ),
    "squared": (lambda s, y: (s - y) ** 2, lambda t, y: -y * t - t * t / 4, (-math.inf, math.inf)),
}

# the same for losses with a parameter, which the claim has
FAMILIES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "epsilon_insensitive": lambda claim: (
        lambda s, y: np.maximum(0.0, np.abs(s - y) - claim["epsilon"]),
        lambda t, y: -y * t - claim["epsilon"] * np.abs(t),
        (-1.0, 1.0),
    ),
    "quantile": lambda claim: (
        lambda s, y: np.maximum((1.0 - claim["quantile"]) * (s - y), claim["quantile"] * (y - s)),
        lambda t, y: -y * t,
        (-claim["quantile"], 1.0 - claim["quantile"]),
    ),
}
TARGETS = ("squared", *FAMILIES)
RANGES = {
    "epsilon_insensitive": {"epsilon": (0.0, 1e300)},
    "quantile": {"quantile": (1e-12, 1.0 - 1e-12)},
    "elasticnet": {"l1_ratio": (0.0, 1.0)},
    "elasticnet_ball": {"radius": (1e-300, 1e300), "gamma": (0.0, 1e300)},
}


def _ball_support(v: Any, radius: float, gamma: float) -> float:
    """A bound of ⟨v, w⟩ where gamma |w|₁ + |w|²/2 ≤ radius: the Lagrangian Σ [|v_i| - h gamma]₊² / 2h + h radius for
    any h > 0, and the maximum at h = the greatest of (Σ v_i² / (2 radius + m gamma²))^½ over the m largest entries.
    """
    a = np.sort(np.abs(v))[::-1]
    h = math.sqrt((np.cumsum(a * a) / (2.0 * radius + gamma**2 * np.arange(1, a.size + 1))).max())
    return float((np.maximum(0.0, a - h * gamma) ** 2).sum()) / (2.0 * h) + h * radius if h > 0 else 0.0


# name: Ω(w) and Ω*(v), for a strength lam and a share r of the L1 norm
PENALTIES: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "l2": (lambda w, lam, _: 0.5 * lam * float(w @ w), lambda v, lam, _: float(v @ v) / (2.0 * lam)),
    "l1": (lambda w, lam, _: lam * float(abs(w).sum()), lambda v, lam, _: 0.0 if abs(v).max() <= lam else math.inf),
    "elasticnet": (
        lambda w, lam, r: lam * float(r * np.abs(w).sum() + 0.5 * (1.0 - r) * (w @ w)),
        lambda v, lam, r: float((np.maximum(0.0, np.abs(v) - lam * r) ** 2).sum()) / (2.0 * lam * (1.0 - r)),
    ),
    "elasticnet_ball": (  # for its radius and gamma, in the place of lam and r
        lambda w, h, g: 0.0 if g * np.abs(w).sum() + 0.5 * (w @ w) <= h * (1.0 + gamma(w.size + FEW)) else math.inf,
        _ball_support,
    ),
}


def penalty(claim: Mapping[str, Any]) -> tuple[Callable[[Any], float], Callable[[Any], float]]:
    """Ω(w) and Ω*(v); an elastic net without one of its parts is the other."""
    r = claim.get("l1_ratio", 0.0)
    pure = {0.0: "l2", 1.0: "l1"}.get(r, "elasticnet") if claim["penalty"] == "elasticnet" else claim["penalty"]
    omega, conjugate = PENALTIES[pure]
    strength = (claim["radius"], claim["gamma"]) if pure == "elasticnet_ball" else (claim["lam"], r)
    return lambda w: omega(w, *strength), lambda v: conjugate(v, *strength)


def check_linear(
    X: Any, y: Any, w: Any, b: float, alpha: Any, c: Any, claim: Mapping[str, Any], unit: float = 0.0
) -> Verdict:
    """Recompute J(w, b) and D(alpha); X is an array or `Triplets`, and known up to `unit`, relative.

    `claim` has `loss`, `penalty`, `fit_intercept`, `lam` (and `l1_ratio`) or, of the ball, `radius` and `gamma`; and
    the `epsilon` or `quantile` of the loss.
    """
    y, w, alpha, c = (np.asarray(v, dtype=np.float64) for v in (y, w, alpha, c))
    name = claim["loss"]
    loss, gain, (low, high) = FAMILIES[name](claim) if name in FAMILIES else LOSSES[name]
    if not (c.min() >= 0 and abs(math.fsum(np.minimum(c, 2.0)) - 1.0) <= gamma(c.size + FEW)):
        return Verdict(math.nan, math.nan, ["the weights must not be negative and must sum to 1"])
    problems = [] if claim["fit_intercept"] or b == 0 else [f"a model without intercept has the intercept {b:g}"]
    o, size = (-1.0, np.abs(y)) if name in TARGETS else (y, np.ones(y.size))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported below
        scores, blur = product(X, w, unit)
        scores, blur = scores + b, blur + (gamma(5) + unit) * (abs(b) + size)
        each = loss(scores, y)
        primal = penalty(claim)[0](w) + float(c @ each)
        worst = (
            np.maximum(loss(scores + blur, y), loss(scores - blur, y)) - each
        )  # a convex loss changes most at an end
        lost = float(c @ worst) + gamma(c.size + w.size + FEW) * primal
    t = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
    outside = np.where(c > 0, np.maximum(t - high, low - t) / np.maximum(1.0, np.abs(t)), np.abs(alpha))
    if not outside.max() <= gamma(FEW):
        i = int(outside.argmax())
        problems.append(f"alpha of row {i + 1} is {alpha[i]:.6g}, outside of [{low * c[i]:.6g}, {high * c[i]:.6g}]")
    t = np.clip(t, low, high)  # whatever the file says, the bound below is then a bound
    toward, gains = c * t * o, c * gain(t, y)
    if claim["fit_intercept"]:
        off, total = abs(math.fsum(toward)), float(np.abs(toward).sum())
        if not off <= gamma(c.size + FEW) * total:
            problems.append(f"the alpha of both directions differ by {off:.3g}; a free intercept needs 0")
        unit += 2.0 * (off / max(total, 1e-300) + UNIT)  # with one direction this much smaller, they are equal
    sizes = float(np.abs(gains).sum() + np.abs(toward) @ (size + np.abs(t)))
    dual, slack = lower_bound(gains, sizes, *product(X.T, toward, unit), unit, claim)
    return bounds(primal, dual, problems, (lost, slack))


def lower_bound(gains: Any, sizes: float, v: Any, blur: Any, unit: float, claim: Mapping[str, Any]) -> Any:
    """Σ gains - Ω*(v), and what rounding may change of it, where v is off by `blur`, and α by `unit`, relative.

    Where Ω*(v) is infinite, it is not for a part of v: D is concave and D(0) = 0, so that part of the gains is proved.
    """
    sides, conjugate = [], penalty(claim)[1]
    for a in (np.abs(v), np.abs(v) + blur):
        part = 1.0 if conjugate(a) < math.inf else (1.0 - gamma(4)) * claim["lam"] / float(a.max())
        sides.append((part * float(gains.sum()), conjugate(part * a)))
    (gain, cost), (least, most) = sides
    rounded = (gamma(gains.size + v.size + FEW) + unit) * (sizes + most)
    return gain - cost, abs(gain - least) + (most - cost) + rounded


def bounds(primal: float, dual: float, problems: list[str], rounding: tuple[float, float]) -> Verdict:
    """The verdict, with what is wrong with the two numbers themselves."""
    verdict = Verdict(primal, dual, problems, rounding)
    if not (math.isfinite(primal) and math.isfinite(dual) and math.isfinite(verdict.gap)):
        problems.append(f"J = {primal:g} and D = {dual:g} are not both finite")
    elif verdict.gap < 0:
        problems.append(f"J = {primal:.12g} is below its lower bound {dual:.12g}: this cannot be")
    return verdict


def disagreements(verdict: Verdict, primal: float, dual: float) -> list[str]:
    """What a claim about both sides of the gap says that the data do not."""
    pairs = (("J", primal, verdict.primal), ("lower bound", dual, verdict.dual))
    return [
        f"the claimed {name} is {claim:.17g}, but on these data it is {found:.17g}, within {rounding:.2g}"
        for (name, claim, found), rounding in zip(pairs, verdict.rounding, strict=True)
        if not abs(claim - found) <= 2.0 * rounding
    ]


class Triplets(NamedTuple):
    """A matrix as lists of (row, column, value): all that is needed is its two products."""

    rows: Any
    columns: Any
    values: Any
    shape: tuple[int, int]

    @property
    def T(self) -> Triplets:
        return Triplets(self.columns, self.rows, self.values, self.shape[::-1])


def product(X: Any, w: Any, unit: float = 0.0) -> tuple[Any, Any]:
    """X w, and what rounding, with `unit` more of every term, may change of it; there is room for three operations."""
    if isinstance(X, Triplets):
        each = X.values * w[X.columns]
        value, size, terms = (np.bincount(X.rows, a, X.shape[0]) for a in (each, np.abs(each), each != 0))
        return value, (gamma(terms + 5.0) + unit) * size
    return X @ w, (gamma(np.count_nonzero(w) + 5.0) + unit) * (abs(X) @ np.abs(w))


def read_data(path: str, n_features: int, zero_based: bool | None = None) -> tuple[Triplets, Any]:
    """The matrix and the labels of LIBSVM text; indices start at 1, unless index 0 appears or `zero_based` says."""
    openers = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
    with open(path, "rb") as file:
        opener: Any = openers.get(file.read(2), open)
    labels, rows, columns, values, number = list[float](), list[int](), list[int](), list[float](), 0
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


def read_model(path: str) -> tuple[Parts, Parts]:
    """The arrays and the description of a model file."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _parse_model(content)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Unusable(f"{path}: not a usable model file: {type(error).__name__}: {error}") from None


def _parse_model(content: bytes) -> tuple[Parts, Parts]:
    """Safetensors: 8 bytes with the length of a JSON header, the header, the arrays."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    about = json.loads(header.pop("__metadata__")["minorant"])
    if about["format"] != 1:
        raise ValueError(f"format {about['format']!r:.20}; only 1 is known")
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if not 0 <= first <= last <= len(content) - start:
            raise ValueError(f"{name} lies outside of the file")
        kind = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "U8": "|u1"}[entry["dtype"]]
        tensors[name] = np.frombuffer(content[start + first : start + last], kind).reshape(entry["shape"])
        if not np.isfinite(tensors[name]).all():
            raise ValueError(f"{name} has a number that is not finite")
    numbers = [claim[side] for claim in about["certificates"] for side in ("primal", "dual")]
    k = tensors["coef"].shape[0]
    fits = tensors["coef"].shape == (k, about["n_features"]) and tensors["intercept"].shape == (k,)
    if not fits or not all(map(math.isfinite, [about["lam"], about.get("tol", 0.0), *numbers])) or about["lam"] <= 0:
        raise ValueError("its arrays do not fit each other, or lam, tol or a claim is out of range")
    if about.get("loss") in (*LOSSES, *FAMILIES):
        _check_parts(tensors, about, k)
    return tensors, about


def _check_parts(tensors: Parts, about: Parts, k: int) -> None:
    """What a model with one score for each example must have."""
    rows = 1 if about["loss"] in TARGETS or len(about["classes"]) == 2 else len(set(about["classes"]))
    n = tensors["alpha"].shape[-1]
    shapes = {"alpha": (k, n), "weights": (n,), "coef": tensors["coef"].shape, "intercept": (k,)}
    fits = all(tensor.shape == shapes.get(name) for name, tensor in tensors.items())
    if not fits or k != rows or n < 1 or len(about["certificates"]) != k:
        raise ValueError("its arrays do not fit each other")
    for which in (about["loss"], about["penalty"]):
        for name, (low, high) in RANGES.get(which, {}).items():
            if not low <= about[name] <= high:
                raise ValueError(f"{name} = {about[name]!r:.40} is out of range")
    penalty({"fit_intercept": about["fit_intercept"], **about})  # a name that is missing or not known raises here


def check_problems(
    tensors: Parts, about: Parts, X: Any, labels: Any, n: int, check: Callable[[int, Any, float], Verdict]
) -> dict[str, Verdict]:
    """By name, check(r, y, unit) of each problem, for labels y = ±1 or targets, and what is claimed falsely."""
    classes, shape = about.get("classes") or [], (n, tensors["coef"].shape[1])
    if X.shape != shape:
        raise Unusable(f"the model was fitted to {shape} rows and columns, the data have {X.shape}")
    if classes and (strangers := set(np.asarray(labels).tolist()) - set(classes)):
        raise Unusable(f"the data have the label {min(strangers)!r}; the model knows {classes!r:.200}")
    unit = 0.0 if tensors["coef"].dtype == np.float64 else 2.0**-24  # what was fitted were the data in float32
    verdicts = {}
    for r, claim in enumerate(about["certificates"]):
        name, y = str(about.get("loss")), labels  # of targets, or of all classes together
        if len(classes) == 2 or len(about["certificates"]) > 1:
            positive = classes[1] if len(classes) == 2 else classes[r]
            name = f"{positive} against {classes[0] if len(classes) == 2 else 'the rest'}"
            y = np.where(np.asarray(labels) == positive, 1.0, -1.0)
        found = check(r, y, unit)
        false = disagreements(found, claim["primal"], claim["dual"])
        verdicts[name] = replace(found, problems=[*found.problems, *false])
    return verdicts


def check_model(tensors: Parts, about: Parts, X: Any, labels: Any) -> dict[str, Verdict]:
    """The verdict of each problem of a model with one score for each example, by its name."""
    if about.get("loss") not in (*LOSSES, *FAMILIES):
        raise Unusable(f"{about['model']!r:.40} is not checked by this file alone; use `minorant certify MODEL DATA`")
    alpha, coef, b = (tensors[name] for name in ("alpha", "coef", "intercept"))
    c = tensors.get("weights", np.full(alpha.shape[1], 1.0 / alpha.shape[1]))

    def check(r: int, y: Any, unit: float) -> Verdict:
        return check_linear(X, y, coef[r], float(b[r]), alpha[r], c, about, unit)

    return check_problems(tensors, about, X, labels, c.size, check)


def judge(verdicts: dict[str, Verdict], tol: float) -> tuple[list[str], int]:
    """The verdicts in plain words, and the exit status: 0 proved within tol, 3 proved but wider, 2 a false claim."""
    lines, status = [], 0
    for name, v in verdicts.items():
        lines.append(f"{name}: J = {v.primal:.10g}, no model is below {v.dual:.10g}: relative gap {v.relative_gap:.3g}")
        lines += [f"    FALSE: {problem}" for problem in v.problems]
        if status != 2:
            status = 2 if v.problems else max(status, 0 if v.relative_gap <= tol else 3)
    summary = {
        0: f"CONFIRMED: every model is within {tol:g} (relative) of the best there is.",
        2: "REFUTED: the file claims what these data do not bear out.",
        3: f"TRUE, BUT WIDER: the bounds hold, but a gap is larger than {tol:g}.",
    }
    return [*lines, summary[status]], status


def check_files(model: str, data: str, tol: float | None = None) -> tuple[list[str], int]:
    """Check the model in one file against the data in another."""
    tensors, about = read_model(model)
    X, labels = read_data(data, tensors["coef"].shape[1])
    return judge(check_model(tensors, about, X, labels), float(about.get("tol", 1e-3)) if tol is None else tol)


def main() -> int:
    """The command `python checker.py MODEL DATA`."""
    parser = argparse.ArgumentParser(description="Check a linear model and its proof of optimality, with NumPy alone.")
    parser.add_argument("model")
    parser.add_argument("data", help="the LIBSVM text it was fitted to; plain, gz, bz2 or xz")
    parser.add_argument("--tol", type=float, help="relative gap asked for (default: what was asked of the fit)")
    try:
        lines, status = check_files(**vars(parser.parse_args()))
    except (Unusable, OSError) as error:
        print(f"checker: error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())

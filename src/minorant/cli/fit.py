"""`minorant fit`: data in, a certified model out."""

from __future__ import annotations

import errno
import os
import sys
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import minorant
from minorant.certificate import Status
from minorant.cli import CERTIFIED, NOT_CERTIFIED
from minorant.cli._models import MODELS, chosen
from minorant.cli._training import claim, names_of_problems, to_model, train
from minorant.cli._watch import Log, Watch
from minorant.errors import InputError
from minorant.io import load_data
from minorant.linear import Run
from minorant.machine import resolve_threads
from minorant.whole_sample import MeasureFit

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


def run(args: argparse.Namespace) -> int:
    """Fit, write the model, and say what is proved about it."""
    name, options = chosen(args)
    output = args.output or os.path.basename(os.path.normpath(args.data)) + ".model"
    check_limits(args)
    check_outputs(args.data, output, args.log)
    X, y = load_data(args.data, n_features=args.features, zero_based=True if args.zero_based else "auto")
    targets = MODELS[name].kind == "targets"
    if targets and args.w:
        raise InputError(f"-w is for the examples of a class; --model {name} has targets. Use --weights FILE")
    weight = sample_weights(y, args.w, args.weights)
    with Log(args.log) as log:
        log.write(_head(args, name, options, X, y, weight))
        names = names_of_problems(name, options, y, weight)
        began = perf_counter()
        with Watch(names, log, args.quiet) as watch:
            how = Run(
                tol=args.tol,
                solver=options.get("solver", "auto"),
                smoothing=options.get("smoothing", "auto"),
                max_iter=args.max_iter,
                max_time=args.max_time,
                callback=watch,
                threads=resolve_threads(args.threads),
            )
            fit = train(name, options, X, y, weight, not args.no_intercept, how)
            seconds = perf_counter() - began
            to_model(name, fit, args.tol).save(output)  # inside: a late Ctrl-C must not lose it
        claims = [{"class": r, **claim(c)} for r, c in enumerate(fit.certificates)]
        log.write({"seconds": seconds, "certificates": claims})
    if log.error is not None:
        print(f"minorant: warning: {args.log} ends early: {log.error.strerror}", file=sys.stderr)
    if isinstance(fit, MeasureFit):
        _tell_trivial(names, fit, args.tol)
    if not args.quiet:
        found = "targets" if targets else f"{fit.classes.size} classes"
        print(f"{args.data}: {X.shape[0]} rows, {X.shape[1]} features, {found}; {seconds:.2f} s")
        for problem, c in zip(names, fit.certificates, strict=True):
            print(f"{problem}: {c}")
        print(f"Model: {output}")
    certified = all(c.status is Status.CERTIFIED for c in fit.certificates)
    return CERTIFIED if certified else NOT_CERTIFIED


def _head(
    args: argparse.Namespace, name: str, options: dict[str, Any], X: Any, y: Vector, weight: Vector | None
) -> dict[str, Any]:
    """The first line of the log."""
    head = {
        "minorant": minorant.__version__,
        "arguments": {k: v for k, v in vars(args).items() if k != "command"} | options,
        "model": name,
        "rows": X.shape[0],
        "features": X.shape[1],
    }
    if MODELS[name].kind != "targets":
        head["classes"] = np.unique(y).tolist()
    if "c" in options:
        total = options["c"] * float(y.size if weight is None else weight.sum())
        head["lam"] = 1.0 / total if total > 0 else None
    return head


def _tell_trivial(names: list[str], fit: MeasureFit, tol: float) -> None:
    """Warn where w = 0 is the best model: every example has the same score then."""
    for name, c in zip(names, fit.certificates, strict=True):
        if c.trivial - c.dual <= tol * abs(c.trivial):
            print(
                f"minorant: warning: {name}: w = 0 is the best model for {c.measure}, up to tol: its J is "
                f"{c.trivial:.6g}, and no model is below {c.dual:.6g}. Try a larger -c; if it does not help, the "
                "classes overlap too much for this loss",
                file=sys.stderr,
            )


def check_limits(args: argparse.Namespace) -> None:
    """Refuse limits that no fit can keep."""
    if not (isfinite(args.tol) and args.tol >= 0):
        raise InputError(f"tol must be a finite number >= 0; got {args.tol}")
    if args.max_iter < 1:
        raise InputError(f"max_iter must be at least 1; got {args.max_iter}")
    if args.max_time is not None and not args.max_time > 0:
        raise InputError(f"max_time must be positive seconds; got {args.max_time}")


def check_outputs(data: str, output: str | None, log: str | None = None) -> None:
    """Refuse what cannot be written, or would destroy the data, before the work and not after it.

    A log may be a device or a pipe; the output is replaced as a whole, so that it must be a file.
    """
    outputs = (output, log)
    if output is not None and os.path.exists(output) and not os.path.isdir(output) and not os.path.isfile(output):
        raise FileExistsError(errno.EEXIST, "exists and is not a regular file", output)
    places = [os.path.realpath(path) for path in outputs if path is not None]
    if os.path.realpath(data) in places:
        raise InputError(f"{data} would be overwritten; choose another output")
    if len(set(places)) < len(places):
        raise InputError(f"two outputs have the same name: {places[0]}")
    for place in places:
        folder = os.path.dirname(place)
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "no such directory", folder)
        if os.path.isdir(place):
            raise IsADirectoryError(errno.EISDIR, "is a directory", place)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "the directory cannot be written to", folder)


def sample_weights(y: Vector, classes: list[str], path: str | None) -> Vector | None:
    """The weight of each example: that of its class times its own; None where neither is given."""
    if not classes and path is None:
        return None
    weight = np.ones(y.size) if path is None else _read_weights(path, y.size)
    for word in classes:
        label, _, number = word.partition("=")
        try:
            value, factor = float(label), float(number)
        except ValueError:
            raise InputError(f"-w takes LABEL=WEIGHT, such as -w 1=2.5; got {word!r}") from None
        if value not in y:
            raise InputError(f"-w {word}: no example has the label {label}; there are {np.unique(y).tolist()!r:.200}")
        weight[y == value] *= factor
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("weights must be finite and not negative")
    return weight


def _read_weights(path: str, n: int) -> Vector:
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    values = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(float(line))
        except ValueError:
            raise InputError(f"{path}:{number}: expected a number, got {line[:40]!r}") from None
    if len(values) != n:
        raise InputError(f"{path}: {len(values)} weights, but the data have {n} rows")
    return np.array(values)

"""`minorant certify`: the checkers on files. They share no code with what fitted, but for the cache of a data set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from minorant import checker
from minorant.checker_models import check_any
from minorant.errors import InputError

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Print the verdict of the checker; its exit status is ours."""
    try:
        lines, status = _check(args)
    except checker.Unusable as error:
        raise InputError(str(error)) from None
    if not args.quiet:
        print("\n".join(lines))
    return status


def _check(args: argparse.Namespace) -> tuple[list[str], int]:
    tensors, about = checker.read_model(args.model)
    n_features = tensors["coef"].shape[1]
    if os.path.isdir(args.data):
        from minorant.io import load_data  # noqa: PLC0415 - SciPy, for a cache only

        X, labels = load_data(args.data, n_features=n_features)
    else:
        X, labels = checker.read_data(args.data, n_features, True if args.zero_based else None)
    tol = float(about.get("tol", 1e-3)) if args.tol is None else args.tol
    return checker.judge(check_any(tensors, about, X, labels), tol)

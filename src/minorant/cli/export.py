"""`minorant export`: a model for programs that read LIBLINEAR's format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minorant.cli import CERTIFIED
from minorant.cli.fit import check_outputs
from minorant.io import load_fitted, save_liblinear

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Write the coefficients; the proof stays in the model file."""
    check_outputs(args.model, args.output)
    save_liblinear(args.output, load_fitted(args.model))
    return CERTIFIED

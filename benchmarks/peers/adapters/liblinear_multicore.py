"""Multi-core LIBLINEAR, with two threads or more. Its module has LIBLINEAR's name: install it apart, with
`pip install --no-deps --target FOLDER liblinear-multicore`, and name the folder in LIBLINEAR_MULTICORE.
"""

from __future__ import annotations

import os
import sys

FOLDER = os.environ.get("LIBLINEAR_MULTICORE")
if not FOLDER:
    raise ImportError("LIBLINEAR_MULTICORE names no folder")
sys.path.insert(0, FOLDER)

from . import liblinear  # noqa: E402

PACKAGE = "liblinear-multicore"


def offers(problem, shape, threads):
    return liblinear.offers(problem, shape, threads, "mc") if threads > 1 else []


def fit(name, X, y, problem, level, threads, cap):
    return liblinear.fit(name, X, y, problem, level, threads, cap, f"-m {threads}")

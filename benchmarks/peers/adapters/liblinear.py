"""LIBLINEAR. `-R` frees the bias of its primal Newton methods; the dual ones penalize it."""

from __future__ import annotations

import ctypes

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, train
from liblinear.liblinearutil import problem as Data

from . import Offer, Solution, powers

PACKAGE = "liblinear-official"
SOLVERS = {  # family: (number, levels, whether it can leave the bias free)
    "hinge": ((3, powers(0, -7), False),),
    "squared_hinge": ((1, powers(0, -7), False), (2, powers(-1, -8), True)),
    "logistic": ((0, powers(-1, -8), True), (7, powers(0, -7), False)),
    "l1_logistic": ((6, powers(-1, -8), False),),
    "ridge": ((11, powers(-1, -9), True),),
}


def offers(problem, shape, threads, prefix="ll"):
    return [
        Offer(f"{prefix}_s{number}", levels, "penalized" if problem.bias == "free" and not frees else problem.bias)
        for number, levels, frees in SOLVERS.get(problem.cell.family, ())
    ]


def fit(name, X, y, problem, level, threads, cap, extra=""):
    solver = int(name.split("_s")[1])
    bias = {"none": "", "free": "-B 1 -R", "penalized": "-B 1"}[problem.bias]
    data = Data(y, X if sp.issparse(X) else sp.csr_matrix(X))  # row by row it would take minutes
    C = problem.C / 2 if problem.loss == "squared" else problem.C
    model = train(data, parameter(f"-s {solver} -c {C!r} -p 0 -e {level:g} -q {bias} {extra}"))
    has_bias = problem.bias != "none"
    w = np.ctypeslib.as_array(ctypes.cast(model.w, ctypes.POINTER(ctypes.c_double)), (X.shape[1] + has_bias,)).copy()
    if problem.loss != "squared" and model.get_labels()[0] < 0:
        w = -w
    return Solution(w[: X.shape[1]], float(w[-1]) if has_bias else 0.0)

"""A process for each package: its crash, its hang or its memory cannot end the run. It times its own fits.

The time is wall time of one call that starts from the common arrays and ends with coefficients. Before the first fit of
a kind, a tiny problem of that kind is fitted untimed: imports and just-in-time compilation are in no time.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import multiprocessing
import os
import time
import traceback
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .problems import problem as problem_of

SPAWN = multiprocessing.get_context("spawn")
START = 600.0  # seconds for imports, compilation or reading a set
GRACE = {"minorant": 10.0}  # seconds beyond the cap before a worker is killed: ours stops by itself and proves its gap
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "BLIS_NUM_THREADS")

CUT_OFF = "killed at the cap"


def serve(pipe, package, store, threads):
    """The body of the worker: answers ("offers", ...), ("warm", ...), ("load", ...), ("fit", ...), ("memory", ...)."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        adapter = importlib.import_module(f"{__package__}.adapters.{package}")
    except Exception as error:
        pipe.send({"absent": f"{type(error).__name__}: {error}"})
        return
    pipe.send({"version": getattr(adapter, "VERSION", None) or _version(adapter.PACKAGE)})
    X, y = None, None
    while True:
        order, *args = pipe.recv()
        try:
            if order == "offers":
                answer = {"offers": [asdict(o) for o in adapter.offers(*args)]}
            elif order == "warm":
                answer = _warm(adapter, *args)
                gc.freeze()  # modules and compiled code: collecting before each fit need not look at them
            elif order == "load":
                X = y = None
                X, y = store.load(*args)
                answer = {}
            else:
                offer, problem, level, cap = args
                answer = (_weighed if order == "memory" else _timed)(adapter, offer, X, y, problem, level, threads, cap)
        except Exception:
            answer = {"error": traceback.format_exc(limit=-1).strip().splitlines()[-1][:200]}
        pipe.send(answer)


def _version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def _timed(adapter, offer, X, y, problem, level, threads, cap):
    before = _sum(X)
    gc.collect()
    gc.disable()
    try:
        began = time.perf_counter()
        solution = adapter.fit(offer, X, y, problem, level, threads, cap)
        seconds = time.perf_counter() - began
    finally:
        gc.enable()
    answer = {"seconds": seconds, **vars(solution)}
    answer["w"] = np.asarray(solution.w, dtype=np.float64)
    if _sum(X) != before:
        answer["error"] = "it changed its input"
    return answer


def _weighed(adapter, offer, X, y, problem, level, threads, cap):
    """The peak of the resident memory during a fit, beyond what was resident before (Linux only)."""
    gc.collect()
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    solution = adapter.fit(offer, X, y, problem, level, threads, cap)
    return {"extra": _resident("VmHWM") - before, "certified": solution.claim.get("certified")}


def _resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x for x in lines if x.startswith(field)).split()[1])


def _sum(X):
    return float(X.data.sum() if sp.issparse(X) else X.sum())


def _warm(adapter, offer, problem, level, sparse, threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    if problem.loss == "squared":
        y = y - y.mean()
    tiny = problem_of(replace(problem.cell, strength=1.0 if problem.ratio == 0 else 0.1), X, y)
    X = sp.csr_matrix(X) if sparse else X
    X = _int32(X) if sparse else X
    adapter.fit(offer, X, y, tiny, level, threads, 10.0)
    return {}


def _int32(X):
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


class Worker:
    """The other end of the pipe."""

    def __init__(self, package, store, threads):
        self.package, self._store, self._threads = package, store, threads
        self._process = None
        self.version, self.absent = None, None
        self._start()

    def _start(self):
        self._warm, self._set = set(), None
        self._pipe, other = SPAWN.Pipe()
        self._process = SPAWN.Process(
            target=serve, args=(other, self.package, self._store, self._threads), daemon=True, name=self.package
        )
        self._process.start()
        other.close()
        hello = self._receive(START)
        self.version, self.absent = hello.get("version"), hello.get("absent") or hello.get("error")

    def _receive(self, seconds):
        try:
            if self._pipe.poll(seconds):
                return self._pipe.recv()
            answer = {"error": CUT_OFF, "killed": True}
        except (EOFError, OSError):
            answer = {"error": "crashed"}
        self.close()
        return answer

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _ask(self, seconds, *order):
        if self._process is None:
            self._start()
        try:
            self._pipe.send(order)
        except OSError:
            self.close()
            return {"error": "crashed"}
        return self._receive(seconds)

    def offers(self, problem, shape):
        if self.absent:
            return []
        return self._ask(START, "offers", problem, shape, self._threads).get("offers", [])

    def fit(self, offer, problem, level, sparse, cap, order="fit"):
        """The answer, or {"error": ...}; `seconds` of a killed fit are those it was given."""
        kind = (offer["name"], problem.cell.family, problem.bias, sparse)
        if self._process is None:
            self._start()
        if kind not in self._warm:
            self._ask(START, "warm", offer["name"], problem, offer["levels"][0], sparse, self._threads)
            self._warm.add(kind)
        if self._set != problem.cell.set:
            self._ask(START, "load", problem.cell.set)
            self._set = problem.cell.set
        answer = self._ask(cap + GRACE.get(self.package, 0.2), order, offer["name"], problem, level, cap)
        if answer.get("killed"):
            answer["seconds"] = cap
        return answer


def limit_threads(threads):
    """For the processes started from now on."""
    for name in THREADS:
        os.environ[name] = str(threads)

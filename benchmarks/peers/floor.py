"""How near a pass over the data is to the speed of the memory: the time to read the same bytes, over that of the pass.

The floor is a bitwise "or" of all bytes of X by NumPy, in as many threads as the pass has. A sparse pass also looks up
a number, or adds to one, for each value, in a vector that may be larger than the caches.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import scipy.sparse as sp

from .sets import SETS, stored

THREADS = (1, 2)


def floor(campaign, options):
    yield from (
        "# Passes over the data, and the speed of the memory",
        "",
        "The fraction of a pass that reading the bytes of X once would take; the best of some repeats. Sets of more",
        "than a million values. A sweep is one of dual coordinates, hinge loss, C = 1, from 0; it has one thread.",
        "",
        "| set | X, MB | threads | GB/s of reading | " + " | ".join(PASSES) + " |",
        "|---" * (4 + len(PASSES)) + "|",
    )
    for name in SETS:
        if (options.sets and name not in options.sets.split(",")) or not campaign.store.available(name):
            continue
        X, y = campaign.store.load(name)
        if stored(X)[0] < 1e6:
            continue
        arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        size = sum(a.nbytes for a in arrays)
        calls = passes(X, np.asarray(y, dtype=np.float64))
        for threads in THREADS:
            read = best(options, reading(arrays, threads))
            cells = []
            for each in PASSES:
                alone = each == "sweep" and threads > 1
                cells.append("" if alone else f"{read / best(options, partial(calls[each], threads)):.2f}")
            line = f"| {name} | {size / 1e6:.0f} | {threads} | {size / read / 1e9:.1f} | " + " | ".join(cells) + " |"
            print(line, flush=True)
            yield line


PASSES = ("X w", "Xᵀ α", "row norms", "column norms", "looking for NaN", "sweep")


def passes(X, y):
    """The kernels as functions of the number of threads."""
    from minorant import kernels  # noqa: PLC0415 - the other figures leave that to a process of its own

    (n, p), rng = X.shape, np.random.default_rng(0)
    w, alpha, ones = rng.standard_normal(p), rng.standard_normal(n), np.ones(n)
    kind = "csr" if sp.issparse(X) else "dense"
    data = (X.data, X.indices, X.indptr) if kind == "csr" else (X,)
    dot, tdot, norms, columns, sweeps = (
        getattr(kernels, f"{kind}_{each}") for each in ("dot", "tdot", "row_norms", "column_norms", "sweeps")
    )
    wide = (p,) if kind == "csr" else ()
    by_columns = () if kind == "csr" else (False,)
    norm2 = np.square(norms(*data, 1))

    def sweep(_):
        point = np.zeros(n), np.zeros(p), 0.0
        problem = ones, -ones, -y, norm2, 0.0
        sweeps(*data, False, (0.0, 0.0, 0.0, 1.0), *problem, 1, 0.0, 0, *point, kernels.SweptRows())

    return {
        "X w": lambda threads: dot(*data, w, threads),
        "Xᵀ α": lambda threads: tdot(*data, alpha, *wide, threads),
        "row norms": lambda threads: norms(*data, threads),
        "column norms": lambda threads: columns(*data, *by_columns, ones, *wide, threads),
        "looking for NaN": lambda threads: kernels.all_finite(data[0].ravel(), threads),
        "sweep": sweep,
    }


def reading(arrays, threads):
    """Every byte, by NumPy."""
    words = [a.ravel().view(np.uint8)[: a.nbytes // 8 * 8].view(np.uint64) for a in arrays]
    parts = [part for a in words for part in np.array_split(a, threads)]
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(np.bitwise_or.reduce, parts))


def best(options, call):
    times = []
    for _ in range(2 * options.repeats + 1):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)

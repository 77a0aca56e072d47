"""The figures of the foundation: reader, start-up, kernels. Writes results/foundation.md."""

from __future__ import annotations

import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from minorant import _core, kernels
from minorant.io import load_svmlight

REPEATS = 5
RESULTS = Path(__file__).parent / "results" / "foundation.md"


def cpu(function, *args):
    """Median CPU seconds of this process, all threads."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        function(*args)
        times.append(time.process_time() - began)
    return statistics.median(times)


def wall(function, *args, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def interleaved(measure, *calls):
    """The median of each call over rounds in which they take turns, so that a busy moment hits all of them."""
    rounds = [[measure(*call) for call in calls] for _ in range(3)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def reader_row(digits):
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.svm"
        with open(path, "w") as file:
            while file.tell() < 40e6:
                columns = np.cumsum(rng.integers(1, 1200, size=75))
                values = rng.random(75)
                row = " ".join(f"{j}:{v:.{digits}g}" for j, v in zip(columns, values, strict=True))
                file.write(f"{rng.choice([-1, 1])} {row}\n")
        ours, theirs = interleaved(cpu, (load_svmlight, path), (load_svmlight_file, str(path)))
        megabytes = path.stat().st_size / 1e6
        X, y = load_svmlight(path)
        Z, z = load_svmlight_file(str(path))
        assert (y == z).all()
        assert (X.data == Z.data).all()
        assert (X.indices == Z.indices).all()
    return f"| {megabytes:.0f} MB, {digits} digits | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} |"


def command_row(name, arguments):
    times = []
    for _ in range(15):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return f"| {name} | {statistics.median(times):.3f} | {max(times):.3f} |"


def product_rows():
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        X = sp.random_array((40_000, 50_000), density=75 / 50_000, rng=rng, format="csr", dtype=np.float64).astype(
            dtype
        )
        D = rng.normal(size=(50_000, 200)).astype(dtype)
        parts = (X.data, X.indices, X.indptr)
        w, a, v, b = (rng.normal(size=k) for k in (50_000, 40_000, 200, 50_000))
        T = X.T  # a view: SciPy's own product with the transpose
        w32, a32, v32, b32 = (x.astype(dtype) for x in (w, a, v, b))
        cases = {
            "CSR, X w": ((kernels.csr_dot, *parts, w), (X.__matmul__, w32)),
            "CSR, Xᵀ α": ((kernels.csr_tdot, *parts, a, 50_000), (T.__matmul__, a32)),
            "dense, X w": ((kernels.dense_dot, D, v), (D.__matmul__, v32)),
            "dense, Xᵀ α": ((kernels.dense_tdot, D, b), (D.T.__matmul__, b32)),
        }
        for name, (mine, peer) in cases.items():
            with threadpool_limits(1):
                one, theirs = interleaved(wall, (*mine, 1), peer)
            two = wall(*mine, 2)
            assert np.array_equal(mine[0](*mine[1:], 1), mine[0](*mine[1:], 2))
            yield (
                f"| {name} | {dtype.__name__} | {1e3 * one:.2f} | {1e3 * theirs:.2f} | {theirs / one:.2f} "
                f"| {one / two:.2f} |"
            )


def projection_rows():
    rng = np.random.default_rng(0)
    before = None
    for n in (62_500, 125_000, 250_000, 500_000, 1_000_000):
        m, u, s = rng.normal(size=n), rng.random(n), rng.choice([-1.0, 1.0], n)
        zero, one = np.zeros(n), np.ones(n)
        work = kernels.box_plane(m, zero, u, s, 0.0, one)[2]
        seconds = wall(kernels.box_plane, m, zero, u, s, 0.0, one, repeats=3)
        growth = "" if before is None else f"{work / before:.2f}"
        before = work
        yield f"| {n} | {work / n:.1f} | {growth} | {1e3 * seconds:.1f} |"


def main():
    assert kernels.native
    names = ("minorant", "numpy", "scipy", "scikit-learn")
    lines = [
        "# Foundation",
        "",
        f"`python benchmarks/foundation.py` on {platform.processor() or platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, " + ", ".join(f"{n} {version(n)}" for n in names) + ".",
        f"Medians of {REPEATS} runs, taking turns with the peer; results checked to be equal.",
        f"Core: `{Path(_core.__file__).name}`.",
        "",
        "## Reading LIBSVM text, CPU seconds",
        "",
        "| file | minorant | scikit-learn | ratio |",
        "|---|---|---|---|",
        *(reader_row(digits) for digits in (6, 16)),
        "",
        "## Start-up, CPU seconds",
        "",
        "| command | median of 15 | worst |",
        "|---|---|---|",
        command_row("`minorant --help`", ["-m", "minorant", "--help"]),
        command_row("`import minorant`", ["-c", "import minorant"]),
        command_row("Python alone", ["-c", ""]),
        "",
        "## Products, milliseconds",
        "",
        "Sparse: 40 000 × 50 000 with 75 values a row; dense: 50 000 × 200. The peer is SciPy or NumPy (BLAS) on one",
        "thread, in the type of the data; ours sums in float64 for float32 data too.",
        "",
        "| product | type | ours, 1 thread | peer, 1 thread | ratio | 1 thread / 2 threads |",
        "|---|---|---|---|---|---|",
        *product_rows(),
        "",
        "## Projection onto a box and a hyperplane",
        "",
        "| n | elements visited / n | growth of the work | ms |",
        "|---|---|---|---|",
        *projection_rows(),
        "",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()

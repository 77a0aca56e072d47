"""The checker on files: it reads what the library writes, refuses all else, and needs no more than NumPy."""

from __future__ import annotations

import ast
import bz2
import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minorant import checker
from minorant.io import load_svmlight


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("text", ["+1 1:0.5 3:2 # c\n\n-1 2:1e-3\n-1\n", "1 qid:4 0:1 1:2\n-1 2:3"])
def test_reads_what_the_library_reads(tmp_path, text, compress):
    path = tmp_path / "data"
    path.write_bytes(compress(text.encode()))
    X, y = load_svmlight(path, n_features=4)
    ours, labels = checker.read_data(str(path), 4)
    assert np.array_equal(labels, y)
    w, a = np.array([1.0, 2.0, 4.0, 8.0]), np.arange(1.0, y.size + 1)
    np.testing.assert_allclose(checker.product(ours, w)[0], X @ w)
    np.testing.assert_allclose(checker.product(ours.T, a)[0], X.T @ a)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1 2\n",
        b"1 1:2:3\n",
        b"x 1:1\n",
        b"1 1:nan\n",
        b"inf 1:1\n",
        b"1 5:1\n",
        b"1 -1:1\n",
        b"1 99999999999999999999:1\n",
        b"\x1f\x8bnot gzip",
        gzip.compress(b"1 1:1\n" * 1000)[:-9],
        lzma.compress(b"1 1:1\n" * 1000)[:-9],
        b"\x00\xff\x00",
    ],
    ids=range(13),
)
def test_bad_data(tmp_path, content):
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises((checker.Unusable, OSError)):
        checker.read_data(str(path), 4)


ABOUT = {
    "format": 1,
    "model": "linear_svc",
    "loss": "hinge",
    "penalty": "l2",
    "lam": 0.5,
    "fit_intercept": True,
    "classes": [-1, 1],
    "certificates": [{"primal": 1 / 16, "dual": 1 / 16, "status": "CERTIFIED", "n_products": 3}],
    "n_features": 1,
}


def write_model(path, about=None, tensors=None, header=None):
    """The format by hand, so that this test shares nothing with the library either."""
    parts = {"coef": [[0.5]], "intercept": [0.0], "alpha": [[1 / 16, 1 / 16]], **(tensors or {})}
    entries, buffer = {"__metadata__": {"minorant": json.dumps({**ABOUT, **(about or {})})}}, b""
    for name, values in parts.items():
        array = np.array(values, dtype="<f8")
        span = [len(buffer), len(buffer) + array.nbytes]
        entries[name] = {"dtype": "F64", "shape": array.shape, "data_offsets": span}
        buffer += array.tobytes()
    text = json.dumps({**entries, **(header or {})}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + buffer)
    return str(path)


def test_a_model_written_by_hand(tmp_path):
    data = tmp_path / "data"
    data.write_text("1 1:2\n-1 1:-2\n")
    assert checker.check_files(write_model(tmp_path / "m"), str(data))[1] == 0
    weights = {"tensors": {"weights": [0.5, 0.5]}}
    assert checker.check_files(write_model(tmp_path / "m", **weights), str(data))[1] == 0
    wide = {"tensors": {"coef": [[0.25]]}, "about": {"certificates": [{"primal": 33 / 64, "dual": 1 / 16}]}}
    assert checker.check_files(write_model(tmp_path / "m", **wide), str(data))[1] == 3
    assert checker.check_files(write_model(tmp_path / "m", **wide), str(data), tol=0.9)[1] == 0
    wide["about"]["tol"] = 0.95
    assert checker.check_files(write_model(tmp_path / "m", **wide), str(data))[1] == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"about": {"format": 2}},
        {"about": {"lam": 0}},
        {"about": {"lam": 10**400}},
        {"about": {"lam": "1"}},
        {"about": {"tol": "1"}},
        {"about": {"classes": [[1], [2], [3]]}},
        {"about": {"classes": 3}},
        {"about": {"certificates": []}},
        {"about": {"certificates": [{"primal": None, "dual": 0}]}},
        {"about": {"n_features": 2}},
        {"tensors": {"alpha": [[0.1, float("nan")]]}},
        {"tensors": {"alpha": 0.1}},
        {"tensors": {"extra": [1.0]}},
        {"tensors": {"weights": [1.0]}},
        {"header": {"__metadata__": {}}},
        {"header": {"coef": {"dtype": "F64", "shape": [1, 1], "data_offsets": [0, 10**9]}}},
        {"header": {"coef": {"dtype": "F64", "shape": [1, 1], "data_offsets": [8, 0]}}},
        {"header": {"coef": {"dtype": "F64", "shape": [1, 2], "data_offsets": [0, 8]}}},
        {"header": {"coef": {"dtype": "O", "shape": [1, 1], "data_offsets": [0, 8]}}},
        {"header": {"coef": 3}},
    ],
)
def test_bad_models(tmp_path, changes):
    with pytest.raises(checker.Unusable, match="not a usable model file"):
        checker.read_model(write_model(tmp_path / "m", **changes))


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"[]", b"garbage " * 9, b"\x05\0\0\0\0\0\0\0[" * 9]
)
def test_garbage_models(tmp_path, content):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(checker.Unusable, match="not a usable model file"):
        checker.read_model(str(path))


def test_it_imports_numpy_and_the_standard_library_alone():
    tree = ast.parse(Path(checker.__file__).read_text())
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module.partition(".")[0])
    assert names - set(sys.stdlib_module_names) == {"numpy"}


def test_it_runs_as_a_file_on_its_own(tmp_path):
    script = tmp_path / "alone.py"
    script.write_text(Path(checker.__file__).read_text())
    (tmp_path / "data").write_text("1 1:2\n-1 1:-2\n")
    write_model(tmp_path / "m")

    def run(*words):
        words = [sys.executable, "-I", str(script), *words]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    ran = run("m", "data")
    assert (ran.returncode, ran.stderr) == (0, "")
    line = ran.stdout.splitlines()[0]
    assert line.startswith("1 against -1: J = 0.0625, no model is below 0.0625: relative gap ")
    assert 0 < float(line.split()[-1]) < 1e-12  # rounding
    (tmp_path / "data").write_text("1 1:2\n-1 1:-3\n")
    assert run("m", "data").returncode == 2
    ran = run("m", "absent")
    assert ran.returncode == 2
    assert ran.stderr.startswith("checker: error: ")

"""What goes wrong with files and limits, for every kind of model: a clear error, its status, and nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from minorant.io import load_fitted

KINDS = {"classes": ["logistic"], "targets": ["enet"], "measure": ["f1"], "pairs": ["roc_auc"]}
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@pytest.fixture(params=KINDS)
def words(request):
    return ["--model", *KINDS[request.param]]


def process(code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rows"),
        ("1 1:nan\n-1 1:1\n", "data.txt:1: value in '1:nan' is not finite"),
        ("1 1:1\n-1 1:-inf\n", "data.txt:2:"),
        ("nan 1:1\n-1 1:1\n", "label 'nan' is not finite"),
        ("1 1:1\n-1 1\n", "data.txt:2: expected index:value"),
        ("1 1:1\n-1 0:1 0:2\n", "data.txt:2:"),
    ],
)
def test_bad_data(run, write, words, text, reason):
    ran = run("fit", write("data.txt", text), "-o", "m", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("minorant: error: ")
    assert ran.err.count("\n") == 1
    assert reason in ran.err
    assert not Path("m").exists()


@pytest.mark.parametrize("name", ["f1", "roc_auc", "prbep", "gmean", "logistic", "l1svm"])
@pytest.mark.parametrize("text", ["-1 1:1\n-1 1:2\n", "1 1:1\n"])
def test_one_class(run, write, name, text):
    ran = run("fit", write("data.txt", text), "-o", "m", "--model", name)
    assert (ran.status, ran.out) == (2, "")
    assert "y has only one class" in ran.err


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["-e", "nan"], "tol must be a finite number >= 0; got nan"),
        (["-e", "-1"], "tol must be"),
        (["-e", "inf"], "tol must be"),
        (["--max-iter", "0"], "max_iter must be at least 1"),
        (["--max-time", "0"], "max_time must be positive seconds"),
        (["--max-time", "nan"], "max_time must be positive seconds"),
        (["-o", "binary.txt"], "would be overwritten"),
        (["-o", "."], "is a directory"),
    ],
)
def test_bad_limits_and_outputs(run, binary, words, more, reason):
    before = Path(binary).read_bytes()
    ran = run("fit", binary, *words, *more)
    assert (ran.status, ran.out) == (2, "")
    assert reason in ran.err
    assert Path(binary).read_bytes() == before
    assert not Path("binary.txt.model").exists()


@pytest.mark.parametrize("name", ["svm", "logistic", "svr", "f1", "roc_auc"])
@pytest.mark.parametrize("C", ["1e308", "1e-320"])
def test_a_strength_that_is_no_number(run, binary, name, C):
    ran = run("fit", binary, "-o", "m", "--model", name, "-c", C)
    assert (ran.status, ran.out) == (2, "")
    assert "is out of range: λ is its inverse" in ran.err


@full
def test_a_device_is_refused_before_the_work(run, binary, words):
    for output in ("/dev/full", "/dev/null"):
        ran = run("fit", "absent", "-o", output, *words)
        assert ran.err == f"minorant: error: {output}: exists and is not a regular file\n"
        assert ran.status == 2
    run("fit", binary, "-o", "m", *words)
    assert run("predict", binary, "m", "-o", "/dev/full").status == 2


@full
@pytest.mark.parametrize("command", ["fit", "predict", "certify"])
def test_a_full_standard_output(run, binary, words, command):
    assert run("fit", binary, "-o", "m", *words).status == 0
    line = {"fit": ["fit", binary, "-o", "m2", *words], "predict": ["predict", binary, "m"]}
    with open("/dev/full", "w", encoding="utf-8") as nowhere:
        ran = subprocess.run(
            [sys.executable, "-m", "minorant", *line.get(command, ["certify", "m", binary])],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    assert ran.returncode == 2
    assert ran.stderr.endswith("minorant: error: standard output: No space left on device\n")
    assert ran.stderr.count("Traceback") == 0
    if command == "fit":  # the model was written before it was told about
        assert Path("m2").read_bytes() == Path("m").read_bytes()


FULL = """
import errno, os, sys
from minorant.cli import main
def full(fd):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
os.fsync = full
sys.exit(main(sys.argv[1:]))
"""
KILLED = """
import os, signal, sys
from minorant.cli import main
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_disk_that_is_full_at_the_end(run, binary, words, command):
    assert run("fit", binary, "-o", "m", *words).status == 0
    Path("out").write_text("old\n")
    line = ["fit", binary, "-o", "out", *words] if command == "fit" else ["predict", binary, "m", "-o", "out"]
    ran = process(FULL, *line)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"minorant: error: {os.path.realpath('out')}: No space left on device\n"
    assert Path("out").read_text() == "old\n"
    assert sorted(os.listdir()) == ["binary.txt", "m", "out"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_killed_while_writing(run, binary, words, command):
    assert run("fit", binary, "-o", "m", *words).status == 0
    before = Path("m").read_bytes()
    line = ["fit", binary, "-o", "m", *words] if command == "fit" else ["predict", binary, "m", "-o", "out"]
    assert process(KILLED, *line).returncode == -signal.SIGKILL
    assert Path("m").read_bytes() == before
    assert not Path("out").exists()
    assert load_fitted("m").certificates
    assert run(*line).status == 0  # and nothing of the killed one is left
    assert not [name for name in os.listdir() if name.endswith(".tmp")]

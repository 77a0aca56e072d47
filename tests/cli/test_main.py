"""The command as a whole: help, statuses, messages, start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import minorant


def command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "minorant", *words], capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_help_and_version(run):
    for words in (["--help"], ["-h"], *([name, "--help"] for name in ("fit", "predict", "certify", "export", "demo"))):
        ran = run(*words)
        assert ran.status == 0
        assert ran.out.startswith("usage: minorant")
    assert run("--version").out == f"minorant {minorant.__version__}\n"


def test_no_command_shows_the_help(run):
    assert run() == (2, run("--help").out, "")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["fti"], "did you mean 'fit'?"),
        (["certfy", "m", "d"], "did you mean 'certify'?"),
        (["--versoin"], "did you mean '--version'?"),
        (["fit", "data", "--tl", "1"], "did you mean '--tol'?"),
        (["fit", "data", "--max-itre=3"], "did you mean '--max-iter'?"),
        (["predict", "a", "b", "--score"], "did you mean '--scores'?"),
        (["fit", "data", "more"], "unknown argument 'more'"),
        (["fit", "data", "-c", "much"], "argument -c: invalid float value: 'much'"),
        (["fit"], "required: DATA"),
        (["fit", "data", "--model", "f-1"], "did you mean 'f1'?"),
        (["fit", "data", "--model", "tree"], "unknown --model 'tree'. Allowed: 'balanced_error', 'enet'"),
    ],
)
def test_misspellings(run, words, hint):
    ran = run(*words)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("minorant: error: ")
    assert hint in ran.err


def test_help_imports_no_library():
    code = (
        "import sys; from minorant.cli import main; status = main(['fit', '--help']);"
        "assert status == 0; print('LOADED', *sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(ran.stdout.partition("LOADED")[2].split())
    assert "minorant.cli" in loaded
    assert not loaded & {
        "numpy",
        "scipy",
        "sklearn",
        "safetensors",
        "matplotlib",
        "minorant.linear",
        "minorant.kernels",
    }


def test_fit_and_certify_do_not_import_scikit_learn(binary, tmp_path):
    code = (
        "import sys; from minorant.cli import main; model = sys.argv[2];"
        "assert main(['fit', sys.argv[1], '-o', model]) == 0;"
        "assert main(['certify', model, sys.argv[1]]) == 0; assert main(['predict', sys.argv[1], model]) == 0;"
        "assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, binary, str(tmp_path / "m")], check=True, timeout=60)


def test_certify_of_text_needs_numpy_alone(run, binary):
    run("fit", binary, "-o", "m")
    code = (
        "import sys; from minorant.cli import main; assert main(['certify', 'm', sys.argv[1]]) == 0;"
        "assert not {'scipy', 'minorant.kernels', 'minorant._core', 'safetensors'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, binary], check=True, timeout=60)


def test_as_a_process(binary, tmp_path):
    ran = command("fit", binary, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "binary.txt.model").exists()
    ran = command("certify", "binary.txt.model", binary, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "CONFIRMED" in ran.stdout
    ran = command("fit", "absent", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        2,
        "",
        "minorant: error: absent: No such file or directory\n",
    )


def test_a_reader_that_goes_away_is_no_error(binary, tmp_path):
    assert command("fit", binary, "-o", "m", cwd=tmp_path).returncode == 0
    big = tmp_path / "big.txt"
    big.write_text((tmp_path / "binary.txt").read_text() * 2000)
    predict = subprocess.Popen(
        [sys.executable, "-m", "minorant", "predict", str(big), "m", "--scores", "-q"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    predict.stdout.readline()
    predict.stdout.close()
    assert predict.stderr.read() == b""
    predict.stderr.close()
    assert predict.wait(timeout=60) == 141


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_the_progress_line_is_for_terminals_only(binary, tmp_path):
    words = [sys.executable, "-m", "minorant", "fit", binary, "-o", str(tmp_path / "m"), "--tol", "1e-9"]

    def on_terminal(*more):
        outer, inner = os.openpty()
        subprocess.run([*words, *more], check=False, stdout=subprocess.DEVNULL, stderr=inner, timeout=60)
        os.close(inner)
        seen = b""
        try:
            while chunk := os.read(outer, 65536):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        os.close(outer)
        return seen

    seen = on_terminal("--max-iter", "50")
    assert seen.startswith(b"\riteration 1, ")
    assert b"lower bound" in seen
    assert seen.endswith(b" \r")  # the line is wiped out
    assert on_terminal("--max-iter", "50", "-q") == b""
    assert command(*words[3:], "--max-iter", "50").stderr == ""


def test_ctrl_c_keeps_the_model_reached_so_far(binary, tmp_path):
    # Own process, with the signal sent to itself at a known iteration: nothing depends on time.
    code = """
import os, signal, sys
from minorant.cli import main
from minorant.cli._watch import Watch
watched = Watch.__call__
def call(self, row, progress):
    if progress.iteration == 7:
        os.kill(os.getpid(), signal.SIGINT)
    return watched(self, row, progress)
Watch.__call__ = call
sys.exit(main(["fit", sys.argv[1], "-o", "m", "--tol", "1e-12", "--log", "log", "--solver", "agm-inf"]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, binary], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 3
    assert "Stopped on request" in ran.stdout
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert lines[-2]["iteration"] == 7
    assert lines[-1]["certificates"][0]["status"] == "INTERRUPTED"
    assert command("certify", "m", binary, cwd=tmp_path).returncode == 3

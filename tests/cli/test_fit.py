"""`minorant fit`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from minorant import checker
from minorant.io import LinearModel
from minorant.linear import Run, fit_classifier


def test_the_model_is_that_of_the_library(run, binary, draw):
    ran = run("fit", binary, "-o", "m", "-c", "0.5", "-e", "2e-4")
    assert ran.status == 0
    assert ran.err == ""
    assert "60 rows, 6 features, 2 classes" in ran.out
    assert "1 against -1: J(w) = " in ran.out
    assert "Model: m" in ran.out
    X, y = draw(0)
    fit = fit_classifier(X, y, C=0.5, run=Run(tol=2e-4))
    model = LinearModel.load("m")
    np.testing.assert_allclose(model.coef, fit.coef, rtol=1e-9, atol=1e-12)
    assert model.classes == [-1, 1]
    assert model.lam == fit.lam == pytest.approx(1 / 30)
    assert model.tol == 2e-4
    assert model.weights is None
    assert model.certificates[0]["status"] == "CERTIFIED"
    assert model.certificates[0]["primal"] == pytest.approx(fit.certificates[0].primal, rel=1e-12)


def test_the_default_name_and_quiet(run, binary):
    assert run("fit", binary, "-q") == (0, "", "")
    assert Path("binary.txt.model").exists()


def test_more_than_two_classes(run, three):
    ran = run("fit", three, "-o", "m")
    assert ran.status == 0
    assert [line.partition(":")[0] for line in ran.out.splitlines()[1:4]] == [
        f"{k} against the rest" for k in (0, 1, 2)
    ]
    assert LinearModel.load("m").coef.shape == (3, 6)


def test_stopped_before_tol(run, binary):
    ran = run("fit", binary, "-o", "m", "--tol", "1e-9", "--max-iter", "5", "--solver", "agm-inf")
    assert ran.status == 3
    assert "Stopped at max_iter" in ran.out
    assert run("fit", binary, "-o", "m", "--tol", "1e-14", "--max-time", "1e-9", "--solver", "agm-inf").status == 3
    assert LinearModel.load("m").certificates[0]["status"] == "MAX_TIME"


def test_compressed_data(run, binary):
    Path("b.gz").write_bytes(gzip.compress(Path(binary).read_bytes()))
    run("fit", binary, "-o", "m1", "-q")
    run("fit", "b.gz", "-o", "m2", "-q")
    assert Path("m1").read_bytes() == Path("m2").read_bytes()


@pytest.mark.parametrize("words", [["-w", "1=2", "-w", "-1=0.5"], ["-w1", "2", "-w-1", "0.5"], ["-w1=2", "-w=-1=.5"]])
def test_class_weights(run, binary, draw, words):
    assert run("fit", binary, "-o", "m", *words).status == 0
    X, y = draw(0)
    weight = np.where(y > 0, 2.0, 0.5)
    fit = fit_classifier(X, y, sample_weight=weight)
    model = LinearModel.load("m")
    np.testing.assert_allclose(model.weights, weight / weight.sum())
    assert model.lam == pytest.approx(1 / weight.sum())
    assert model.certificates[0]["primal"] == pytest.approx(fit.certificates[0].primal, rel=1e-9)


def test_weights_of_examples(run, binary, write):
    weight = np.arange(60) % 5
    write("w.txt", "".join(f"{w}\n" for w in weight))
    assert run("fit", binary, "-o", "m", "--weights", "w.txt", "-w", "1=3").status == 0
    weight = weight * np.where(np.arange(60) % 2 == 1, 3.0, 1.0)
    np.testing.assert_allclose(LinearModel.load("m").weights, weight / weight.sum())
    assert run("certify", "m", binary).status == 0


def test_options_reach_the_fit(run, binary):
    assert run("fit", binary, "-o", "m", "--no-intercept", "--solver", "agm-1", "--smoothing", "primal").status == 0
    model = LinearModel.load("m")
    assert model.fit_intercept is False
    assert model.intercept.tolist() == [0.0]
    assert run("fit", binary, "-o", "m", "--features", "9", "--threads", "2").status == 0
    assert LinearModel.load("m").coef.shape == (1, 9)


def test_zero_based(run, write):
    data = write("zero.txt", "1 1:1 2:1\n-1 1:-1\n")
    run("fit", data, "-o", "m", "--zero-based")
    assert LinearModel.load("m").coef.shape == (1, 3)
    assert run("certify", "m", data, "--zero-based").status == 0
    assert run("certify", "m", data).status == 2


def test_the_log(run, three):
    assert run("fit", three, "-o", "m", "--log", "run.jsonl", "-c", "2").status == 0
    head, *rows, tail = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert (head["rows"], head["features"], head["classes"]) == (60, 6, [0.0, 1.0, 2.0])
    assert head["lam"] == pytest.approx(1 / 120)
    assert head["arguments"]["c"] == 2.0
    model = LinearModel.load("m")
    for r in range(3):
        own = [row for row in rows if row["class"] == r]
        assert [row["iteration"] for row in own] == list(range(1, len(own) + 1))
        assert set(own[0]) == {"class", "iteration", "seconds", "products", "primal", "dual", "L", "mu"}
        assert own[-1]["dual"] == model.certificates[r]["dual"]
    assert [{**claim, "class": r} for r, claim in enumerate(model.certificates)] == tail["certificates"]


def test_a_log_that_cannot_go_on_does_not_cost_the_model(run, binary):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    ran = run("fit", binary, "-o", "m", "--log", "/dev/full")
    assert ran.status == 0
    assert "warning: /dev/full ends early" in ran.err
    assert run("certify", "m", binary).status == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rows"),
        ("1 1:2\n1 1:3\n", "y has only one class: 1.0"),
        ("1 1:nan\n-1 1:1\n", "data.txt:1: value in '1:nan' is not finite"),
        ("1 1:1\n-1 1:inf\n", "data.txt:2:"),
        ("1 1:1\n-1 garbage\n", "data.txt:2: expected index:value"),
        ("\x00\x01\x02", "data.txt:1:"),
        ("1 2147483648:1\n-1 1:1\n", "too large"),
    ],
)
def test_bad_data(run, write, text, reason):
    ran = run("fit", write("data.txt", text), "-o", "m", "--log", "log")
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("minorant: error: ")
    assert ran.err.count("\n") == 1
    assert reason in ran.err
    assert not Path("m").exists()
    if Path("log").exists():  # the data were read, and no model fits them
        assert "InputError" in json.loads(Path("log").read_text().splitlines()[-1])["error"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-c", "0"], "C must be a finite number > 0"),
        (["-c", "nan"], "C must be"),
        (["-e", "-1"], "tol must be"),
        (["--max-iter", "0"], "max_iter must be"),
        (["--max-time", "0"], "max_time must be"),
        (["--threads", "0"], "must be None, -1 or at least 1"),
        (["--solver", "agm1"], "did you mean 'agm-1'?"),
        (["--smoothing", "pirmal"], "did you mean 'primal'?"),
        (["--features", "3"], "out of range"),
        (["-w", "1"], "LABEL=WEIGHT"),
        (["-w", "7=1"], "no example has the label 7"),
        (["-w", "1=-2"], "not negative"),
        (["-w", "1=0", "-w", "-1=0"], "weight"),
        (["--weights", "absent"], "absent: No such file"),
        (["--weights", "short.txt"], "1 weights, but the data have 60 rows"),
        (["--weights", "word.txt"], "word.txt:1: expected a number"),
        (["-o", "absent/m"], "no such directory"),
        (["-o", "."], "is a directory"),
        (["--log", "absent/log"], "no such directory"),
        (["-o", "m", "--log", "m"], "the same name"),
        (["-o", "binary.txt"], "would be overwritten"),
        (["--log", "binary.txt"], "would be overwritten"),
    ],
)
def test_bad_options(run, binary, write, words, reason):
    write("short.txt", "1\n")
    write("word.txt", "heavy\n")
    before = Path(binary).read_bytes()
    ran = run("fit", binary, *words)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("minorant: error: ")
    assert reason in ran.err
    assert not Path("binary.txt.model").exists()
    assert Path(binary).read_bytes() == before


def test_outputs_are_tried_before_the_data_are_read(run):
    assert "no such directory" in run("fit", "absent.txt", "-o", "nowhere/m").err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_directory_without_permission(run, binary, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "cannot be written" in run("fit", binary, "-o", "locked/m").err


def test_a_failed_fit_leaves_the_old_model(run, binary, write):
    run("fit", binary, "-o", "m")
    before = Path("m").read_bytes()
    assert run("fit", write("one.txt", "1 1:1\n"), "-o", "m").status == 2
    assert Path("m").read_bytes() == before


def test_the_file_holds_a_proof(run, three):
    run("fit", three, "-o", "m", "-c", "0.01", "--tol", "1e-4")
    lines, status = checker.check_files("m", three)
    assert status == 0
    assert lines[-1].startswith("CONFIRMED: every model is within 0.0001")

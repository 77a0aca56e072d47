"""`minorant certify`: it confirms what is true, and nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from minorant.io import LinearModel, load_svmlight, save_cache


@pytest.fixture(params=[2, 3])
def fitted(request, run, write, draw):
    data = write("d.txt", *draw(5, k=request.param))
    assert run("fit", data, "-o", "m", "-c", "0.1", "--tol", "1e-4").status == 0
    return data


def test_what_is_true_is_confirmed(run, fitted):
    ran = run("certify", "m", fitted)
    assert (ran.status, ran.err) == (0, "")
    assert "CONFIRMED: every model is within 0.0001" in ran.out
    assert run("certify", "m", fitted, "-q") == (0, "", "")
    ran = run("certify", "m", fitted, "--tol", "1e-12")
    assert ran.status == 3
    assert "TRUE, BUT WIDER" in ran.out


def test_a_cache_of_the_data(run, fitted):
    save_cache("cache", *load_svmlight(fitted))
    assert run("certify", "m", "cache").out == run("certify", "m", fitted).out


def _coef(model):
    coef = model.coef.copy()
    coef[-1, 2] *= 1 + 1e-6
    return {"coef": coef}


def _alpha(model):
    alpha = model.alpha.copy()
    alpha[-1, 0] = 1.5 / alpha.shape[1]
    return {"alpha": alpha}


def _negative_alpha(model):
    alpha = model.alpha.copy()
    alpha[-1, 0] = -0.1 / alpha.shape[1]
    return {"alpha": alpha}


def _plane(model):
    alpha = model.alpha.copy()
    i = int(alpha[-1].argmax())
    alpha[-1, i] *= 1 - 1e-5
    return {"alpha": alpha}


def _claim(side, factor):
    def change(model):
        claims = [dict(claim) for claim in model.certificates]
        claims[-1][side] *= factor
        return {"certificates": claims}

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_coef, "the claimed J is"),
        (_alpha, "alpha of row 1 is"),
        (_negative_alpha, "alpha of row 1 is"),
        (_plane, "a free intercept needs 0"),
        (_claim("primal", 0.999), "the claimed J is"),
        (_claim("primal", 1.001), "the claimed J is"),
        (_claim("dual", 1 + 1e-6), "the claimed lower bound is"),
        (lambda model: {"lam": model.lam * 1.0001}, "the claimed J is"),
        (lambda model: {"intercept": model.intercept + 1e-4}, "the claimed J is"),
        (lambda model: {"fit_intercept": False}, "a model without intercept has the intercept"),
        (lambda model: {"coef": model.coef * 1e200}, "not both finite"),
    ],
)
def test_tampered_models(run, fitted, change, reason):
    model = LinearModel.load("m")
    dataclasses.replace(model, **change(model)).save("forged")
    ran = run("certify", "forged", fitted)
    assert ran.status == 2
    assert "REFUTED" in ran.out
    assert reason in ran.out


def test_weights_are_part_of_the_claim(run, binary):
    run("fit", binary, "-o", "m", "-w", "1=3")
    model = LinearModel.load("m")
    weights = model.weights.copy()
    weights[:2] = weights[1::-1]
    dataclasses.replace(model, weights=weights).save("forged")
    assert run("certify", "m", binary).status == 0
    assert run("certify", "forged", binary).status == 2


def test_other_data(run, fitted, write):
    lines = Path(fitted).read_text().splitlines(keepends=True)
    assert "rows" in run("certify", "m", write("short.txt", "".join(lines[:-1]))).err
    label = lines[0].split(maxsplit=1)[1]
    assert "have the label 9" in run("certify", "m", write("label.txt", "".join(["9 " + label, *lines[1:]]))).err
    assert "index is out of range" in run("certify", "m", write("wide.txt", "".join([*lines[:-1], "1 77:1\n"]))).err
    changed = write("changed.txt", "".join(line.replace(":", ":1", 1).replace(":1-", ":-1") for line in lines))
    assert run("certify", "m", changed).status == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["absent", "d.txt"], "absent: No such file"),
        (["m", "absent"], "absent: No such file"),
        (["d.txt", "m"], "not a usable model file"),
        (["m", "m"], "not LIBSVM text"),
        (["m", "empty.txt"], "no rows"),
        (["truncated", "d.txt"], "not a usable model file"),
    ],
)
def test_bad_input(run, fitted, write, words, reason):
    write("empty.txt", "")
    Path("truncated").write_bytes(Path("m").read_bytes()[:-8])
    ran = run("certify", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("minorant: error: ")
    assert reason in ran.err

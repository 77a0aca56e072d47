"""`minorant predict`: labels, scores, accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from minorant.io import LinearModel


@pytest.mark.parametrize("k", [2, 3])
def test_labels_scores_and_accuracy(run, write, draw, k):
    X, y = draw(3, k=k)
    data = write("d.txt", X, y)
    run("fit", data, "-o", "m")
    model = LinearModel.load("m")
    scores = X @ model.coef.T + model.intercept
    chosen = np.array(model.classes)[(scores[:, 0] > 0).astype(int) if k == 2 else scores.argmax(axis=1)]
    right = int((chosen == y).sum())
    assert 0 < right < y.size

    ran = run("predict", data, "m")
    assert ran.status == 0
    assert ran.out.split() == [str(label) for label in chosen]
    assert ran.err == f"Accuracy {100 * right / y.size:.2f} % ({right}/{y.size})\n"

    assert run("predict", data, "m", "-o", "out.txt", "--scores", "-q") == (0, "", "")
    table = np.loadtxt("out.txt", ndmin=2)
    assert np.array_equal(table[:, 0], chosen)
    np.testing.assert_allclose(table[:, 1:], scores, rtol=1e-12, atol=1e-12)


def test_other_columns_and_unknown_labels(run, binary, write):
    run("fit", binary, "-o", "m")
    wide = run("predict", write("wide.txt", "0 1:1 900:5\n0 1:1\n"), "m")
    first, second = wide.out.split()
    assert first == second  # a column that was never seen has no weight
    assert wide.err == ""  # nothing to compare with
    assert run("predict", write("narrow.txt", "1 1:1\n"), "m").status == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["absent", "m"], "absent: No such file"),
        (["binary.txt", "absent"], "absent: No such file"),
        (["binary.txt", "binary.txt"], "not a usable model file"),
        (["binary.txt", "m", "-o", "absent/out"], "no such directory"),
        (["binary.txt", "m", "-o", "binary.txt"], "would be overwritten"),
        (["garbage.txt", "m"], "garbage.txt:1:"),
    ],
)
def test_bad_input(run, binary, write, words, reason):
    run("fit", binary, "-o", "m")
    write("garbage.txt", "what is this\n")
    ran = run("predict", *words)
    assert (ran.status, ran.out) == (2, "")
    assert reason in ran.err
    assert not Path("out").exists()

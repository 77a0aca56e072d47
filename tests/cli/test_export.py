"""`minorant export`: what LIBLINEAR would predict from the file is what we predict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

# What each name means to LIBLINEAR: how many scores a model of k classes has, and whether it predicts targets.
ONE_FOR_TWO = {"L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L1R_L2LOSS_SVC", "L2R_LR", "L1R_LR"}
TARGETS = {"L2R_L2LOSS_SVR", "L2R_L1LOSS_SVR_DUAL"}


def predict_as_liblinear(path, X):
    """Its reader and its rule of prediction, from the description of the format."""
    head, _, body = Path(path).read_text().partition("w\n")
    about = dict(line.split(" ", 1) for line in head.splitlines())
    k, p, solver = int(about["nr_class"]), int(about["nr_feature"]), about["solver_type"]
    assert float(about["bias"]) == 1.0
    columns = 1 if k == 2 and solver != "MCSVM_CS" else k
    W = np.array(body.split(), dtype=float).reshape(p + 1, columns)
    scores = np.c_[X, np.ones(len(X))] @ W
    if solver in TARGETS:
        assert "label" not in about
        return scores[:, 0]
    assert solver in ONE_FOR_TWO | {"MCSVM_CS"}
    labels = np.array(about["label"].split(), dtype=int)
    assert labels.size == k
    return np.where(scores[:, 0] > 0, labels[0], labels[1]) if columns == 1 else labels[scores.argmax(axis=1)]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("svm", "L2R_L1LOSS_SVC_DUAL"),
        ("svm --loss squared_hinge", "L2R_L2LOSS_SVC"),
        ("l1svm --loss squared_hinge", "L1R_L2LOSS_SVC"),
        ("svm --loss smooth_hinge --penalty elasticnet", "L2R_L1LOSS_SVC_DUAL"),
        ("svm --multi-class crammer_singer", "MCSVM_CS"),
        ("logistic", "L2R_LR"),
        ("f1", "L2R_L1LOSS_SVC_DUAL"),
        ("roc_auc", "L2R_L1LOSS_SVC_DUAL"),
    ],
)
def test_classes(run, write, draw, words, name, k):
    X, y = draw(8, k=k)
    data = write("d.txt", X, y)
    assert run("fit", data, "-o", "m", "--model", *words.split()).status == 0
    assert run("export", "m", "-o", "text") == (0, "", "")
    expected = name if (words, k) != ("logistic", 3) else "MCSVM_CS"
    assert Path("text").read_text().splitlines()[0] == f"solver_type {expected}"
    ours = np.array(run("predict", data, "m", "-q").out.split(), dtype=int)
    assert len(set(ours)) == k
    assert np.array_equal(predict_as_liblinear("text", X), ours)


@pytest.mark.parametrize("name", ["enet", "svr", "quantile"])
def test_targets(run, write, draw, name):
    X, _ = draw(8)
    data = write("t.txt", X, np.round(X @ np.arange(6.0), 2))
    assert run("fit", data, "-o", "m", "--model", name).status == 0
    assert run("export", "m", "-o", "text").status == 0
    ours = np.array(run("predict", data, "m", "-q").out.split(), dtype=float)
    np.testing.assert_allclose(predict_as_liblinear("text", X), ours, rtol=1e-12, atol=1e-12)


def test_bad_input(run, binary, write):
    run("fit", binary, "-o", "m")
    assert "would be overwritten" in run("export", "m", "-o", "m").err
    assert "no such directory" in run("export", "m", "-o", "absent/text").err
    assert "not a usable model file" in run("export", binary, "-o", "text").err
    assert "required: -o" in run("export", "m").err
    data = write("halves.txt", "0.5 1:1\n-0.5 1:-1\n")
    assert run("fit", data, "-o", "h").status == 0
    ran = run("export", "h", "-o", "text")
    assert (ran.status, ran.out) == (2, "")
    assert "LIBLINEAR has whole numbers as labels; this model has [-0.5, 0.5]" in ran.err
    assert not Path("text").exists()

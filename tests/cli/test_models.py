"""`minorant fit --model NAME`: every model is that of its estimator, its file is a proof, and predict reads it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

import minorant
from minorant.cli._models import MODELS
from minorant.io import LinearModel, load_fitted, load_model, save_model

CLASSES = {
    "svm": ([], minorant.LinearSVC),
    "svm squared": (["--loss", "squared-hinge", "-c", "0.3"], lambda: minorant.LinearSVC(0.3, loss="squared_hinge")),
    "svm smooth": (
        ["--loss", "smooth_hinge", "--penalty", "elasticnet", "--l1-ratio", "0.3"],
        lambda: minorant.LinearSVC(loss="smooth_hinge", penalty="elasticnet", l1_ratio=0.3),
    ),
    "svm l1": (["--penalty", "l1", "-c", "0.2"], lambda: minorant.LinearSVC(0.2, penalty="l1")),
    "svm joint": (["--multi-class", "crammer-singer"], lambda: minorant.LinearSVC(multi_class="crammer_singer")),
    "l1svm": (["-c", "0.2"], lambda: minorant.LinearSVC(0.2, penalty="l1")),
    "logistic": (["-c", "2"], lambda: minorant.LogisticRegression(2.0)),
    "logistic l1": (["--penalty", "l1"], lambda: minorant.LogisticRegression(penalty="l1")),
    "f1": (["-c", "0.1"], lambda: minorant.MultivariateSVC("f1", C=0.1)),
    "fbeta": (["--beta", "2"], lambda: minorant.MultivariateSVC("fbeta", beta=2.0)),
    "gmean": ([], lambda: minorant.MultivariateSVC("gmean")),
    "balanced_error": ([], lambda: minorant.MultivariateSVC("balanced_error")),
    "error_rate": ([], lambda: minorant.MultivariateSVC("error_rate")),
    "precision_at_k": (["--k", "20"], lambda: minorant.MultivariateSVC("precision_at_k", k=20)),
    "recall_at_k": (["--k", "20"], lambda: minorant.MultivariateSVC("recall_at_k", k=20)),
    "prbep": ([], lambda: minorant.MultivariateSVC("prbep")),
    "roc-auc": ([], lambda: minorant.MultivariateSVC("roc_auc")),
}
TARGETS = {
    "enet": (["--alpha", "0.2", "--l1-ratio", "0.7"], lambda: minorant.ElasticNet(0.2, l1_ratio=0.7)),
    "enet-ball": (["--radius", "0.5", "--gamma", "0.2"], lambda: minorant.ElasticNetBall(0.5, 0.2)),
    "svr": (["-c", "0.5", "-p", "0.1"], lambda: minorant.LinearSVR(0.5, epsilon=0.1)),
    "quantile": (
        ["--quantile", "0.8", "--alpha", "0.05"],
        lambda: minorant.QuantileRegressor(quantile=0.8, alpha=0.05),
    ),
}


def certificates(estimator):
    found = estimator.certificate_
    return found if isinstance(found, list) else [found]


def targets(seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4)) + 1.0
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, np.round(X @ [1.0, -2.0, 0.0, 0.5] + 3.0 + 0.3 * rng.normal(size=50), 3)


def test_every_model_is_tried_here():
    tried = {name.split()[0].replace("-", "_") for name in (*CLASSES, *TARGETS)}
    assert tried == set(MODELS)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", list(CLASSES))
def test_classes(run, write, draw, name, k):
    words, make = CLASSES[name]
    X, y = draw(4, k=k)
    data = write("d.txt", X, y)
    ran = run("fit", data, "-o", "m", "--model", name.split()[0], "-e", "1e-4", *words)
    assert ran.status == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", minorant.TrivialSolution)
        estimator = make().set_params(tol=1e-4).fit(csr_array(X), y)
    model = load_fitted("m")
    assert model.classes == estimator.classes_.astype(int).tolist()
    assert [c["primal"] for c in model.certificates] == pytest.approx(
        [c.primal for c in certificates(estimator)], rel=1e-9
    )
    assert [c["dual"] for c in model.certificates] == pytest.approx([c.dual for c in certificates(estimator)], rel=1e-9)
    assert ran.out.count("J(w) = ") == len(model.certificates)

    ran = run("certify", "m", data)
    assert (ran.status, ran.err) == (0, "")
    assert "CONFIRMED: every model is within 0.0001" in ran.out
    ran = run("predict", data, "m")
    assert ran.out.split() == [str(int(label)) for label in estimator.predict(X)]
    assert f"({int((estimator.predict(X) == y).sum())}/{y.size})" in ran.err
    if isinstance(estimator, minorant.MultivariateSVC):
        value = estimator.score(X, y)
        value = 1 - value if name in ("error_rate", "balanced_error") else value
        assert f"{name.replace('-', '_')} {value:.6f}" in ran.err


@pytest.mark.parametrize("name", list(TARGETS))
def test_targets(run, write, name):
    words, make = TARGETS[name]
    X, y = targets()
    data = write("t.txt", X, y)
    ran = run("fit", data, "-o", "m", "--model", name, "-e", "1e-5", *words)
    assert ran.status == 0
    assert "50 rows, 4 features, targets" in ran.out
    estimator = make().set_params(tol=1e-5).fit(csr_array(X), y)
    model = load_fitted("m")
    assert model.classes is None
    np.testing.assert_allclose(model.coef[0], estimator.coef_, rtol=1e-7, atol=1e-9)
    assert model.certificates[0]["dual"] == pytest.approx(estimator.certificate_.dual, rel=1e-9)
    assert run("certify", "m", data).status == 0
    ran = run("predict", data, "m")
    np.testing.assert_allclose([float(v) for v in ran.out.split()], estimator.predict(X), rtol=1e-7, atol=1e-9)
    assert f"R2 {estimator.score(X, y):.6f}" in ran.err
    assert run("predict", data, "m", "--scores").status == 2


def test_weights_of_targets_and_no_intercept(run, write):
    X, y = targets()
    weight = np.arange(50) % 3
    data, file = write("t.txt", X, y), write("w.txt", "".join(f"{w}\n" for w in weight))
    assert run("fit", data, "-o", "m", "--model", "svr", "--weights", file, "--no-intercept").status == 0
    estimator = minorant.LinearSVR(fit_intercept=False).fit(X, y, weight)
    assert load_fitted("m").certificates[0]["primal"] == pytest.approx(estimator.certificate_.primal, rel=1e-9)
    assert run("certify", "m", data).status == 0
    ran = run("fit", data, "-o", "m", "--model", "svr", "-w", "1=2")
    assert (ran.status, ran.out) == (2, "")
    assert "--model svr has targets. Use --weights" in ran.err


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", ["f1", "roc_auc"])
def test_weights_of_a_measure_are_copies(run, write, draw, k, name):
    X, y = draw(6, k=k)
    weight = np.arange(60) // 2 % 3
    data, file = write("d.txt", X, y), write("w.txt", "".join(f"{w}\n" for w in weight))
    assert run("fit", data, "-o", "m", "--model", name, "--weights", file).status == 0
    assert load_fitted("m").repeats.tolist() == weight.tolist()
    ran = run("certify", "m", data)
    assert (ran.status, ran.err) == (0, "")
    copies = write("copies.txt", np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert run("fit", copies, "-o", "m2", "--model", name).status == 0
    ours, theirs = load_fitted("m").certificates, load_fitted("m2").certificates
    assert [c["primal"] for c in ours] == pytest.approx([c["primal"] for c in theirs], rel=1e-3)
    Path(file).write_text("0.5\n0.7\n" * 30)
    assert "whole numbers" in run("fit", data, "-o", "m", "--model", name, "--weights", file).err


@pytest.mark.parametrize("name", ["f1", "roc_auc"])
def test_a_class_without_weight_is_no_class(run, three, name):
    assert run("fit", three, "-o", "m", "--model", name, "-w", "0=0").status == 0
    assert load_fitted("m").classes == [1, 2]
    ran = run("certify", "m", three)
    assert (ran.status, ran.err) == (0, "")


def test_the_measure_on_other_data(run, write, draw):
    X, y = draw(4)
    assert run("fit", write("d.txt", X, y), "-o", "m", "--model", "f1", "-q").status == 0
    model = load_fitted("m")
    X, y = draw(5)
    other = write("other.txt", X, y)
    predicted = np.where(X @ model.coef[0] + model.intercept[0] > 0, 1, -1)
    assert f"f1 {f1_score(y, predicted):.6f}" in run("predict", other, "m").err
    negatives = write("negatives.txt", X[y < 0], y[y < 0])
    ran = run("predict", negatives, "m")
    assert (ran.status, len(ran.out.split())) == (0, 30)
    assert "there are no positive examples" in ran.err


def test_a_trivial_solution_is_told(run, binary):
    ran = run("fit", binary, "-o", "m", "--model", "f1", "-c", "1e-6", "-q")
    assert (ran.status, ran.out) == (0, "")
    assert "warning: 1 against -1: w = 0 is the best model" in ran.err
    assert run("certify", "m", binary).status == 0


def test_stopped_before_tol(run, binary):
    assert run("fit", binary, "-o", "m", "--model", "f1", "--max-iter", "2", "-e", "1e-9").status == 3
    assert run("certify", "m", binary).status == 3


def test_other_options_are_refused(run, binary):
    for words, reason in (
        (["--model", "f1", "--beta", "2"], "--beta is no option of --model f1, which has -c; --beta is for fbeta"),
        (["--model", "svm", "--k", "3"], "--k is for precision_at_k, recall_at_k"),
        (["--model", "enet", "-c", "1"], "-c is no option of --model enet, which has --alpha, --l1-ratio"),
        (["--model", "f1", "--solver", "newton"], "--solver is no option of --model f1"),
        (["--model", "l1svm", "--penalty", "l2"], "--penalty is no option of --model l1svm"),
        (["--l1-ratio", "0.3"], "--penalty elasticnet; got --penalty l2"),
        (["--multi-class", "crammer_singer", "--loss", "squared_hinge"], "a hinge loss of its own"),
        (["--loss", "hing"], "did you mean 'hinge'?"),
        (["--penalty", "l3"], "Allowed: 'elasticnet', 'l1', 'l2'"),
        (["--model", "recall_at_k"], "needs --k"),
        (["--model", "precision_at_k", "--k", "61"], "k = 61 is more than the 60 examples"),
        (["--model", "precision_at_k", "--k", "0"], "k must be a whole number, at least 1"),
        (["--model", "precision_at_k", "--k", "2.5"], "invalid int value"),
        (["--model", "fbeta", "--beta", "0"], "beta must be positive"),
        (["--model", "fbeta", "--beta", "nan"], "beta must be positive"),
        (["--model", "f1", "-c", "-1"], "C must be a finite number > 0; got -1.0"),
        (["--model", "enet", "--alpha", "0"], "--alpha must be a finite number > 0; got 0.0"),
        (["--model", "enet", "--l1-ratio", "1.5"], "--l1-ratio must be a finite number from 0 to 1"),
        (["--model", "enet_ball", "--gamma", "-1"], "--gamma must be a finite number >= 0"),
        (["--model", "svr", "--epsilon", "inf"], "--epsilon must be a finite number >= 0"),
        (["--model", "quantile", "--quantile", "1"], "--quantile must be a finite number between 0 and 1"),
    ):
        ran = run("fit", binary, "-o", "m", *words)
        assert (ran.status, ran.out) == (2, ""), words
        assert reason in ran.err, words
        assert not Path("m").exists()


def _change(name, value):
    def forge(tensors, about):
        if name in tensors:
            tensors[name] = np.asarray(value(tensors[name].copy()), dtype=tensors[name].dtype)
        elif name in about:
            about[name] = value(about[name])
        else:
            about["certificates"][0][name] = value(about["certificates"][0][name])

    return forge


def _first(factor):
    def scale(tensor):
        tensor.flat[0] *= factor
        return tensor

    return scale


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("f1", _change("coef", _first(1 + 1e-5))),
        ("f1", _change("law_weights", _first(1 - 1e-6))),
        ("f1", _change("law_ones", lambda ones: ones ^ 1)),
        ("f1", _change("beta", lambda _: 1.1)),
        ("f1", _change("bias", lambda _: False)),
        ("f1", _change("dual", lambda dual: dual * (1 + 1e-6))),
        ("roc_auc", _change("part_values", _first(1 - 1e-4))),
        ("svm --multi-class crammer_singer", _change("alpha", _first(1 + 1e-4))),
        ("logistic", _change("coef", _first(1.01))),
        ("logistic", _change("primal", lambda primal: primal * (1 - 1e-6))),
        ("logistic", _change("lam", lambda lam: lam * 1.001)),
        ("l1svm", _change("alpha", _first(1.01))),
    ],
)
def test_what_is_forged_is_refuted(run, three, name, forge):
    assert run("fit", three, "-o", "m", "--model", *name.split(), "-c", "0.1").status == 0
    tensors, about = load_model("m")
    forge(tensors, about)
    save_model("m", tensors, about)
    ran = run("certify", "m", three)
    assert ran.status == 2
    assert "REFUTED" in ran.out


def test_parameters_of_targets_are_part_of_the_claim(run, write):
    data = write("t.txt", *targets())
    assert run("fit", data, "-o", "m", "--model", "svr", "-p", "0.1").status == 0
    tensors, about = load_model("m")
    save_model("m", tensors, {**about, "epsilon": 0.11})
    assert "REFUTED" in run("certify", "m", data).out
    save_model("m", tensors, {**about, "epsilon": -0.1})
    assert "epsilon = -0.1 is out of range" in run("certify", "m", data).err
    assert "epsilon must be a number ≥ 0; got -0.1" in run("predict", data, "m").err
    del about["epsilon"]
    save_model("m", tensors, about)
    assert run("certify", "m", data).status == 2
    assert run("predict", data, "m").status == 2


@pytest.mark.parametrize("name", ["f1", "logistic", "svm --multi-class crammer_singer", "prbep"])
def test_damaged_files_are_no_crash(run, three, name):
    """Whatever is lost: a clear error of `certify` and `predict`, or a verdict."""
    assert run("fit", three, "-o", "m", "--model", *name.split(), "-c", "0.1").status == 0
    tensors, about = load_model("m")
    unread = ("tol", "version", "model", "bias", "fit_intercept", "beta", "k")  # by one of the two commands, at least
    for part in {*tensors, *about} - {"format"}:
        save_model("n", {k: v for k, v in tensors.items() if k != part}, {k: v for k, v in about.items() if k != part})
        for words in (["certify", "n", three], ["predict", three, "n"]):
            ran = run(*words)
            assert ran.status in ((0, 2) if part in unread else (2,)), (words, part)
            assert ran.err == "" or ran.err.startswith(("minorant: error: ", "Accuracy"))
    whole = Path("m").read_bytes()
    for size in (0, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        Path("n").write_bytes(whole[:size])
        for words in (["certify", "n", three], ["predict", three, "n"]):
            ran = run(*words)
            assert (ran.status, ran.out) == (2, "")
            assert "not a usable model file" in ran.err


def test_a_file_of_the_first_version_is_read(run, binary):
    """It has no more than these names, and the model of a linear SVM."""
    run("fit", binary, "-o", "m")
    tensors, about = load_model("m")
    names = "format model loss penalty lam fit_intercept classes certificates n_features version tol"
    assert set(about) == set(names.split())
    assert set(tensors) == {"coef", "intercept", "alpha"}
    assert isinstance(load_fitted("m"), LinearModel)


@pytest.mark.parametrize(("name", "problems"), [("f1", 3), ("logistic", 1), ("enet", 1), ("l1svm", 3)])
def test_the_log(run, three, name, problems):
    assert run("fit", three, "-o", "m", "--model", name, "--log", "run.jsonl").status == 0
    head, *rows, tail = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert head["model"] == name
    assert head["arguments"].items() >= MODELS[name].options.items()  # the defaults, too
    assert ("classes" in head) == (name != "enet")
    assert {row["class"] for row in rows} == set(range(problems))
    claims = load_fitted("m").certificates
    assert tail["certificates"] == [{"class": r, **claim} for r, claim in enumerate(claims)]

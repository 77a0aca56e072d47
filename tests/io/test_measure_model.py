"""The file of a model trained for a measure, and the kinds of files: their parts fit each other, or the error says."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from minorant.errors import InputError
from minorant.io import LinearModel, MeasureModel, load_fitted, load_model, save_model
from minorant.io.measure_model import packed_law

N, P = 11, 3
CLAIM = {"primal": 1.0, "dual": 0.5, "status": "CERTIFIED", "n_products": 4}


def law(k, n=N, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(k):
        flips = [np.where(rng.random(n) < 0.3, rng.random(n), rng.integers(0, 2, n)) for _ in range(3)]
        rows.append((rng.random(3), flips))
    return rows


def model(classes=(-1, 1), **changes):
    k = 1 if len(classes) == 2 else len(classes)
    rng = np.random.default_rng(1)
    parts = {
        "coef": rng.standard_normal((k, P)),
        "intercept": rng.standard_normal(k),
        "lam": 0.1,
        "classes": list(classes),
        "certificates": [CLAIM] * k,
        "tol": 1e-3,
        "metric": "fbeta",
        "beta": 2.0,
        "k": None,
        "bias": True,
        "n_rows": N,
        **packed_law(law(k)),
    }
    return MeasureModel(**{**parts, **changes})


def at_k(**changes):
    return model(**{"metric": "recall_at_k", "beta": None, "k": 3, "bias": False, **changes})


REPEATED = {"repeats": np.array([2, 0, *[1] * (N - 2)], dtype=np.int32)}


@pytest.mark.parametrize("saved", [model(), model((0, 1, 5)), at_k(), model(**REPEATED)])
def test_round_trip_is_exact(tmp_path, saved):
    saved.save(tmp_path / "m")
    for loaded in (MeasureModel.load(tmp_path / "m"), load_fitted(tmp_path / "m")):
        assert type(loaded) is MeasureModel
        for field in dataclasses.fields(MeasureModel):
            a, b = getattr(saved, field.name), getattr(loaded, field.name)
            assert type(a) is type(b)
            np.testing.assert_array_equal(a, b)


def test_a_law_is_packed_without_loss():
    rows = law(2)
    packed = packed_law(rows)
    assert packed["law_rows"].tolist() == [0, 0, 0, 1, 1, 1]
    for j, (weight, z) in enumerate((w, z) for betas, flips in rows for w, z in zip(betas, flips, strict=True)):
        found = np.unpackbits(packed["law_ones"][j], count=N).astype(float)
        own = packed["part_labelings"] == j
        found[packed["part_examples"][own]] = packed["part_values"][own]
        assert np.array_equal(found, z)
        assert packed["law_weights"][j] == weight


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metric": "f2"}, "metric is 'f2'; this version reads 'balanced_error' or"),
        ({"metric": "gmean"}, "beta belongs to fbeta"),
        ({"k": 3}, "beta belongs to fbeta"),
        ({"beta": None}, "beta belongs to fbeta"),
        ({"beta": 0.0}, "beta must be a positive number; got 0.0"),
        ({"beta": "1"}, "beta must be a positive number; got '1'"),
        ({"bias": 1}, "bias must be True or False"),
        ({"n_rows": 0}, "a model needs features and rows; got 3 features and 0 rows"),
        ({"n_rows": 30}, "law_ones must have shape (3, 4); got (3, 2)"),
        ({"n_rows": "many"}, "a model needs features and rows"),
        ({"classes": None}, "classes must be a list of at least two labels"),
        ({"law_rows": np.zeros(2, np.int32)}, "law_rows must have shape (3)"),
        ({"law_rows": np.ones(3, np.int32)}, "law_rows must have labelings for each row of coef"),
        ({"part_examples": np.full_like(model().part_examples, N)}, "part_examples must be from 0 to 10"),
        ({"part_labelings": np.full_like(model().part_labelings, -1)}, "part_labelings must be from 0 to 2"),
        ({"part_values": np.ones(1)}, "part_labelings must have shape (1)"),
        ({"repeats": np.ones(N)}, "repeats must be an array of int32"),
        ({"repeats": np.zeros(N, np.int32)}, "repeats must be nonnegative and not all 0"),
        ({"repeats": np.r_[-1, np.ones(N - 1)].astype(np.int32)}, "repeats must be nonnegative"),
        ({"certificates": []}, "certificates must be a list"),
    ],
)
def test_parts_that_do_not_fit(changes, reason):
    with pytest.raises(InputError, match="^" + re.escape(reason)):
        dataclasses.replace(model(), **changes)


@pytest.mark.parametrize("k", [0, 2.0, True])
def test_k_is_a_whole_number(k):
    with pytest.raises(InputError, match="k must be a whole number"):
        at_k(k=k)


def test_missing_parts(tmp_path):
    path = tmp_path / "m"
    model().save(path)
    tensors, meta = load_model(path)
    for name in {*tensors, *meta} - {"format", "tol", "model"}:
        without = [{key: value for key, value in part.items() if key != name} for part in (tensors, meta)]
        save_model(path, *without)
        with pytest.raises(InputError, match=f"'{name}' is missing"):
            load_fitted(path)


def test_a_file_of_the_other_kind_is_refused(tmp_path):
    path = tmp_path / "m"
    model().save(path)
    with pytest.raises(InputError, match="not a usable model file: description 'loss' is missing"):
        LinearModel.load(path)
    linear(path)
    with pytest.raises(InputError, match="model is 'linear_svr'; this version reads 'multivariate_svc'"):
        MeasureModel.load(path)


def linear(path, **changes):
    parts = {
        "coef": np.ones((1, P)),
        "intercept": np.ones(1),
        "alpha": np.zeros((1, N)),
        "lam": 0.1,
        "fit_intercept": True,
        "classes": None,
        "certificates": [CLAIM],
        "model": "linear_svr",
        "loss": "epsilon_insensitive",
        "penalty": "l2",
        "parameters": {"epsilon": 0.1},
    }
    found = LinearModel(**{**parts, **changes})
    found.save(path)
    return found


JOINT = {
    "coef": np.ones((3, P)),
    "intercept": np.ones(3),
    "alpha": np.zeros((N, 3)),
    "classes": [1, 2, 4],
    "model": "logistic_regression",
    "loss": "multinomial",
    "parameters": {},
}
BALL = {"model": "elastic_net_ball", "loss": "squared", "penalty": "elasticnet_ball"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        JOINT,
        {**JOINT, "model": "linear_svc", "loss": "crammer_singer", "penalty": "l1"},
        {**BALL, "parameters": {"radius": 2.0, "gamma": 0.0}},
        {"model": "elastic_net", "loss": "squared", "penalty": "elasticnet", "parameters": {"l1_ratio": 1.0}},
        {"model": "quantile_regressor", "loss": "quantile", "penalty": "l1", "parameters": {"quantile": 0.5}},
    ],
)
def test_kinds_of_linear_models(tmp_path, changes):
    saved = linear(tmp_path / "m", **changes)
    loaded = load_fitted(tmp_path / "m")
    for field in dataclasses.fields(LinearModel):
        np.testing.assert_array_equal(getattr(saved, field.name), getattr(loaded, field.name))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"classes": [0, 1]}, "a model of targets has no classes"),
        ({"penalty": "l1"}, "penalty is 'l1'; this version reads 'l2'"),
        ({"loss": "hinge"}, "loss is 'hinge'; this version reads 'epsilon_insensitive'"),
        ({"parameters": {}}, "linear_svr has the parameters ['epsilon']; got []"),
        ({"parameters": {"epsilon": -1.0}}, "epsilon must be a number ≥ 0; got -1.0"),
        ({**BALL, "parameters": {"radius": 0.0, "gamma": 1.0}}, "radius must be a number > 0"),
        ({**JOINT, "alpha": np.zeros((3, N))}, "alpha must have shape (any, 3); got (3, 11)"),
        ({**JOINT, "certificates": [CLAIM] * 3}, "certificates must be a list with one entry per problem, 1"),
        ({**JOINT, "coef": np.ones((1, P))}, "coef must have shape (3, any)"),
        ({**JOINT, "parameters": {"l1_ratio": 0.5}}, "logistic_regression has the parameters []; got ['l1_ratio']"),
    ],
)
def test_linear_models_whose_parts_do_not_fit(tmp_path, changes, reason):
    with pytest.raises(InputError, match="^" + re.escape(reason)):
        linear(tmp_path / "m", **changes)
    assert not (tmp_path / "m").exists()

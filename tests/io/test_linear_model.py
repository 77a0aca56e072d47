"""The file of a linear SVM: its parts fit each other, or the error says which do not."""

from __future__ import annotations

import dataclasses
import re
from importlib import metadata

import numpy as np
import pytest

from minorant.errors import InputError
from minorant.io import LinearModel, load_model, save_model

N, P = 6, 4


def certificate(**changes):
    return {"primal": 1.0, "dual": 0.5, "status": "CERTIFIED", "n_products": 12, **changes}


def model(classes=("no", "yes"), dtype=np.float64, **changes):
    k = 1 if len(classes) == 2 else len(classes)
    rng = np.random.default_rng(0)
    parts = {
        "coef": rng.standard_normal((k, P)).astype(dtype),
        "intercept": rng.standard_normal(k).astype(dtype),
        "alpha": rng.random((k, N)) / N,
        "lam": 0.1,
        "fit_intercept": True,
        "classes": list(classes),
        "certificates": [certificate() for _ in range(k)],
    }
    return LinearModel(**{**parts, **changes})


@pytest.mark.parametrize("classes", [("no", "yes"), (-1.0, 1.0), (0, 1, 5), (False, True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", [None, np.full(N, 1 / N)])
def test_round_trip_is_exact(tmp_path, classes, dtype, weights):
    saved = model(classes, dtype, weights=weights)
    saved.save(tmp_path / "m")
    loaded = LinearModel.load(tmp_path / "m")
    for field in dataclasses.fields(LinearModel):
        a, b = getattr(saved, field.name), getattr(loaded, field.name)
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype


def test_the_description(tmp_path, monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda _: "1.2.3")
    model().save(tmp_path / "m")
    tensors, meta = load_model(tmp_path / "m")
    assert set(tensors) == {"coef", "intercept", "alpha"}
    assert meta == {
        "format": 1,
        "model": "linear_svc",
        "loss": "hinge",
        "penalty": "l2",
        "lam": 0.1,
        "fit_intercept": True,
        "classes": ["no", "yes"],
        "certificates": [certificate()],
        "n_features": P,
        "version": "1.2.3",
    }


def test_a_source_tree_has_no_version(monkeypatch):
    def missing(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert model().version == "unknown"


BAD_PARTS = [
    ({"coef": [[1.0] * P]}, "coef must be an array of float32 or float64; got <class 'list'>"),
    ({"coef": np.ones((1, P), int)}, "coef must be an array of float32 or float64; got int64"),
    ({"coef": np.ones((2, P))}, "coef must have shape (1, any); got (2, 4)"),
    ({"coef": np.ones(P)}, "coef must have shape (1, any); got (4,)"),
    ({"coef": np.ones((1, 0))}, "a model needs features and rows; got 0 features and 6 rows"),
    ({"coef": np.full((1, P), np.nan)}, "coef has values that are not finite"),
    ({"intercept": np.ones(2)}, "intercept must have shape (1); got (2,)"),
    ({"alpha": np.ones((1, N), np.float32)}, "alpha must be an array of float64; got float32"),
    ({"alpha": np.ones((1, 0))}, "a model needs features and rows; got 4 features and 0 rows"),
    ({"weights": np.full(N + 1, 1 / (N + 1))}, "weights must have shape (6); got (7,)"),
    ({"weights": np.full(N, 1.0)}, "weights must be nonnegative and sum to 1"),
    ({"weights": np.array([-1.0, 2, 0, 0, 0, 0])}, "weights must be nonnegative and sum to 1"),
    ({"lam": 0.0}, "lam must be a positive number; got 0.0"),
    ({"lam": float("inf")}, "lam must be a positive number; got inf"),
    ({"lam": "1"}, "lam must be a positive number; got '1'"),
    ({"lam": True}, "lam must be a positive number; got True"),
    ({"lam": 10**400}, "lam must be a positive number; got 1000"),
    ({"fit_intercept": 1}, "fit_intercept must be True or False; got 1"),
    ({"version": 3}, "version must be a string; got 3"),
    ({"classes": ["yes"]}, "classes must be a list of at least two labels; got ['yes']"),
    ({"classes": "no"}, "classes must be a list of at least two labels; got 'no'"),
    ({"classes": ["a", 1]}, "classes must be distinct, and all numbers or all strings"),
    ({"classes": ["a", "a"]}, "classes must be distinct, and all numbers or all strings"),
    ({"classes": [[], {}]}, "classes must be distinct, and all numbers or all strings"),
    ({"classes": [1, 10**400]}, "classes must be distinct, and all numbers or all strings"),
    ({"certificates": {}}, "certificates must be a list with one entry per problem, 1"),
    ({"certificates": []}, "certificates must be a list with one entry per problem, 1"),
    ({"certificates": [3]}, "a certificate must have exactly the entries primal, dual, status, n_products"),
    ({"certificates": [{"primal": 1.0}]}, "a certificate must have exactly the entries"),
    ({"certificates": [certificate(dual=float("-inf"))]}, "a certificate needs numbers primal and dual"),
    ({"certificates": [certificate(primal="1")]}, "a certificate needs numbers primal and dual"),
    ({"certificates": [certificate(status=3)]}, "a certificate needs numbers primal and dual, a text status"),
    ({"certificates": [certificate(n_products=1.5)]}, "a certificate needs numbers primal and dual"),
]


@pytest.mark.parametrize(("changes", "reason"), BAD_PARTS)
def test_parts_that_do_not_fit(changes, reason):
    with pytest.raises(InputError, match="^" + re.escape(reason)):
        dataclasses.replace(model(), **changes)


@pytest.mark.parametrize(
    ("tensors", "meta", "reason"),
    [
        ({}, {"model": "tree"}, "model is 'tree'; this version reads 'linear_svc'"),
        ({}, {"loss": None}, "loss is None; this version reads 'hinge'"),
        ({}, {"lam": -1}, "lam must be a positive number; got -1"),
        ({}, {"n_features": 5}, "n_features is 5, but coef has 4 columns"),
        ({}, {"certificates": None}, "certificates must be a list"),
        ({"coef": np.ones((3, P))}, {}, "coef must have shape (1, any); got (3, 4)"),
    ],
)
def test_files_whose_parts_do_not_fit(tmp_path, tensors, meta, reason):
    path = tmp_path / "m"
    model().save(path)
    old_tensors, old_meta = load_model(path)
    save_model(path, {**old_tensors, **tensors}, {**old_meta, **meta})
    with pytest.raises(InputError, match="^" + re.escape(f"{path}: not a usable model file: {reason}")):
        LinearModel.load(path)


@pytest.mark.parametrize("name", ["coef", "intercept", "alpha", "lam", "classes", "certificates", "n_features"])
def test_missing_parts(tmp_path, name):
    path = tmp_path / "m"
    model().save(path)
    tensors, meta = load_model(path)
    for parts in (tensors, meta):
        parts.pop(name, None)
    save_model(path, tensors, meta)
    with pytest.raises(InputError, match=f"'{name}' is missing"):
        LinearModel.load(path)


def test_flipped_bits_are_an_input_error_or_a_valid_model(tmp_path):
    path = tmp_path / "m"
    model((0, 1, 5), weights=np.full(N, 1 / N)).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    messages = []
    for _ in range(4000):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert LinearModel.load(path).coef.shape == (3, P)
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 1000
    assert all(str(path) in message for message in messages)

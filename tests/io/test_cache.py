"""The cache: what goes in comes out, damage is named, and a killed writer changes nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
import re

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_array, csr_matrix, random_array

from minorant.errors import InputError
from minorant.io import cache as cache_module
from minorant.io import load_cache, save_cache

ARRAYS = ("data", "indices", "indptr", "labels")


@pytest.fixture
def matrix():
    X = csr_array(random_array((20, 7), density=0.3, rng=np.random.default_rng(0)))
    return X, np.arange(20.0) % 3


@pytest.fixture
def cache(tmp_path, matrix):
    save_cache(tmp_path / "cache", *matrix)
    return tmp_path / "cache"


def half(cache):
    return cache / json.loads((cache / "manifest.json").read_text())["half"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_matrix, np.asarray])
def test_round_trip(tmp_path, matrix, dtype, kind):
    X, y = matrix
    X = X.astype(dtype)
    save_cache(tmp_path / "new" / "cache", kind(X.toarray() if kind is np.asarray else X), y.astype(int))
    A, b = load_cache(tmp_path / "new" / "cache")
    np.testing.assert_array_equal(A.toarray(), X.toarray())
    np.testing.assert_array_equal(b, y)
    assert (A.dtype, A.indices.dtype, A.indptr.dtype, b.dtype) == (dtype, np.int32, np.int32, np.float64)
    assert not A.data.flags.writeable
    assert not A.data.flags.owndata


def test_unsorted_repeated_and_wide_indices_become_canonical(tmp_path):
    indices, indptr = np.array([2, 0, 2], np.int64), np.array([0, 3], np.int64)
    X = csr_array((np.array([1, 2, 3]), indices, indptr), shape=(1, 3))
    save_cache(tmp_path / "cache", X, [1])
    A, _ = load_cache(tmp_path / "cache")
    assert (A.indices.tolist(), A.data.tolist(), A.indices.dtype) == ([0, 2], [2, 4], np.int32)
    assert indices.tolist() == [2, 0, 2]


def test_columns_beyond_32_bits(tmp_path):
    X = csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**40 + 1))
    save_cache(tmp_path / "cache", X, [1])
    A, _ = load_cache(tmp_path / "cache")
    assert (A.shape, A.indices.tolist(), A.indices.dtype) == (X.shape, [2**40], np.int64)


def test_empty_rows(tmp_path):
    save_cache(tmp_path / "cache", csr_array((2, 3)), [1, -1])
    assert load_cache(tmp_path / "cache")[0].nnz == 0


def bad_indices(column, end):
    X = csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    X.indices[1], X.indptr[1] = column, end
    return X


@pytest.mark.parametrize(
    ("X", "y", "reason"),
    [
        (np.ones(3), [1, 1, 1], "X must be a matrix; got 1 dimension"),
        (np.ones((2, 2)), [1], r"y must have one number per row of X, shape \(2,\); got shape \(1,\)"),
        (np.ones((2, 2)), ["a", "b"], "y must be numbers: could not convert string to float: 'a'"),
        (np.ones((2, 2), complex), [1, 1], "X must hold real numbers; got complex128"),
        (bad_indices(2, 1), [1, 1], "column indices go from 0 to 2; allowed: 0 to 1"),
        (bad_indices(-1, 1), [1, 1], "column indices go from -1 to 0; allowed: 0 to 1"),
        (bad_indices(1, 5), [1, 1], "indptr must rise"),
    ],
)
def test_bad_data_is_refused(tmp_path, X, y, reason):
    with pytest.raises(InputError, match=reason):
        save_cache(tmp_path / "cache", X, y)
    assert not (tmp_path / "cache").exists()


def test_a_directory_with_other_files_is_left_alone(tmp_path, matrix):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"'thesis\.tex', so it is no cache"):
        save_cache(tmp_path, *matrix)
    assert os.listdir(tmp_path) == ["thesis.tex"]
    with pytest.raises(FileExistsError):
        save_cache(tmp_path / "thesis.tex", *matrix)
    with pytest.raises(NotADirectoryError):
        save_cache(tmp_path / "thesis.tex" / "cache", *matrix)


def test_a_cache_is_replaced_and_keeps_no_more_than_one_half(cache, matrix):
    X, y = matrix
    for factor in (2, 3, 4):
        mapped = load_cache(cache)
        save_cache(cache, factor * X, y)
        np.testing.assert_array_equal(load_cache(cache)[0].toarray(), factor * X.toarray())
        assert len(os.listdir(cache)) == 2
        assert mapped[0].nnz == X.nnz


@pytest.mark.parametrize("step", ["mkdir", "fsync", "replace"])
def test_a_writer_that_fails_changes_nothing(cache, matrix, monkeypatch, step):
    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="No space left"):
            save_cache(cache, 2 * matrix[0], matrix[1])
    np.testing.assert_array_equal(load_cache(cache)[0].toarray(), matrix[0].toarray())
    assert len(os.listdir(cache)) <= 3
    save_cache(cache, 2 * matrix[0], matrix[1])
    assert len(os.listdir(cache)) == 2


def killed(path, X, y, step, count):
    original, calls = getattr(os, step), []

    def die(*args, **kwargs):
        calls.append(args)
        if len(calls) == count:
            os._exit(9)
        return original(*args, **kwargs)

    setattr(os, step, die)
    save_cache(path, X, y)


@pytest.mark.parametrize(("step", "count"), [("fsync", 1), ("fsync", 4), ("fsync", 6), ("replace", 1), ("fsync", 7)])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_killed_writer_leaves_the_old_cache_or_the_new_one(tmp_path, matrix, step, count, fresh):
    X, y = matrix
    cache = tmp_path / "cache"
    if not fresh:
        save_cache(cache, X, y)
    child = multiprocessing.get_context("fork").Process(target=killed, args=(cache, 2 * X, y, step, count))
    child.start()
    child.join()
    assert child.exitcode == 9
    assert os.listdir(tmp_path) == ["cache"]
    if fresh and count != 7:
        with pytest.raises(InputError, match="no complete cache"):
            load_cache(cache)
    else:
        factor = 2 if count == 7 else 1
        np.testing.assert_array_equal(load_cache(cache)[0].toarray(), factor * X.toarray())
    save_cache(cache, 3 * X, y)
    np.testing.assert_array_equal(load_cache(cache)[0].toarray(), 3 * X.toarray())
    assert len(os.listdir(cache)) == 2


def test_missing_directories_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_cache(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        load_cache(tmp_path / "file")
    with pytest.raises(InputError, match=r"no manifest\.json, so this is no complete cache"):
        load_cache(tmp_path)


@pytest.mark.parametrize("name", ARRAYS)
def test_damaged_arrays_are_named(cache, name):
    path = half(cache) / f"{name}.npy"
    whole = path.read_bytes()
    for content in (b"", whole[:5], whole[:70], whole[:-1], b"garbage" * 40, b"PK\x03\x04" + whole):
        path.write_bytes(content)
        with pytest.raises(InputError, match=re.escape(f"{path}: truncated or damaged")):
            load_cache(cache)
    np.save(path, np.zeros(3, np.int16))
    with pytest.raises(InputError, match=re.escape(f"{path}: holds int16 of shape (3,), but the manifest says")):
        load_cache(cache)
    path.unlink()
    with pytest.raises(InputError, match=re.escape(f"{path}: missing")):
        load_cache(cache)


@pytest.mark.parametrize(("name", "place", "value"), [("indices", 3, 7), ("indices", 3, -1), ("indptr", 5, 99)])
def test_indices_are_checked_before_use(cache, name, place, value):
    path = half(cache) / f"{name}.npy"
    array = np.load(path)
    array[place] = value
    np.save(path, array)
    with pytest.raises(InputError, match=re.escape(f"{half(cache)}: damaged: ")):
        load_cache(cache)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"half": "../cache"}, {"shape": [20]}, {"shape": [20, -1]}, {"shape": 3},
        {"nnz": True}, {"nnz": 2**60}, {"dtype": "object"}, {"index_dtype": []}, {"source": 3}, {"nnz": 5},
        {"shape": [21, 7]},
    ],
)  # fmt: skip
def test_damaged_manifests_are_named(cache, change):
    path = cache / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=re.escape(str(cache))):
        load_cache(cache)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"[" * 10**5, b"3", b'"\xed\xa0\x80'])
def test_manifests_that_are_not_json(cache, text):
    (cache / "manifest.json").write_bytes(text)
    with pytest.raises(InputError, match=r"manifest\.json: "):
        load_cache(cache)
    save_cache(cache, np.eye(2), [1, 2])
    assert load_cache(cache)[0].shape == (2, 2)


def test_flipped_bits_are_an_input_error_or_a_valid_load(cache):
    rng = np.random.default_rng(0)
    files = [cache / "manifest.json", *(half(cache) / f"{name}.npy" for name in ARRAYS)]
    messages = []
    for _ in range(2000):
        path = files[rng.integers(len(files))]
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[rng.integers(min(len(whole), 140))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            X, y = load_cache(cache)
            assert X.shape[0] == y.size
            assert (X @ np.ones(X.shape[1])).shape == y.shape
        except InputError as error:
            messages.append(str(error))
        path.write_bytes(whole)
    assert len(messages) > 1000
    assert all(str(cache) in message for message in messages)


def test_readers_and_writers_wait_for_each_other(cache, matrix):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=save_cache, args=(cache, k * matrix[0], matrix[1])) for k in range(1, 5)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        X, _ = load_cache(cache)
        assert X.nnz == matrix[0].nnz
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert len(os.listdir(cache)) == 2


def test_a_file_system_without_locks(cache, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert cache_module.load_cache(cache)[0].shape == (20, 7)

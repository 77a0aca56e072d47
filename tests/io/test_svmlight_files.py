"""Compressed, damaged and missing files, the cache beside them, and which reader runs."""

from __future__ import annotations

import bz2
import errno
import gzip
import importlib.util
import io
import lzma
import os
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import LinearSVC

from minorant.errors import InputError
from minorant.io import load_cache, load_data, load_svmlight, svmlight

COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
TEXT = b"".join(b"%+d 1:%d.25 %d:0.5\n" % (1 - 2 * (i % 2), i, 2 + i % 7) for i in range(5000))


def same(a, b):
    return (abs(a[0] - b[0])).nnz == 0 and a[0].shape == b[0].shape and np.array_equal(a[1], b[1])


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("suffix", COMPRESSORS)
@pytest.mark.parametrize("name", ["data.{}", "misnamed.txt"])
def test_compressed_files(tmp_path, text_file, suffix, name):
    path = tmp_path / name.format(suffix)
    path.write_bytes(COMPRESSORS[suffix](TEXT))
    assert same(load_svmlight(path), load_svmlight(text_file(TEXT)))


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_damaged_compressed_files(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    whole = COMPRESSORS[suffix](TEXT)
    rng = np.random.default_rng(0)
    for size in [*range(6, 40), *rng.integers(40, len(whole) - 1, 20)]:
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=f"data.{suffix}: the compressed file is truncated or damaged"):
            load_svmlight(path)
    messages = []
    for place in rng.integers(0, len(whole), 200):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            load_svmlight(path)
        except InputError as error:
            messages.append(str(error))
    assert messages
    assert all(str(path) in message for message in messages)


def test_an_error_of_the_disk_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(TEXT))
    monkeypatch.setattr(svmlight, "_decompressed", lambda file: (io.BufferedReader(Broken()), (OSError,)))
    with pytest.raises(OSError, match="Input/output error") as caught:
        load_svmlight(path)
    assert not isinstance(caught.value, InputError)


def test_missing_files_and_directories_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_svmlight(tmp_path / "none.txt")
    with pytest.raises(FileNotFoundError):
        load_svmlight(tmp_path / "none.txt", cache=tmp_path / "cache")
    with pytest.raises(IsADirectoryError):
        load_svmlight(tmp_path)


def test_a_pipe_can_be_read(tmp_path):
    read, write = os.pipe()
    os.write(write, b"1 1:2\n")
    os.close(write)
    try:
        X, y = load_svmlight(f"/dev/fd/{read}")
    finally:
        os.close(read)
    assert (X.toarray().tolist(), y.tolist()) == ([[2.0]], [1.0])


def test_scikit_learn_takes_what_we_read(tmp_path):
    rng = np.random.default_rng(0)
    dump_svmlight_file(rng.standard_normal((30, 4)), np.arange(30) % 2, str(tmp_path / "data.txt"))
    LinearSVC().fit(*load_svmlight(tmp_path / "data.txt"))


def test_the_cache_follows_the_file_and_the_options(tmp_path, text_file, monkeypatch):
    path, cache = text_file("1 1:1 3:0.1\n-1 2:2\n"), tmp_path / "cache"
    plain = load_svmlight(path)
    parses = []
    parse = svmlight._parse
    monkeypatch.setattr(svmlight, "_parse", lambda *a, **k: parses.append(k) or parse(*a, **k))

    def load(**options):
        parses.clear()
        return load_svmlight(path, cache=cache, **options), len(parses)

    for expected in (1, 0):
        loaded, n = load()
        assert same(loaded, plain)
        assert n == expected
        assert not loaded[0].data.flags.writeable
    for options in ({"dtype": np.float32}, {"zero_based": True}, {"n_features": 9}):
        for expected in (1, 0):
            loaded, n = load(**options)
            assert same(loaded, load_svmlight(path, **options))
            assert loaded[0].dtype == options.get("dtype", np.float64)
            assert n == expected
        parses.clear()
    load()
    about = os.stat(path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert load()[1] == 1
    path.write_text("1 1:1 3:0.25\n-1 2:2\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert load()[0][0][0, 2] == 0.25
    (cache / "manifest.json").write_text("{")
    assert load()[1] == 1
    for file in next(cache.glob("csr-?")).iterdir():
        file.write_bytes(b"")
    assert load()[1] == 1
    assert same(load_cache(cache), load()[0])


def test_two_files_of_one_size_and_time_do_not_share_a_cache(tmp_path):
    for name, label in (("a", 1), ("b", 2)):
        (tmp_path / name).write_text(f"{label} 1:1\n")
        os.utime(tmp_path / name, ns=(10**18, 10**18))
    assert load_svmlight(tmp_path / "a", cache=tmp_path / "cache")[1] == [1]
    assert load_svmlight(tmp_path / "b", cache=tmp_path / "cache")[1] == [2]


def test_load_data_takes_text_and_caches(tmp_path, text_file):
    path = text_file("1 1:1 3:0.1\n-1 2:2\n")
    plain = load_svmlight(path, cache=tmp_path / "cache")
    for data in (path, tmp_path / "cache"):
        assert same(load_data(data), plain)
        assert same(load_data(data, n_features=3), plain)
        assert load_data(data, n_features=5)[0].shape == (2, 5)
        with pytest.raises(InputError, match="n_features=2"):
            load_data(data, n_features=2)
    assert load_data(path, zero_based=True)[0].shape == (2, 4)


@pytest.mark.parametrize("pure", ["1", "0", ""])
@pytest.mark.parametrize("compiled", [True, False])
def test_which_reader_runs(monkeypatch, pure, compiled):
    core = type(sys)("minorant._core")
    monkeypatch.setenv("MINORANT_PURE", pure)
    monkeypatch.setitem(sys.modules, "minorant._core", core if compiled else None)
    monkeypatch.setattr(sys.modules["minorant"], "_core", core, raising=False)
    if not compiled:
        monkeypatch.delattr(sys.modules["minorant"], "_core")
    spec = importlib.util.spec_from_file_location("fresh_svmlight", svmlight.__file__)
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert fresh.native is (compiled and pure != "1")

"""Small data sets on disk, and the command run in this process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from minorant.cli import main


def write_svmlight(path, X, y):
    rows = []
    for x, label in zip(X, y, strict=True):
        features = " ".join(f"{j + 1}:{float(x[j])!r}" for j in np.flatnonzero(x))
        rows.append(f"{label:g} {features}\n")
    path.write_text("".join(rows))
    return str(path)


def draw(seed, n=60, p=6, k=2):
    """Blobs off the origin that overlap, with zeros among their entries."""
    rng = np.random.default_rng(seed)
    classes = np.array([-1.0, 1.0]) if k == 2 else np.arange(k, dtype=float)
    y = classes[np.arange(n) % k]
    X = rng.normal(size=(n, p)) + rng.normal(size=(k, p))[np.arange(n) % k] + 1.5
    X[rng.random((n, p)) < 0.3] = 0.0
    return X, y


class Ran(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """run(word, ...) in an empty directory: exit status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        status = main([str(word) for word in words])
        return Ran(status, *capsys.readouterr())

    return run


@pytest.fixture
def write(tmp_path):
    """write(name, X, y) or write(name, text) in the directory where `run` runs."""

    def write(name, *content):
        path = tmp_path / name
        if len(content) == 2:
            return write_svmlight(path, *content)
        path.write_text(content[0])
        return str(path)

    return write


@pytest.fixture(name="draw")
def _draw():
    return draw


@pytest.fixture
def binary(tmp_path):
    return write_svmlight(tmp_path / "binary.txt", *draw(0))


@pytest.fixture
def three(tmp_path):
    return write_svmlight(tmp_path / "three.txt", *draw(1, k=3))

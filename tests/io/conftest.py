from __future__ import annotations

import importlib

import pytest

from minorant.io import _svmlight_python, svmlight

try:
    CORE = importlib.import_module("minorant._core")
except ImportError:
    CORE = None


@pytest.fixture(params=["native", "python"])
def reader(request, monkeypatch):
    """Each of the two readers behind `load_svmlight`, one after the other."""
    if request.param == "native" and CORE is None:
        pytest.skip("the core was not compiled")
    module = CORE if request.param == "native" else _svmlight_python
    monkeypatch.setattr(svmlight, "_core", module)
    return module


@pytest.fixture
def text_file(tmp_path):
    def write(content):
        path = tmp_path / "data.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write

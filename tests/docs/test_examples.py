"""The examples of the README and of the docstrings run, and say what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import minorant

README = Path(__file__).parents[2] / "README.md"
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(minorant.__path__, "minorant.") if m.name not in ("minorant.__main__",)
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__ or name == "minorant._core"
    assert doctest.testmod(module).failed == 0


def test_there_are_docstring_examples():
    found = doctest.DocTestFinder().find(importlib.import_module("minorant.estimators.svm").LinearSVC)
    assert any(d.examples for d in found)


def test_readme(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)  # noqa: S102 - our own page
    assert names["proof"].relative_gap <= 1e-4
    assert "proved to be at most" in capsys.readouterr().out

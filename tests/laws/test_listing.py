"""Every loss, regularizer and geometry of the package is under test."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("kind", ["losses", "regularizers", "geometries"])
def test_every_class_has_a_factory(packages, kind):
    assert packages.listed[kind]
    missing = [cls.__name__ for cls in packages.listed[kind] if cls not in packages.factories]
    assert not missing, f"{kind} without a factory in tests/laws/conftest.py, so without tests: {', '.join(missing)}"

"""The pages of the gallery run, and name what they compare."""

import importlib.util
from pathlib import Path

import numpy as np

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def test_imbalanced():
    spec = importlib.util.spec_from_file_location("imbalanced", GALLERY / "imbalanced.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    found = page.run(np.array([0.1, 1.0]), 2)
    assert found.shape == (2, 3, 2, 2)
    assert (found > 0.3).all()
    assert (found < 1).all()
    text = (GALLERY / "imbalanced.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in page.table(found).splitlines()[2:]]
    assert rows == list(page.MODELS)
    assert all(f"| {name} |" in text for name in rows)

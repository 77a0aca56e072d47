"""What docs/paper.md names exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")


def test_every_test_named_exists():
    named = re.findall(r"`((?:\w+/)*test_\w+\.py)?(?:::(\w+))?`", TEXT)
    assert len([n for n in named if any(n)]) > 25
    file = ""
    for path, function in named:
        file = path or file
        if not (path or function):
            continue
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        names = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        assert not function or function in names, f"{file}::{function}"


def test_every_file_named_exists():
    for path in re.findall(r"`((?:\w+/)*\w+\.(?:py|hpp))`", TEXT):
        homes = (ROOT / "src" / "minorant", ROOT / "tests", ROOT)
        assert any((home / path).is_file() for home in homes), path


def test_every_erratum_named_exists():
    listed = set(re.findall(r"^### (E\d+)\.", (ROOT / "ERRATA.md").read_text(encoding="utf-8"), flags=re.M))
    assert set(re.findall(r"\bE\d+\b", TEXT)) <= listed

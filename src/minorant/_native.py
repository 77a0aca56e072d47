"""The compiled core, or None: where no compiler was available, or where MINORANT_PURE=1 asks to do without it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["core_or"]


def core_or(twin: ModuleType) -> ModuleType:
    """The compiled core, or `twin`, which does the same in Python."""
    if os.environ.get("MINORANT_PURE", "0") not in ("", "0"):
        return twin
    try:
        return import_module("minorant._core")
    except ImportError:
        return twin

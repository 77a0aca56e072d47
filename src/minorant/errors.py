"""The errors of the library: each says what is wrong, with the values, what is allowed, and what to type."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class InputError(ValueError):
    """Data or a parameter that no model can be fitted to."""


class UnsupportedPair(TypeError):
    """Two parts of a problem that have no closed form together, with the parts that do."""


def unknown_option(kind: str, name: object, allowed: Iterable[str]) -> InputError:
    """The error for a misspelled option, with the nearest name that exists."""
    names = sorted(allowed)
    near = get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return InputError(f"unknown {kind} {name!r}{hint} Allowed: {', '.join(map(repr, names))}.")

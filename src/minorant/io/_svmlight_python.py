"""The svmlight reader in plain Python, for machines without the compiled core: same results, same messages.

    line   = [label [qid:N] {index:value}] [# comment]
    number = [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]

Indices rise along a row and lie below 2³¹; numbers are finite. Any other line is an error "LINE: reason".
"""

from __future__ import annotations

import re
from array import array
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    Buffer: TypeAlias = bytes | bytearray | memoryview

MAX_INDEX = 2**31 - 1
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_WHOLE = re.compile(rb"[0-9]+")


class ParseError(ValueError):
    """A line that is not svmlight text: "LINE: reason"."""


def _quoted(token: bytes) -> str:
    """A token as an error message shows it: short, printable."""
    shown = "".join(chr(c) if 0x20 < c < 0x7F else f"\\x{c:02x}" for c in token[:40])
    return f"'{shown}...'" if len(token) > 40 else f"'{shown}'"


class SvmlightReader64:
    """Feed chunks of any size, then finish; `zero_based=None` decides by whether index 0 appears."""

    _code: ClassVar[str] = "d"
    _limit: ClassVar[float] = inf  # the least number that rounds to infinity in the type of the values

    def __init__(self, zero_based: bool | None, n_features: int, max_line: int) -> None:
        self._zero_based, self._n_features, self._max_line = zero_based, n_features, max_line
        self._lowest = 1 if zero_based is False else 0
        self._highest = min(MAX_INDEX, n_features - (zero_based is True)) if n_features else MAX_INDEX
        self._line = self._zero_line = self._top_line = 0
        self._largest = -1
        self._carry = bytearray()
        self._labels = array("d")
        self._values: array[float] = array(self._code)
        self._indices, self._row_ends = array("i"), array("q", [0])

    def feed(self, chunk: Buffer) -> None:
        """Parse the lines that end in this chunk, and keep the rest for the next one."""
        *lines, rest = bytes(chunk).split(b"\n")
        for line in lines:
            if self._carry:
                line = bytes(self._carry) + line  # noqa: PLW2901 - the line is what the chunk's border cut in two
                self._carry.clear()
            self._parse(line)
        self._carry += rest
        self._check_length(len(self._carry), self._line + 1)

    def finish(self) -> tuple[Any, Any, Any, Any, int]:
        """The labels, values, indices, row borders and the number of columns."""
        if self._carry:
            self._parse(bytes(self._carry))
        indices = np.frombuffer(self._indices, np.int32)
        one_based = self._zero_based is False or (self._zero_based is None and not self._zero_line)
        n = self._n_features
        if self._zero_based is None and not one_based and self._top_line:
            self._fail(
                f"index {n} is out of range: index 0 in line {self._zero_line} says that indices start at 0, "
                f"and n_features={n} then allows 0 to {n - 1}",
                self._top_line,
            )
        if one_based:
            indices -= 1
        n_columns = n or max(self._largest + (not one_based), 1)
        labels, row_ends = np.frombuffer(self._labels), np.frombuffer(self._row_ends, np.int64)
        return labels, np.frombuffer(self._values, self._code), indices, row_ends, n_columns

    def _fail(self, reason: str, line: int | None = None) -> NoReturn:
        raise ParseError(f"{line or self._line}: {reason}")

    def _check_length(self, length: int, line: int) -> None:
        if length > self._max_line:
            self._fail(f"line longer than {self._max_line} bytes", line)

    def _parse(self, line: bytes) -> None:
        self._line += 1
        self._check_length(len(line), self._line)
        if b"\0" in line:
            self._fail("NUL byte: this is not a text file")
        label, *features = line.partition(b"#")[0].split() or [b""]
        if not label:
            return
        target = float(label) if _NUMBER.fullmatch(label) else inf
        if abs(target) == inf:
            self._refuse_label(label)
        if features and features[0].startswith(b"qid:"):
            if not _WHOLE.fullmatch(features[0], 4):
                self._fail(f"expected qid:N with a whole number N, got {_quoted(features[0])}")
            del features[0]

        previous = self._lowest - 1
        first = len(self._indices)
        for token in features:
            name, colon, number = token.partition(b":")
            index = _index(name) if colon else -1
            value = float(number) if _NUMBER.fullmatch(number) else inf
            if not (previous < index <= self._highest and abs(value) < self._limit):
                self._refuse_feature(token, previous)
            self._indices.append(index)
            self._values.append(value)
            previous = index
        self._labels.append(target)
        self._row_ends.append(len(self._indices))
        if not features:
            return
        self._largest = max(self._largest, previous)
        if not self._zero_line and self._indices[first] == 0:
            self._zero_line = self._line
        if not self._top_line and previous == self._n_features > 0:
            self._top_line = self._line

    def _blame(self, number: bytes) -> str:
        if _NUMBER.fullmatch(number):
            return "is not finite" if abs(float(number)) == inf else "is not finite in float32"
        return "is not finite" if _NOT_FINITE.fullmatch(number) else "is not a number"

    def _refuse_label(self, token: bytes) -> NoReturn:
        if b":" in token:
            self._fail(f"no label: the row starts with {_quoted(token)}")
        if b"," in token:
            self._fail(f"label {_quoted(token)} is a list: one label per row is allowed")
        self._fail(f"label {_quoted(token)} {self._blame(token)}")

    def _refuse_feature(self, token: bytes, previous: int) -> NoReturn:
        name, colon, number = token.partition(b":")
        if not colon:
            self._fail(f"expected index:value, got {_quoted(token)}")
        where = f"index in {_quoted(token)}"
        index = _index(name)
        if index < 0:
            self._fail(f"{where} is not a whole number >= 0")
        if index > MAX_INDEX:
            self._fail(f"{where} is too large: allowed are indices below 2**31")
        if index < self._lowest:
            self._fail(f"{where} is 0, but zero_based=False says that indices start at 1")
        if index > self._highest:
            n = self._n_features
            self._fail(f"{where} is out of range: n_features={n} allows indices up to {self._highest}")
        if index == previous:
            self._fail(f"{where} appears twice in its row")
        if index < previous:
            self._fail(f"{where} comes after index {previous}: indices must rise along a row")
        self._fail(f"value in {_quoted(token)} {self._blame(number)}")


class SvmlightReader32(SvmlightReader64):
    """The same, with values rounded to float32."""

    _code = "f"
    _limit = 2.0**128 - 2.0**103


def _index(name: bytes) -> int:
    """The index, -1 if it is no whole number, MAX_INDEX + 1 if it is larger than that."""
    if not _WHOLE.fullmatch(name):
        return -1
    digits = name.lstrip(b"0") or b"0"
    return min(int(digits), MAX_INDEX + 1) if len(digits) <= 10 else MAX_INDEX + 1

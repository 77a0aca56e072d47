"""What the reader accepts, what it refuses, and in which words; the compiled and the Python reader alike."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from minorant.errors import InputError
from minorant.io import load_svmlight, svmlight

pytestmark = pytest.mark.usefixtures("reader")


def test_reads_rows_labels_and_comments(text_file):
    X, y = load_svmlight(text_file("# head\n+1 1:0.5 3:2\r\n\n  \t\n-1 2:-1e-3# c:1\n2.5\t\v4:1 \f"))
    assert isinstance(X, csr_array)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2, 0], [0, -1e-3, 0, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(y, [1.0, -1.0, 2.5])
    assert X.has_canonical_format
    assert (X.data.dtype, X.indices.dtype, X.indptr.dtype, y.dtype) == (
        np.float64,
        np.int32,
        np.int32,
        np.float64,
    )


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        ("1 1:1 3:1", {}, [0, 2]),
        ("1 1:1 3:1\n1 0:2", {}, [1, 3, 0]),
        ("1 1:1 3:1", {"zero_based": True}, [1, 3]),
        ("1 1:1 3:1", {"zero_based": False}, [0, 2]),
        ("1 1:1 3:1", {"zero_based": np.False_}, [0, 2]),
        ("1 qid:7 1:1 3:1", {}, [0, 2]),
        ("1 0000000000000000001:1 3:1", {}, [0, 2]),
    ],
)
def test_indices(text_file, text, options, columns):
    X, _ = load_svmlight(text_file(text), **options)
    assert X.indices.tolist() == columns
    assert X.shape[1] == max(columns) + 1


@pytest.mark.parametrize(("zero_based", "last"), [("auto", 5), (False, 5), (True, 4)])
def test_n_features_fixes_the_columns(text_file, zero_based, last):
    X, _ = load_svmlight(text_file(f"1 2:1 {last}:1"), n_features=5, zero_based=zero_based)
    assert X.shape == (1, 5)
    assert X.indices[-1] == 4


def test_rows_without_features_make_one_empty_column(text_file):
    X, y = load_svmlight(text_file("1\n-1\n"))
    assert X.shape == (2, 1)
    assert X.nnz == 0
    assert y.tolist() == [1, -1]


def test_stored_zeros_and_signs_stay(text_file):
    X, y = load_svmlight(text_file("-0 1:-0 2:0.0\n"))
    assert np.signbit(X.data).tolist() == [True, False]
    assert np.signbit(y[0])


@pytest.mark.parametrize(
    "number",
    [
        "0", "1.", ".5", "+1.5e+3", "1E-05", "9007199254740992", "9007199254740993", "9007199254740993e22",
        "1e22", "1e23", "1e-22", "1e-23", "123456789012345678", "0.12345678901234567", "12345678901234567890",
        "1" + "0" * 300, "0." + "0" * 300 + "1", "4.9e-324", "2.5e-324", "2.4e-324", "1e-400",
        "1e-99999999999999999999", "2.2250738585072011e-308", "1.7976931348623157e308",
        "1.7976931348623158e308", "179769313486231580793e288", "0e99999", "0." + "0" * 400 + "1e401",
        "1" * 400 + "e-399", "100000000000000016777215", "100000000000000016777216", "18446744073709551617",
    ],
)  # fmt: skip
def test_numbers_are_rounded_correctly(text_file, number):
    X, y = load_svmlight(text_file(f"{number} 1:-{number.lstrip('+')}"))
    assert (y[0], X.data[0]) == (float(number), -float(number))


def test_float32_is_the_rounded_double(text_file):
    numbers = ["0.1", "3.4028235677973362e38", "1e-46", "16777217", "1.00000017881393432617187499"]
    X, y = load_svmlight(text_file("0.1 " + " ".join(f"{i + 1}:{v}" for i, v in enumerate(numbers))), dtype="f4")
    assert X.data.dtype == np.float32
    np.testing.assert_array_equal(X.data, np.array(numbers, np.float64).astype(np.float32))
    assert y[0] == 0.1


BAD_LINES = [
    ("x 1:1", {}, "label 'x' is not a number"),
    ("1.2.3 1:1", {}, "label '1.2.3' is not a number"),
    ("0x10 1:1", {}, "label '0x10' is not a number"),
    ("1_0 1:1", {}, "label '1_0' is not a number"),
    ("1e 1:1", {}, "label '1e' is not a number"),
    ("1e+ 1:1", {}, "label '1e+' is not a number"),
    (". 1:1", {}, "label '.' is not a number"),
    ("-- 1:1", {}, "label '--' is not a number"),
    ("nan 1:1", {}, "label 'nan' is not finite"),
    ("-Infinity 1:1", {}, "label '-Infinity' is not finite"),
    ("infinit 1:1", {}, "label 'infinit' is not a number"),
    ("infinityx 1:1", {}, "label 'infinityx' is not a number"),
    ("1e400 1:1", {}, "label '1e400' is not finite"),
    ("1:1 2:1", {}, "no label: the row starts with '1:1'"),
    ("1,2 1:1", {}, "label '1,2' is a list: one label per row is allowed"),
    ("1 qid:x 1:1", {}, "expected qid:N with a whole number N, got 'qid:x'"),
    ("1 qid: 1:1", {}, "expected qid:N with a whole number N, got 'qid:'"),
    ("1 1:1 qid:3", {}, "index in 'qid:3' is not a whole number >= 0"),
    ("1 junk", {}, "expected index:value, got 'junk'"),
    ("1 7", {}, "expected index:value, got '7'"),
    ("1 :1", {}, "index in ':1' is not a whole number >= 0"),
    ("1 -1:1", {}, "index in '-1:1' is not a whole number >= 0"),
    ("1 +1:1", {}, "index in '+1:1' is not a whole number >= 0"),
    ("1 1.0:1", {}, "index in '1.0:1' is not a whole number >= 0"),
    ("1 2147483648:1", {}, "index in '2147483648:1' is too large: allowed are indices below 2**31"),
    (
        "1 99999999999999999999:1",
        {},
        "index in '99999999999999999999:1' is too large: allowed are",
    ),
    (
        "1 0:1",
        {"zero_based": False},
        "index in '0:1' is 0, but zero_based=False says that indices start at 1",
    ),
    ("1 3:1", {"n_features": 2}, "index in '3:1' is out of range: n_features=2 allows indices up to 2"),
    ("1 2:1", {"n_features": 2, "zero_based": True}, "index in '2:1' is out of range: n_features=2 allows"),
    ("1 3:1 3:1", {}, "index in '3:1' appears twice in its row"),
    ("1 3:1 2:1", {}, "index in '2:1' comes after index 3: indices must rise along a row"),
    ("1 1:", {}, "value in '1:' is not a number"),
    ("1 1:x", {}, "value in '1:x' is not a number"),
    ("1 1:2:3", {}, "value in '1:2:3' is not a number"),
    ("1 1:nan", {}, "value in '1:nan' is not finite"),
    ("1 1:+INF", {}, "value in '1:+INF' is not finite"),
    ("1 1:1e400", {}, "value in '1:1e400' is not finite"),
    ("1 1:1e309", {}, "value in '1:1e309' is not finite"),
    ("1 1:179769313486231580794e288", {}, "value in '1:179769313486231580794e288' is not finite"),
    ("1 1:-1e400", {}, "value in '1:-1e400' is not finite"),
    ("1 1:1e39", {"dtype": np.float32}, "value in '1:1e39' is not finite in float32"),
    (
        "1 1:3.4028235677973366e38",
        {"dtype": np.float32},
        "value in '1:3.4028235677973366e38' is not finite in float32",
    ),
    ("1 1:1e400", {"dtype": np.float32}, "value in '1:1e400' is not finite"),
    ("1 1:1\0", {}, "NUL byte: this is not a text file"),
    ("1 1:1 # \0", {}, "NUL byte: this is not a text file"),
    (b"\xef\xbb\xbf1 1:1", {}, r"label '\xef\xbb\xbf1' is not a number"),
    ("1 1:" + "x" * 99, {}, "value in '1:" + "x" * 38 + "...' is not a number"),
    ("1 1:" + "x" * 38, {}, "value in '1:" + "x" * 38 + "' is not a number"),
]


@pytest.mark.parametrize(("line", "options", "reason"), BAD_LINES)
@pytest.mark.parametrize("ending", ["", "\n", "\n1 1:1\n"])
def test_bad_lines_are_named_with_file_line_and_reason(text_file, line, options, reason, ending):
    line = line if isinstance(line, bytes) else line.encode()
    path = text_file(b"# a comment\n1\n" + line + ending.encode())
    with pytest.raises(InputError, match="^" + re.escape(f"{path}:3: {reason}")):
        load_svmlight(path, **options)


def test_the_last_column_of_a_one_based_file_is_outside_of_a_zero_based_one(text_file):
    path = text_file("1 1:1\n1 2:1\n1 0:1\n")
    reason = r":2: index 2 is out of range: index 0 in line 3 says .* n_features=2 then allows 0 to 1$"
    with pytest.raises(InputError, match=reason):
        load_svmlight(path, n_features=2)
    assert load_svmlight(path, n_features=3)[0].shape == (3, 3)


def test_the_largest_index(text_file):
    X, _ = load_svmlight(text_file("1 2147483647:1\n"))
    assert X.shape == (1, 2**31 - 1)
    assert X.indices.dtype == np.int32
    X, _ = load_svmlight(text_file("1 0:1 2147483647:1\n"))
    assert X.shape == (1, 2**31)
    assert X.indices[-1] == 2**31 - 1


def test_lines_have_a_length_limit(text_file, monkeypatch):
    monkeypatch.setattr(svmlight, "MAX_LINE_BYTES", 10)
    assert load_svmlight(text_file("1 1:123456\n1 1:123456"))[0].shape == (2, 1)
    for text in ("1\n1 1:1234567\n", "1\n1 1:1234567", "1\n#2345678901\n"):
        for chunk in (1, 4, 100):
            monkeypatch.setattr(svmlight, "CHUNK_BYTES", chunk)
            with pytest.raises(InputError, match=r":2: line longer than 10 bytes$"):
                load_svmlight(text_file(text))


def test_a_line_without_end_is_refused_before_it_fills_the_memory(reader):
    endless = reader.SvmlightReader64(None, 0, 10)
    endless.feed(b"1 1:1\n1 1:1")
    with pytest.raises(reader.ParseError, match=r"^2: line longer than 10 bytes$"):
        endless.feed(b"111111")


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n# comments"])
def test_a_file_without_rows_is_refused(text_file, text):
    path = text_file(text)
    with pytest.raises(InputError, match="^" + re.escape(f"{path}: no rows")):
        load_svmlight(path)


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "f2"},
        {"dtype": "no type"},
        {"dtype": ">f8"},
        {"zero_based": "yes"},
        {"zero_based": 1},
        {"n_features": 0},
        {"n_features": 2.0},
        {"n_features": 2**31 + 1},
    ],
)
def test_bad_options_say_what_is_allowed(text_file, options):
    with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
        load_svmlight(text_file("1 1:1"), **options)

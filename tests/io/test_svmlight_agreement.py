"""Native = Python = scikit-learn on good files, native = Python on bad ones, for chunks of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from minorant.errors import InputError
from minorant.io import _svmlight_python, load_svmlight, svmlight

CORE = pytest.importorskip("minorant._core", reason="the core was not compiled")
quiet = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])

numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.from_regex(
    r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True
)
spaces = st.text(" \t\v\f\r", min_size=1, max_size=2)


@st.composite
def rows(draw):
    indices = sorted(draw(st.sets(st.integers(0, 2**31 - 2) | st.integers(0, 9), max_size=5)))
    tokens = [draw(numbers), *(["qid:3"] if draw(st.booleans()) else [])]
    tokens += [f"{index}:{draw(numbers)}" for index in indices]
    return draw(spaces).join(tokens) + draw(st.sampled_from(["", "\r", " ", "#", " # 1:x"]))


good_files = st.lists(rows() | st.sampled_from(["", "  ", "# c"]), min_size=1, max_size=6).map("\n".join)
bad_files = st.lists(st.text("019:.+-e \t\n#,qidnaf\0é", max_size=12) | rows(), max_size=4).map("\n".join)
bases = st.sampled_from(["auto", True, False])


def outcome(module, path, chunk, **options):
    """What a reader makes of a file: the arrays, as bytes, or the message."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "_core", module)
        patch.setattr(svmlight, "CHUNK_BYTES", chunk)
        try:
            X, y = load_svmlight(path, **options)
        except InputError as error:
            return str(error)
    arrays = (X.data, X.indices, X.indptr, y)
    return X.shape, [(array.dtype, array.tobytes()) for array in arrays]


@given(text=good_files, chunk=st.integers(1, 40), dtype=st.sampled_from([np.float64, np.float32]))
@quiet
def test_good_files(text_file, text, chunk, dtype):
    path = text_file(text)
    ours = outcome(CORE, path, chunk, dtype=dtype)
    assert ours == outcome(CORE, path, 10**6, dtype=dtype)
    assert ours == outcome(_svmlight_python, path, chunk, dtype=dtype)
    if isinstance(ours, str):
        assert "no rows" in ours or "not finite in float32" in ours
        return
    X, y = load_svmlight_file(str(path), dtype=dtype)
    arrays = (X.data, X.indices.astype(ours[1][1][0]), X.indptr.astype(ours[1][2][0]), y)
    assert ours == (X.shape, [(array.dtype, array.tobytes()) for array in arrays])


@given(text=bad_files, chunk=st.integers(1, 40), zero_based=bases, n_features=st.none() | st.integers(1, 12))
@example(text="1 2:1\n1 0:1", chunk=3, zero_based="auto", n_features=2)
@quiet
def test_bad_files(text_file, text, chunk, zero_based, n_features):
    path = text_file(text)
    options = {"zero_based": zero_based, "n_features": n_features}
    ours = outcome(CORE, path, chunk, **options)
    assert ours == outcome(CORE, path, 10**6, **options)
    assert ours == outcome(_svmlight_python, path, chunk, **options)

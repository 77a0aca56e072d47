"""Model files: what goes in comes out bit for bit, no file is trusted, no file is left half written."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from minorant.errors import InputError
from minorant.io import load_model, save_model


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    tensors = {
        "coef": rng.standard_normal((1, 5)),
        "alpha": rng.standard_normal((7, 3)).T.astype(np.float32),
        "rows": np.arange(3),
        "short": np.arange(2, dtype=np.int32),
        "none": np.zeros((0, 4)),
        "bits": np.array(3, dtype=np.uint8),
    }
    return tensors, {"model": "x", "nested": {"classes": ["ä", "b"], "lam": 0.1}}


@pytest.fixture
def file(tmp_path, parts):
    save_model(tmp_path / "m.model", *parts)
    return tmp_path / "m.model"


def header_of(content):
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def rebuilt(header, body):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def body_of(content):
    return content[8 + int.from_bytes(content[:8], "little") :]


def test_round_trip_is_exact(file, parts):
    tensors, meta = load_model(file)
    assert meta == {**parts[1], "format": 1}
    assert set(tensors) == set(parts[0])
    for name, tensor in parts[0].items():
        assert tensors[name].dtype == tensor.dtype
        np.testing.assert_array_equal(tensors[name], tensor, strict=True)


def test_the_file_is_plain_safetensors(file, parts):
    np.testing.assert_array_equal(load_file(file)["alpha"], parts[0]["alpha"])
    assert stat.S_IMODE(os.stat(file).st_mode) & 0o600 == 0o600
    assert os.listdir(file.parent) == ["m.model"]


@pytest.mark.parametrize(
    ("tensors", "meta", "reason"),
    [
        ({"a": np.array(["x"], object)}, {}, "tensor 'a' has type object; allowed: float32, float64"),
        ({"a": np.array([1 + 1j])}, {}, "tensor 'a' has type complex128"),
        ({"a": np.array([1.0], ">f8")}, {}, "tensor 'a' has type >f8"),
        ({"a": np.array([1.0, np.nan])}, {}, "tensor 'a' has values that are not finite"),
        ({}, {"lam": float("nan")}, "description of the model is not JSON"),
        ({}, {"lam": {1, 2}}, "description of the model is not JSON"),
    ],
)
def test_what_cannot_be_stored(tmp_path, tensors, meta, reason):
    with pytest.raises(InputError, match=reason):
        save_model(tmp_path / "m", tensors, meta)
    assert os.listdir(tmp_path) == []


def test_truncated_files(file):
    whole = file.read_bytes()
    for size in range(0, len(whole), 3):
        file.write_bytes(whole[:size])
        with pytest.raises(InputError, match=re.escape(f"{file}: not a usable model file: ")):
            load_model(file)
    file.write_bytes(whole + b"x")
    with pytest.raises(InputError, match="truncated or damaged"):
        load_model(file)


def change(**entry):
    return lambda header: header["coef"].update(entry)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (change(dtype="F16"), "tensor 'coef' has type 'F16'; allowed: F32, F64, I32, I64, U8"),
        (change(dtype=["F64"]), r"tensor 'coef' has type \['F64'\]"),
        (change(shape=[1, 6]), r"tensor 'coef' has shape \[1, 6\], which does not fill bytes"),
        (change(shape=[2**40, 2**40]), "which does not fill"),
        (change(shape=[-1, -5]), "tensor 'coef' has no shape or no place in the file"),
        (change(shape=[1.0, 5]), "has no shape"),
        (change(shape=[1] * 9), "has no shape"),
        (change(shape=None), "has no shape"),
        (change(data_offsets=[0]), "has no shape or no place"),
        (change(data_offsets=[10**6, 10**6 + 40]), "overlap or leave a hole"),
        (change(data_offsets=[8, 48]), "overlap or leave a hole"),
        (change(data_offsets=[40, 0]), "does not fill bytes"),
        (lambda header: header.update(coef=3), "tensor 'coef' is not described"),
        (lambda header: header.pop("coef"), "hole"),
        (lambda header: header.pop("__metadata__"), "without a description of a minorant model"),
        (lambda header: header.update(__metadata__=3), "without a description of a minorant model"),
        (lambda header: header.update(__metadata__={"minorant": {}}), "without a description"),
        (lambda header: header.update(__metadata__={"minorant": "{"}), "damaged description"),
        (lambda header: header.update(__metadata__={"minorant": "3"}), "description: not a JSON object"),
        (lambda header: header.update(__metadata__={"minorant": '{"a": NaN}'}), "NaN is no number"),
        (lambda header: header.update(__metadata__={"minorant": "[" * 10**5}), "damaged description"),
        (
            lambda header: header.update(__metadata__={"minorant": "{}"}),
            "model format None; this version",
        ),
        (lambda header: header.update(__metadata__={"minorant": '{"format": 2}'}), "model format 2"),
        (lambda header: header["__metadata__"].update(other=3), "not a usable model file"),
    ],
)
def test_damaged_headers(file, damage, reason):
    content = file.read_bytes()
    header = header_of(content)
    damage(header)
    file.write_bytes(rebuilt(header, body_of(content)))
    with pytest.raises(InputError, match=reason) as caught:
        load_model(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"garbage, and more of it",
        (2**63).to_bytes(8, "little") + b"{}",
        rebuilt(b"\xff\xfe", b""),
        rebuilt(b"[]", b""),
        rebuilt(b"[" * 10**5, b""),
        rebuilt(b'{"a": 1, "a": 2}', b""),
        rebuilt(b'{"a": ' + b"9" * 5000 + b"}", b""),
    ],
)
def test_files_that_are_something_else(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'm'}: not a usable model file: ")):
        load_model(tmp_path / "m")


def test_names_are_distinct(file):
    content = file.read_bytes()
    text = json.dumps(header_of(content)).replace('"short"', '"coef"').encode()
    file.write_bytes(rebuilt(text, body_of(content)))
    with pytest.raises(InputError, match="damaged header: a name appears twice"):
        load_model(file)


def test_a_foreign_safetensors_file(tmp_path):
    save_file({"a": np.zeros(3)}, tmp_path / "m")
    with pytest.raises(InputError, match="without a description of a minorant model"):
        load_model(tmp_path / "m")


def test_numbers_that_are_not_finite(file):
    content = file.read_bytes()
    start = header_of(content)["coef"]["data_offsets"][0] + len(content) - len(body_of(content))
    file.write_bytes(content[:start] + np.array([np.inf]).tobytes() + content[start + 8 :])
    with pytest.raises(InputError, match="tensor 'coef' has values that are not finite"):
        load_model(file)


def test_flipped_bits_are_an_input_error_or_a_valid_load(file):
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    messages = []
    for trial in range(4000):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=1 + trial % 3):
            damaged[place] = rng.integers(256) if trial % 2 else damaged[place] ^ (1 << rng.integers(8))
        file.write_bytes(damaged)
        try:
            tensors, _ = load_model(file)
            assert all(np.isfinite(tensor).all() for tensor in tensors.values())
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 1000
    assert all(str(file) in message for message in messages)


def test_missing_and_unreadable_files_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)


def test_unwritable_targets(tmp_path, parts):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        save_model(tmp_path / "file" / "m", *parts)
    with pytest.raises(FileNotFoundError):
        save_model(tmp_path / "none" / "m", *parts)
    with pytest.raises(OSError, match="/proc"):
        save_model("/proc/m", *parts)
    assert os.listdir(tmp_path) == ["file"]


def test_only_regular_files_are_replaced(tmp_path, parts):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(FileExistsError, match="not a regular file"):
            save_model(tmp_path / name, *parts)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_link_is_followed(file, parts):
    link = file.parent / "link"
    link.symlink_to(file)
    save_model(link, {"new": np.zeros(1)}, {})
    assert link.is_symlink()
    assert set(load_model(file)[0]) == {"new"}


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_keeps_the_old_file(file, parts, monkeypatch, step, error):
    def fail(*_):
        raise error

    before = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(type(error)):
            save_model(file, {}, {})
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == ["m.model"]


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_a_full_disk_keeps_the_old_file(file):
    before = file.read_bytes()
    script = """
import resource, sys, numpy as np
from minorant.io import save_model
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    save_model(sys.argv[1], {"big": np.zeros(10**5)}, {})
except OSError as error:
    sys.exit(str(error))
"""
    result = run(script, file)
    assert "File too large" in result.stderr
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == ["m.model"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_killed_writer_leaves_one_temporary_which_the_next_one_replaces(file, parts, step):
    before = file.read_bytes()
    script = f"""
import os, sys, numpy as np
from minorant.io import save_model
os.{step} = lambda *_: os._exit(9)
save_model(sys.argv[1], {{"new": np.zeros(9)}}, {{}})
"""
    for _ in range(2):
        assert run(script, file).returncode == 9
        assert file.read_bytes() == before
        assert sorted(os.listdir(file.parent)) == [".m.model.tmp", "m.model"]
    save_model(file, {"new": np.ones(1)}, {})
    assert os.listdir(file.parent) == ["m.model"]
    assert set(load_model(file)[0]) == {"new"}

"""The C++ core is in use, and takes the arguments of its twins."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import minorant.kernels
from minorant import _core
from minorant.kernels import _numpy

KERNELS = [
    name
    for name, f in vars(_numpy).items()
    if inspect.isfunction(f) and f.__module__.startswith(_numpy.__name__) and not name.startswith("_")
]


def test_the_native_core_is_in_use():
    assert minorant.kernels.native
    assert minorant.kernels.csr_dot is _core.csr_dot


def test_the_twins_take_over_on_request():
    code = "import minorant.kernels as k; assert not k.native; print(k.project_box_plane([2.0], 0, 1, 1, 0.5).x)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MINORANT_PURE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "[0.5]\n"


@pytest.mark.parametrize("name", KERNELS)
def test_every_twin_has_a_native_kernel_with_its_arguments(name):
    signature = str(getattr(_core, name).__nb_signature__[0][0])
    given = [part.split(":")[0].strip() for part in signature.split("(", 1)[1].split(",") if ":" in part]
    given = [part for part in given if part.isidentifier()]
    assert given == list(inspect.signature(getattr(_numpy, name)).parameters)


def test_an_array_of_another_layout_or_type_is_refused():
    x, two = np.ones(4), np.ones((4, 4))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.dense_dot(np.asfortranarray(two), x, 1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.dense_dot(two, np.ones(8)[::2], 1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.dense_dot(two.astype(np.int64), x, 1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.hinge(x.astype(np.float32), x, x, True, 1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.check_csr(np.zeros(1, np.uint32), np.array([0, 1]), 1, 1)


def test_lengths_that_disagree_are_refused():
    x, short = np.ones(4), np.ones(3)
    index, indptr = np.zeros(4, np.int32), np.array([0, 1, 2, 3, 4])
    for call in (
        lambda: _core.dense_dot(np.ones((4, 4)), short, 1),
        lambda: _core.dense_tdot(np.ones((4, 4)), short, 1),
        lambda: _core.csr_dot(x, index[:3], indptr, x, 1),
        lambda: _core.csr_dot(x, index, indptr[:4], x, 1),
        lambda: _core.csr_dot(x, index, indptr[:0], x, 1),
        lambda: _core.csr_tdot(x, index, indptr, short, 1, 1),
        lambda: _core.hinge(x, short, x, True, 1),
        lambda: _core.smoothed_hinge(x, x, short, 1.0, True, 0.0, 1),
        lambda: _core.box_plane(x, x, x, x, 4.0, short),
        lambda: _core.simplex_blocks(np.ones((4, 4)), short, 1),
    ):
        with pytest.raises(minorant.errors.InputError, match=r"must have length \d; got \d|bad indptr"):
            call()

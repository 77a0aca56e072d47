"""What is installed: the compiled core, the public names, and an import that costs nothing."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

import minorant
from minorant import _core, kernels
from minorant.io import svmlight


def test_the_native_core_is_in_use():
    assert kernels.native
    assert svmlight.native


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the stable ABI that nanobind needs begins with Python 3.12")
def test_the_stable_abi_is_on():
    assert ".abi3." in _core.__file__


def test_every_public_name_is_there():
    for name in minorant.__all__:
        assert getattr(minorant, name) is not None
    assert set(minorant.__all__) == set(dir(minorant))
    with pytest.raises(AttributeError, match="Linearsvc"):
        minorant.Linearsvc  # noqa: B018


def test_the_version_is_that_of_the_distribution():
    assert minorant.__version__ == version("minorant")


def test_importing_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "matplotlib", "dask", "torch", "pandas")
    code = f"import sys, minorant; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_fitting_does_not_import_what_is_optional():
    code = (
        "import sys; from minorant import LinearSVC; LinearSVC().fit([[0.0], [1.0]], [0, 1]);"
        "print([m for m in ('matplotlib', 'dask', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_show_versions_says_which_kernels_run(capsys):
    minorant.show_versions()
    printed = capsys.readouterr().out
    assert "native (C++)" in printed
    assert minorant.__version__ in printed


def test_without_the_core_the_first_fit_says_so_once_and_finds_the_same():
    code = """
import warnings, numpy as np
import minorant
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)); y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        model = minorant.LinearSVC(tol=1e-8).fit(X, y)
print(len([w for w in caught if "C++ core was not compiled" in str(w.message)]), model.certificate_.primal)
minorant.show_versions()
"""

    def run(pure):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MINORANT_PURE": pure},
        )
        return done.stdout

    native, pure = run("0"), run("1")
    assert native.startswith("0 ")
    assert pure.startswith("1 ")
    assert float(pure.split()[1]) == pytest.approx(float(native.split()[1]), rel=1e-8)
    assert "NumPy (no compiled core" in pure

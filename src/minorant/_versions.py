"""What to send with a question: versions, the machine, and which kernels run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import minorant
from minorant import kernels

__all__ = ["show_versions"]


def show_versions() -> None:
    """Print the versions of Python, minorant and its dependencies, and whether the compiled core is in use."""
    rows = {
        "minorant": minorant.__version__,
        "kernels": "native (C++)" if kernels.native else "NumPy (no compiled core on this machine: slower)",
        "threads": str(os.cpu_count()),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    for name in ("numpy", "scipy", "scikit-learn", "safetensors", "matplotlib"):
        try:
            rows[name] = version(name)
        except PackageNotFoundError:
            rows[name] = "not installed"
    print("\n".join(f"{name:>13}: {value}" for name, value in rows.items()))  # noqa: T201 - it is what it is for

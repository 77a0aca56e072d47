"""What this machine has for a fit: threads, memory, the compiled kernels."""

from __future__ import annotations

import os
import warnings
from functools import cache

from minorant import kernels
from minorant.errors import InputError

__all__ = ["announce_pure_kernels", "check_memory", "resolve_threads"]


def check_memory(n: int, p: int) -> None:
    """Refuse a problem whose vectors cannot fit: one wrong index in a small file can ask for 2³¹ columns."""
    need = 12 * 8 * (n + p)  # a dozen vectors of float64
    if need > 2**30 and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if need > have:
            raise InputError(
                f"{n} rows and {p} columns need about {need / 2**30:.0f} GiB for the vectors of a fit; this machine "
                f"has {have / 2**30:.0f}. Is a column index wrong? Else hash or select the columns first."
            )


def resolve_threads(n_jobs: int | None) -> int:
    """The number of threads: `n_jobs`, or every core this process may use for None and -1."""
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs < 1:
        raise InputError(f"n_jobs must be None, -1 or at least 1; got {n_jobs}")
    return n_jobs


@cache
def announce_pure_kernels() -> None:
    """Say once, at the first fit, that the compiled core is missing."""
    if not kernels.native:
        warnings.warn(
            "minorant runs on its NumPy kernels, several times slower: its C++ core was not compiled on this machine. "
            "Install a C++20 compiler, then `pip install --force-reinstall --no-cache-dir minorant`.",
            RuntimeWarning,
            stacklevel=3,
        )

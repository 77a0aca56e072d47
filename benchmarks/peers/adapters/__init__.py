"""One module a package, imported in a worker of its own only: `PACKAGE`, `offers(problem, shape, threads)`, `fit(...)`.

`offers` lists what the package can do for a problem: the name of a configuration, its levels of tolerance (or numbers
of passes), coarse to fine, and whose objective it minimizes where that is another one. `fit` starts from the same
arrays for all (CSR or row-major, float64), so the conversion to the package's own format is in the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ADAPTERS = (  # those that are often the best come first: others are cut short by their times
    "minorant",
    "liblinear",
    "liblinear_multicore",
    "snapml",
    "rehline",
    "cyanure",
    "glmnet",
    "celer",
    "skglm",
    "adelie",
    "sklearn",
)


def powers(first, last):
    """Tolerances 10^first, 10^(first-1), ..., 10^last."""
    return tuple(10.0**k for k in range(first, last - 1, -1))


@dataclass(frozen=True)
class Offer:
    name: str
    levels: tuple[float, ...]
    bias: str  # as it treats the bias: that of the problem, or "penalized"
    passes: bool = False  # the levels are numbers of passes


@dataclass
class Solution:
    w: Any
    b: float = 0.0
    slopes: Any = None  # a dual point, where the package has one: it makes a lower bound
    claim: dict[str, Any] = field(default_factory=dict)  # of ours: what is to be checked

"""The hot loops: C++ where it was compiled, the NumPy twins of `_numpy.py` where it was not.

`native` says which. Set MINORANT_PURE=1 before the import to use the twins on a machine that has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minorant._native import core_or
from minorant.errors import InputError
from minorant.kernels import _numpy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant import _core

__all__ = ["BoxPlanePoint", "native", "project_box_plane"]

if not TYPE_CHECKING:
    _core = core_or(_numpy)

native: bool = _core is not _numpy

dot = _core.dot
check_csr = _core.check_csr
csr_dot = _core.csr_dot
csr_tdot = _core.csr_tdot
csr_row_norms = _core.csr_row_norms
dense_dot = _core.dense_dot
dense_tdot = _core.dense_tdot
dense_row_norms = _core.dense_row_norms
box_plane = _core.box_plane
smoothed_hinge = _core.smoothed_hinge
hinge = _core.hinge


class BoxPlanePoint(NamedTuple):
    """What `project_box_plane` returns: the point and the multiplier of the hyperplane."""

    x: NDArray[np.float64]
    multiplier: float


def project_box_plane(
    center: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    normal: ArrayLike,
    offset: float = 0.0,
    weights: ArrayLike = 1.0,
) -> BoxPlanePoint:
    """Project onto the intersection of a box and a hyperplane, in linear time.

    Solves  min ½ Σ weights_i (x_i - center_i)²  over  lower ≤ x ≤ upper,  ⟨normal, x⟩ = offset.
    The solution is x = clip(center + multiplier · normal / weights, lower, upper).

    Parameters
    ----------
    center : array of shape (n,)
    lower, upper, normal, weights : arrays of shape (n,) or numbers
        Bounds may be infinite; weights must be positive.
    offset : float

    Returns
    -------
    BoxPlanePoint
        `x` of shape (n,) and `multiplier`, a float.

    Raises
    ------
    InputError
        If a value is not finite, a weight is not positive, a lower bound exceeds its upper bound, or no point of
        the box lies on the hyperplane.

    Examples
    --------
    >>> from minorant.kernels import project_box_plane
    >>> project_box_plane([0.9, 0.6, -0.2], lower=0.0, upper=1.0, normal=1.0, offset=1.0).x
    array([0.65, 0.35, 0.  ])
    """
    m = np.array(center, dtype=np.float64, ndmin=1)
    if m.ndim != 1 or m.size == 0:
        raise InputError(f"center must be a vector with at least one entry; got shape {m.shape}")
    names = {"lower": lower, "upper": upper, "normal": normal, "weights": weights}
    try:
        full = {k: np.ascontiguousarray(np.broadcast_to(np.asarray(v, np.float64), m.shape)) for k, v in names.items()}
    except ValueError:
        shapes = ", ".join(f"{k} {np.shape(v)}" for k, v in names.items())
        raise InputError(f"every vector must have the length of center, {m.size}; got {shapes}") from None
    for name, v in {"center": m, "normal": full["normal"], "weights": full["weights"]}.items():
        if not np.isfinite(v).all():
            raise InputError(f"{name} must be finite; entry {np.flatnonzero(~np.isfinite(v))[0]} is not")
    if not np.isfinite(offset):
        raise InputError(f"offset must be finite; got {offset}")
    if not (full["weights"] > 0).all():
        raise InputError(f"weights must be positive; the least is {full['weights'].min()}")
    crossed = np.flatnonzero(~(full["lower"] <= full["upper"]))
    if crossed.size:
        i = crossed[0]
        raise InputError(f"empty box: lower[{i}] = {full['lower'][i]}, upper[{i}] = {full['upper'][i]}")
    x, multiplier, _ = box_plane(m, full["lower"], full["upper"], full["normal"], float(offset), full["weights"])
    return BoxPlanePoint(x, multiplier)

"""The hot loops: C++ where it was compiled, the NumPy twins of `_numpy.py` where it was not.

`native` says which. Set MINORANT_PURE=1 before the import to use the twins on a machine that has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minorant._native import core_or
from minorant.kernels import _numpy
from minorant.kernels.multivariate import WorstLabeling, multivariate_max
from minorant.kernels.projections import (
    EntropicPoint,
    Projection,
    entropic_capped_simplex,
    project_box_plane,
    project_capped_simplex,
    project_elastic_net_ball,
    project_simplex_blocks,
)
from minorant.kernels.smoothed_multivariate import SmoothedLabeling, multivariate_marginals

if TYPE_CHECKING:
    from minorant import _core

__all__ = [
    "EntropicPoint",
    "Projection",
    "SmoothedLabeling",
    "WorstLabeling",
    "entropic_capped_simplex",
    "multivariate_marginals",
    "multivariate_max",
    "native",
    "project_box_plane",
    "project_capped_simplex",
    "project_elastic_net_ball",
    "project_simplex_blocks",
]

if not TYPE_CHECKING:
    _core = core_or(_numpy)

native: bool = _core is not _numpy

dot = _core.dot
all_finite = _core.all_finite
two_labels = _core.two_labels
check_csr = _core.check_csr
csr_dot = _core.csr_dot
csr_has_duplicates = _core.csr_has_duplicates
csr_tdot = _core.csr_tdot
csr_row_norms = _core.csr_row_norms
csr_column_norms = _core.csr_column_norms
dense_dot = _core.dense_dot
dense_tdot = _core.dense_tdot
dense_row_norms = _core.dense_row_norms
dense_column_norms = _core.dense_column_norms
csr_add_rows = _core.csr_add_rows
dense_add_rows = _core.dense_add_rows
flip_shares = _core.flip_shares
gram_rows = _core.gram_rows
box_plane = _core.box_plane
elastic_net_ball = _core.elastic_net_ball
entropic_cap = _core.entropic_cap
simplex_blocks = _core.simplex_blocks
smoothed_hinge = _core.smoothed_hinge
hinge = _core.hinge
bends = _core.bends
balance = _core.balance
excess = _core.excess
along = _core.along
csr_cholesky = _core.csr_cholesky
dense_cholesky = _core.dense_cholesky
csr_conjugate_gradients = _core.csr_conjugate_gradients
dense_conjugate_gradients = _core.dense_conjugate_gradients
csr_row_products = _core.csr_row_products
dense_row_products = _core.dense_row_products
SweptRows = _core.SweptRows
csr_sweeps = _core.csr_sweeps
dense_sweeps = _core.dense_sweeps
SparseStore32 = _core.SparseStore32
SparseStore64 = _core.SparseStore64
gather_dense = _core.gather_dense
solve_dense_columns = _core.solve_dense_columns
dense_row_newton = _core.dense_row_newton
csr_row_newton = _core.csr_row_newton
logistic_loss = _core.logistic_loss
logistic_conjugate = _core.logistic_conjugate
logistic_conjugate_slope = _core.logistic_conjugate_slope
softmax_sums = _core.softmax_sums
csr_columns_newton = _core.csr_columns_newton
if native:  # without it the loops are those of `solvers.newton`, `solvers.multinomial` and `solvers.line_search`
    FSearch = _core.FSearch
    GMeanSearch = _core.GMeanSearch
    csr_newton = _core.csr_newton
    dense_newton = _core.dense_newton
    csr_whole_fit = _core.csr_whole_fit
    dense_whole_fit = _core.dense_whole_fit
    csr_least_squares = _core.csr_least_squares
    dense_least_squares = _core.dense_least_squares
    csr_multinomial = _core.csr_multinomial
    dense_multinomial = _core.dense_multinomial

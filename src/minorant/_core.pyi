"""The C++ core; the modules `_numpy*.py` of `minorant/kernels` say what each kernel computes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Values = NDArray[np.float32] | NDArray[np.float64]
Indices = NDArray[np.int32] | NDArray[np.int64]
Columns = NDArray[np.int64]

def dot(a: Vector, b: Vector) -> float: ...
def check_csr(indices: Indices, indptr: Indices, n_rows: int, n_columns: int) -> None: ...
def csr_has_duplicates(indices: Indices, indptr: Indices, n_columns: int) -> bool: ...
def csr_dot(data: Values, indices: Indices, indptr: Indices, w: Vector, threads: int) -> Vector: ...
def csr_tdot(
    data: Values, indices: Indices, indptr: Indices, alpha: Vector, n_columns: int, threads: int
) -> Vector: ...
def csr_row_norms(data: Values, indices: Indices, indptr: Indices, threads: int) -> Vector: ...
def dense_dot(X: Values, w: Vector, threads: int) -> Vector: ...
def dense_tdot(X: Values, alpha: Vector, threads: int) -> Vector: ...
def dense_row_norms(X: Values, threads: int) -> Vector: ...
def box_plane(
    center: Vector, lower: Vector, upper: Vector, normal: Vector, offset: float, weights: Vector
) -> tuple[Vector, float, int]: ...
def elastic_net_ball(center: Vector, radius: float, gamma: float) -> tuple[Vector, float, int]: ...
def entropic_cap(log_weights: Vector, cap: float) -> tuple[Vector, Vector, int]: ...
def simplex_blocks(centers: NDArray[np.float64], mass: Vector, threads: int) -> NDArray[np.float64]: ...
def smoothed_hinge(
    u: Vector, y: Vector, c: Vector, mu: float, free_bias: bool, guess: float, threads: int
) -> tuple[float, Vector, float]: ...
def hinge(u: Vector, y: Vector, c: Vector, free_bias: bool, threads: int) -> tuple[float, float]: ...
def count_positives(scores: Vector, y: Vector) -> int: ...
def flip_gains(scores: Vector, y: Vector, weights: Vector) -> Vector: ...
def flip_top(scores: Vector, y: Vector, weights: Vector, pos: Vector, b: int, neg: Vector, c: int) -> Vector: ...
def flip_from(scores: Vector, y: Vector, weights: Vector, pos: float, neg: float) -> Vector: ...
def f_select(
    scores: Vector, y: Vector, weights: Vector, gains: Vector, n_pos: int, beta2: float
) -> tuple[float, int, int, Vector] | None: ...
def gmean_select(
    scores: Vector, y: Vector, weights: Vector, gains: Vector, n_pos: int
) -> tuple[float, int, int, Vector] | None: ...
def f_scan(pos: Vector, neg: Vector, beta2: float) -> tuple[float, int, int]: ...
def gmean_scan(pos: Vector, neg: Vector) -> tuple[float, int, int]: ...
def count_scan(pos: Vector, neg: Vector, count: int, rate: float) -> tuple[float, int, int]: ...
def swapped_pairs(scores: Vector, y: Vector) -> tuple[float, float, Vector]: ...
def simplex_qp(
    Q: NDArray[np.float64], d: Vector, A: NDArray[np.float64], r: Vector, start: Vector
) -> tuple[Vector, Vector]: ...
def ranks(x: Vector, q: Vector, equal: bool) -> Vector: ...

Coupling = tuple[tuple[float, float, float, float], Vector, Vector]

def couple_f(
    beta2: float,
    n_pos: float,
    n_neg: float,
    kappa: float,
    p: Vector,
    b_first: float,
    b_center: float,
    b_theta: float,
    q: Vector,
    c_first: float,
    c_center: float,
    c_theta: float,
    covered: Vector,
) -> Coupling: ...
def couple_gmean(
    n_pos: float,
    n_neg: float,
    kappa: float,
    p: Vector,
    b_first: float,
    b_center: float,
    b_theta: float,
    q: Vector,
    c_first: float,
    c_center: float,
    c_theta: float,
    covered: Vector,
) -> Coupling: ...

class PoissonTree:
    def __init__(self, logits: Vector, trim: float) -> None: ...
    @property
    def first(self) -> int: ...
    @property
    def law(self) -> Vector: ...
    @property
    def dropped(self) -> float: ...
    @property
    def log_partition(self) -> float: ...
    def marginals(self, r: Vector) -> Vector: ...

Shape = tuple[float, float, float, float]

def bends(logistic: bool, shape: Shape, mu: float, r: Vector, c: Vector, threads: int) -> tuple[Vector, Vector]: ...
def balance(
    logistic: bool, shape: Shape, mu: float, r: Vector, s: Vector, c: Vector, guess: float, threads: int
) -> float: ...
def excess(logistic: bool, shape: Shape, r: Vector, alpha: Vector, c: Vector) -> float: ...
def along(
    logistic: bool,
    shape: Shape,
    mu: float,
    r: Vector,
    d: Vector,
    c: Vector,
    slope: float,
    bend: float,
    accuracy: float,
    threads: int,
) -> float: ...
def dense_cholesky(X: Values, h: Vector, bordered: bool, lam: float, g: Vector, threads: int) -> Vector: ...
def csr_cholesky(
    data: Values, indices: Indices, indptr: Indices, h: Vector, bordered: bool, lam: float, g: Vector, threads: int
) -> Vector: ...
def dense_conjugate_gradients(
    X: Values,
    h: Vector,
    bordered: bool,
    lam: float,
    g: Vector,
    inverse_diagonal: Vector,
    accuracy: float,
    most: int,
    threads: int,
) -> tuple[Vector, int, float]: ...
def csr_conjugate_gradients(
    data: Values,
    indices: Indices,
    indptr: Indices,
    h: Vector,
    bordered: bool,
    lam: float,
    g: Vector,
    inverse_diagonal: Vector,
    accuracy: float,
    most: int,
    threads: int,
) -> tuple[Vector, int, float]: ...
def dense_sweeps(X: Values, *arguments: Any) -> tuple[float, float, int]: ...
def csr_sweeps(data: Values, indices: Indices, indptr: Indices, *arguments: Any) -> tuple[float, float, int]: ...
def gather_dense(X: Values, columns: Columns) -> Values: ...
def solve_dense_columns(
    columns: Values,
    index: Columns,
    s: Vector,
    a: Vector,
    c: Vector,
    loss: tuple[float, float, float],
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    part: float,
    allowed: float,
) -> tuple[Vector, Vector]: ...

class SparseStore64:
    def __init__(self, rows: int, columns: int) -> None: ...
    def gather(self, data: Values, indices: Indices, indptr: Indices, columns: Columns) -> None: ...
    def solve(
        self,
        columns: Columns,
        s: Vector,
        a: Vector,
        c: Vector,
        loss: tuple[float, float, float],
        l1: float,
        l2: float,
        bias: bool,
        w: Vector,
        b: float,
        enough: float,
        part: float,
        allowed: float,
    ) -> tuple[Vector, Vector]: ...

class SparseStore32(SparseStore64): ...
class ParseError(ValueError): ...

class SvmlightReader64:
    def __init__(self, zero_based: bool | None, n_features: int, max_line: int) -> None: ...
    def feed(self, chunk: NDArray[np.uint8]) -> None: ...
    def finish(
        self,
    ) -> tuple[Vector, NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], int]: ...

class SvmlightReader32:
    def __init__(self, zero_based: bool | None, n_features: int, max_line: int) -> None: ...
    def feed(self, chunk: NDArray[np.uint8]) -> None: ...
    def finish(
        self,
    ) -> tuple[Vector, NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], int]: ...

"""The kernels of Newton's method and of dual coordinates in plain NumPy: see cpp/curvature.hpp, newton_system.hpp,
dual_coordinate.hpp and scalar.hpp.

    φ*(t) = tube·|t| + (kappa/2) t² on [low, high],  or the logistic one
    φ_mu(r) = max over t of  r t - φ*(t) - (mu/2) t²
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.special import expit, xlog1py, xlogy

from minorant.kernels._conjugate_gradients import conjugate_gradients

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Shape = tuple[float, float, float, float]

__all__ = [
    "SweptRows",
    "along",
    "balance",
    "bends",
    "csr_cholesky",
    "csr_conjugate_gradients",
    "csr_row_products",
    "csr_sweeps",
    "dense_cholesky",
    "dense_conjugate_gradients",
    "dense_row_products",
    "dense_sweeps",
    "excess",
]


def _slope_and_bend(logistic: bool, shape: Shape, mu: float | Vector, r: Vector) -> tuple[Vector, Vector]:
    """φ_mu'(r) and φ_mu''(r)."""
    if logistic:
        t = expit(_logistic_prox(mu, r))
        return t, t * (1.0 - t) / (1.0 + mu * t * (1.0 - t))
    kappa, tube, low, high = shape
    k = np.maximum(kappa + mu, 1e-300)  # at a corner, one of its slopes
    with np.errstate(over="ignore"):
        steep = np.sign(r) * np.maximum(np.abs(r) - tube, 0.0) / k
    inside = (low < steep) & (steep < high) & ((steep != 0.0) | (tube == 0.0))
    return np.clip(steep, low, high), np.where(inside, 1.0 / k, 0.0)


def _logistic_prox(mu: float | Vector, r: Vector) -> Vector:
    """The z with z + mu σ(z) = r: Newton's method within the bracket [r - mu, r]."""
    low, high = r - mu, r
    z = r - 0.5 * mu if np.any(mu) else r
    for _ in range(60 if np.any(mu) else 0):
        t = expit(z)
        over = z + mu * t - r
        low, high = np.where(over < 0, z, low), np.where(over > 0, z, high)
        newton = z - over / (1.0 + mu * t * (1.0 - t))
        z = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
    return z


def bends(logistic: bool, shape: Shape, mu: float, r: Vector, c: Vector, threads: int) -> tuple[Vector, Vector]:
    """α = c φ_mu'(r) and h = c φ_mu''(r)."""
    t, bend = _slope_and_bend(logistic, shape, mu, r)
    return c * t, c * bend


def excess(logistic: bool, shape: Shape, r: Vector, alpha: Vector, c: Vector) -> float:
    """Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i) for t = α/c; an empty α is 0."""
    used, alpha = c > 0, alpha if alpha.size else np.zeros(r.size)
    c, r, t = c[used], r[used], alpha[used] / c[used]
    if logistic:
        value, conjugate = np.logaddexp(0.0, r), xlogy(t, t) + xlog1py(1.0 - t, -t)
    else:
        kappa, tube, low, high = shape
        v = np.sign(r) * np.maximum(np.abs(r) - tube, 0.0)
        corner = np.where(v > 0, high if kappa == 0 else 0.0, np.where(v < 0, low if kappa == 0 else 0.0, 0.0))
        steep = np.clip(v / kappa, low, high) if kappa > 0 else corner
        value = steep * v - 0.5 * kappa * steep**2
        conjugate = tube * np.abs(t) + 0.5 * kappa * t**2
    return float(np.sum(c * (value + conjugate - r * t)))


def _rising_root(
    f: Callable[[float], tuple[float, float]], tau: float, enough: float, last: float = 0.0, width: float = 1.0
) -> float:
    """A root of f, which never falls, from a guess: Newton's method within a bracket that grows from there.

    A step of `last` or less is believed without looking, one of many times `width` is not.
    """
    low, high = -np.inf, np.inf
    for _ in range(200):
        value, rise = f(tau)
        if abs(value) <= enough:
            break
        low, high = (tau, high) if value < 0 else (low, tau)
        following = tau - value / rise if rise > 0 else -np.inf * value
        if not low < following < high or abs(following - tau) > 64 * width:
            inside = low > -np.inf and high < np.inf
            following = 0.5 * (low + high) if inside else tau + (width if value < 0 else -width)
            width *= 4
        step = abs(following - tau)
        if step <= 2e-16 * abs(tau):
            break
        tau = following
        if step <= last:
            break
    return tau


def _line(
    logistic: bool, shape: Shape, mu: float, r: Vector, d: Vector, c: Vector, slope: float, bend: float, tau: float
) -> tuple[float, float]:
    t, bends_ = _slope_and_bend(logistic, shape, mu, r + tau * d)
    return slope + tau * bend + float(np.sum(c * d * t)), bend + float(np.sum(c * d * d * bends_))


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
) -> float:
    """The τ > 0 with slope + τ bend + Σ c_i φ_mu'(r_i + τ d_i) d_i = 0, up to that share of its value at 0."""
    f = partial(_line, logistic, shape, mu, r, d, c, slope, bend)
    start = f(0.0)[0]
    return _rising_root(f, 1.0, -accuracy * start) if start < 0 else 0.0


def balance(
    logistic: bool,
    shape: Shape,
    mu: float,
    r: Vector,
    s: Vector,
    c: Vector,
    guess: float,
    threads: int,
    last: float = 0.0,
) -> float:
    """The bias b with Σ c_i φ_mu'(r_i + s_i b) s_i = 0; a Newton step of `last` or less is the last one."""
    rounding = 1e-13 * max(-shape[2], shape[3]) if logistic or shape[0] == 0.0 else 1e-15
    bounded = np.isfinite(shape[2:]).all()  # else slopes have the size of r
    size = 0.0 if bounded else float(np.sqrt(np.mean(np.square(r))))
    sure = 1e-7 if logistic else 1e-15 * size
    f = partial(_line, logistic, shape, mu, r, s, c, 0.0, 0.0)
    return _rising_root(f, guess, rounding, max(last, sure), max(1.0, size))


def _csr(data: Any, indices: Any, indptr: Any, size: int) -> Any:
    return csr_array((data.astype(np.float64, copy=False), indices, indptr), shape=(indptr.size - 1, size))


def dense_cholesky(X: Any, h: Vector, bordered: bool, lam: float, g: Vector, threads: int) -> Vector:
    """d with (λ I + Zᵀ H Z) d = g; no λ for the border."""
    Z = np.hstack([X, np.ones((X.shape[0], 1))]) if bordered else np.asarray(X, dtype=np.float64)
    return _solved(Z.T @ (h[:, None] * Z), bordered, lam, g)


def csr_cholesky(
    data: Any, indices: Any, indptr: Any, h: Vector, bordered: bool, lam: float, g: Vector, threads: int
) -> Vector:
    """The same for X in compressed sparse rows."""
    X = _csr(data, indices, indptr, g.size - bordered)
    used = h > 0
    if np.count_nonzero(used) < g.size:
        return _by_examples(X[used], h[used], bordered, lam, g)
    M = np.zeros((g.size, g.size))
    p = X.shape[1]
    M[:p, :p] = (X.T @ X.multiply(h[:, None])).toarray()
    if bordered:
        M[p, :p] = M[:p, p] = X.T @ h
        M[p, p] = h.sum()
    return _solved(M, bordered, lam, g)


def dense_row_products(X: Any, columns: int) -> NDArray[np.float64]:
    """⟨x_i, x_j⟩ of all pairs of rows."""
    rows = np.asarray(X, dtype=np.float64)
    return np.asarray(rows @ rows.T)


def csr_row_products(data: Any, indices: Any, indptr: Any, columns: int) -> NDArray[np.float64]:
    """The same for X in compressed sparse rows."""
    X = _csr(data, indices, indptr, columns)
    return np.asarray((X @ X.T).toarray())


def _by_examples(X: Any, h: Vector, bordered: bool, lam: float, g: Vector) -> Vector:
    """The same d for q = H Z d from (H⁻¹ + X Xᵀ/λ) q = X g/λ + b, Σ q = g_b, and d = (g - Xᵀ q)/λ."""
    p = X.shape[1]
    M = np.asarray((X @ X.T).todense()) / lam + np.diag(1.0 / h)
    q, ones = np.linalg.solve(M, np.column_stack([X @ g[:p] / lam, np.ones(h.size)])).T
    bias = (g[p] - q.sum()) / ones.sum() if bordered and h.size else 0.0
    q = q + bias * ones
    d = (g[:p] - X.T @ q) / lam
    return np.append(d, bias) if bordered else np.asarray(d)


def _solved(M: NDArray[np.float64], bordered: bool, lam: float, g: Vector) -> Vector:
    M[np.diag_indices(g.size - bordered)] += lam
    try:
        return np.asarray(cho_solve(cho_factor(M, lower=True), g))
    except LinAlgError:  # a direction without curvature, in which d does not move
        return np.asarray(np.linalg.lstsq(M, g, rcond=1e-14)[0])


def _conjugate_gradients(
    X: Any, h: Vector, bordered: bool, lam: float, g: Vector, inverse_diagonal: Vector, accuracy: float, most: int
) -> tuple[Vector, int, float]:
    """A free bias is eliminated: with the means m = Xᵀh/Σh the system left is λ I + Xᵀ H (X - 1 mᵀ)."""
    p, total = X.shape[1], float(h.sum())
    mean = (X.T @ h) / total if bordered and total > 0 else np.zeros(p)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.maximum(1.0 / inverse_diagonal[:p] - total * mean**2, lam)

    def curved(v: Vector) -> Vector:
        return np.asarray(X.T @ (h * (X @ v - np.dot(mean, v))) + lam * v)

    rest = g[:p] - mean * g[-1] if bordered else g
    d, iterations, residual = conjugate_gradients(curved, rest, inverse, accuracy, most)
    if bordered:
        d = np.append(d, (g[-1] / total if total > 0 else 0.0) - np.dot(mean, d))
    return d, iterations, residual


def dense_conjugate_gradients(
    X: Any,
    h: Vector,
    bordered: bool,
    lam: float,
    g: Vector,
    inverse_diagonal: Vector,
    accuracy: float,
    most: int,
    threads: int,
) -> tuple[Vector, int, float]:
    """The same approximately: d, the iterations, and the relative residual."""
    return _conjugate_gradients(X, h, bordered, lam, g, inverse_diagonal, accuracy, most)


def csr_conjugate_gradients(
    data: Any,
    indices: Any,
    indptr: Any,
    h: Vector,
    bordered: bool,
    lam: float,
    g: Vector,
    inverse_diagonal: Vector,
    accuracy: float,
    most: int,
    threads: int,
) -> tuple[Vector, int, float]:
    """The same for X in compressed sparse rows."""
    X = _csr(data, indices, indptr, g.size - bordered)
    return _conjugate_gradients(X, h, bordered, lam, g, inverse_diagonal, accuracy, most)


class SweptRows:
    """What the core leaves out of its sweeps from one call to the next, and whether they end at a forecast."""

    def __init__(self, eager: bool = False) -> None:
        self.eager = eager


def _sweeps(
    row: Callable[[int], tuple[Any, Vector]],
    logistic: bool,
    shape: Shape,
    scale: Vector,
    offset: Vector,
    sign: Vector,
    norm2: Vector,
    rho: float,
    most: int,
    enough: float,
    seed: int,
    t: Vector,
    w: Vector,
    bias: float,
) -> tuple[float, float, int]:
    """Without the shrinking and the chunks of the C++ core, which visits the examples in another order."""
    order = np.random.default_rng(seed)
    total, count = np.inf, 0
    while count < most and total > enough:
        total = 0.0
        for i in order.permutation(t.size):
            where, x = row(i)
            q = scale[i] * (norm2[i] + rho)
            r = np.array([sign[i] * (float(np.sum(x * w[where])) + bias) - offset[i]])
            total += excess(logistic, shape, r, scale[i : i + 1] * t[i], scale[i : i + 1])
            now = float(_slope_and_bend(logistic, shape, max(q, 1e-300), r + q * t[i])[0][0])
            move = -sign[i] * scale[i] * (now - t[i])
            t[i] = now
            w[where] += move * x
            bias += rho * move
        bias -= rho * float(np.sum(sign * scale * t))
        count += 1
    return bias, total, count


def dense_sweeps(
    X: Any,
    logistic: bool,
    shape: Shape,
    scale: Vector,
    offset: Vector,
    sign: Vector,
    norm2: Vector,
    rho: float,
    most: int,
    enough: float,
    seed: int,
    t: Vector,
    w: Vector,
    bias: float,
    swept: SweptRows,
) -> tuple[float, float, int]:
    """Sweeps of dual coordinate ascent over t, w (in place) and the bias; the excess of the last, and how many."""
    return _sweeps(
        lambda i: (slice(None), X[i].astype(np.float64)),
        logistic,
        shape,
        scale,
        offset,
        sign,
        norm2,
        rho,
        most,
        enough,
        seed,
        t,
        w,
        bias,
    )


def csr_sweeps(
    data: Any,
    indices: Any,
    indptr: Any,
    logistic: bool,
    shape: Shape,
    scale: Vector,
    offset: Vector,
    sign: Vector,
    norm2: Vector,
    rho: float,
    most: int,
    enough: float,
    seed: int,
    t: Vector,
    w: Vector,
    bias: float,
    swept: SweptRows,
) -> tuple[float, float, int]:
    """The same for X in compressed sparse rows."""

    def row(i: int) -> tuple[Any, Vector]:
        part = slice(indptr[i], indptr[i + 1])
        return indices[part], data[part].astype(np.float64)

    return _sweeps(row, logistic, shape, scale, offset, sign, norm2, rho, most, enough, seed, t, w, bias)

"""Working sets and coordinate descent in plain NumPy, with the signatures of `cpp/bind_coordinate.hpp`.

`solve_dense_columns` and the `solve` of a store minimize, over the weights w of some columns and a free bias b,

    Σ c_i φ(s_i (⟨x_i, w⟩ + b) - a_i) + l1 ‖w‖₁ + (l2/2) ‖w‖²

for the loss (κ, low, high), φ' = clip(r/κ, low, high), or the logistic one where κ = 0. They stop where the duality gap
on these columns is about `enough`, or `part` of what it was at the start; `allowed` limits the work of the C++ core.
That one works on columns; here the model is the matrix of their products, minimized by sweeps and Newton steps on the
support: slower, with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.special import expit

from minorant.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Index = NDArray[np.int64]
    Loss = tuple[float, float, float]

__all__ = ["Block", "SparseStore32", "SparseStore64", "gather_dense", "solve_dense_columns"]


def gather_dense(X: NDArray[Any], columns: Index) -> NDArray[Any]:
    """Columns of a row-major matrix, as the rows of another."""
    return np.ascontiguousarray(X[:, columns].T)


def solve_dense_columns(
    columns: NDArray[Any],
    index: Index,
    s: Vector,
    a: Vector,
    c: Vector,
    loss: Loss,
    l1: float,
    l2: float,
    bias: bool,
    w: Vector,
    b: float,
    enough: float,
    part: float,
    allowed: float,
) -> tuple[Vector, Vector, Vector]:
    """The weights and scores for the columns of the data that are the rows `index` of a matrix.

    Third come the scores of a better dual point, or nothing.
    """
    X = columns[index].T.astype(np.float64)
    return Block(X, s, a, c, loss, l1, l2, bias, w, b, enough, part).solve()


class SparseStore64:
    """Columns of a matrix in compressed rows, gathered when first asked for."""

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = rows, columns
        self._columns: csc_array | None = None

    def gather(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], columns: Index) -> None:
        """Make sure that these columns are there: here, once and for all, every column."""
        if self._columns is None:
            self._columns = csr_array((data, indices, indptr), shape=self._shape).tocsc()

    def solve(
        self,
        columns: Index,
        s: Vector,
        a: Vector,
        c: Vector,
        loss: Loss,
        l1: float,
        l2: float,
        bias: bool,
        w: Vector,
        b: float,
        enough: float,
        part: float,
        allowed: float,
    ) -> tuple[Vector, Vector, Vector]:
        """The weights and scores for these columns, which have been gathered."""
        if self._columns is None:
            raise InputError("gather the columns first")
        X = self._columns[:, columns].astype(np.float64)
        return Block(X, s, a, c, loss, l1, l2, bias, w, b, enough, part).solve()


SparseStore32 = SparseStore64


class _Model(NamedTuple):
    """½ ⟨Δ, G Δ⟩ + ⟨slope, Δ⟩ + l1 ‖w + Δ‖₁ + (l2/2) ‖w + Δ‖², and the bias that goes with Δ: shift - ⟨mean, Δ⟩."""

    G: NDArray[np.float64]
    slope: Vector
    mean: Vector
    shift: float


class Block:
    """The problem on all columns of X, a matrix or a sparse one; w and b are where it starts, and where it ends."""

    def __init__(
        self,
        X: Any,
        s: Vector,
        a: Vector,
        c: Vector,
        loss: Loss,
        l1: float,
        l2: float,
        bias: bool,
        w: Vector,
        b: float,
        enough: float,
        part: float,
    ) -> None:
        self.X, self.s, self.a, self.c, self.w, self.b = X, s, a, c, w.copy(), b
        self.kappa, self.low, self.high = loss
        self.l1, self.l2, self.bias = l1, l2, bias
        self.enough, self.part = enough, part

    def value(self) -> float:
        """J, where it ends."""
        return self._loss(self.X @ self.w, self.b) + self._penalty(self.w)

    def slopes(self, z: Vector, b: float | None = None) -> Vector:
        """φ'(r) at the scores z."""
        r = self.s * (z + (self.b if b is None else b)) - self.a
        return np.asarray(expit(r)) if self.kappa == 0 else np.clip(r / self.kappa, self.low, self.high)

    def solve(self) -> tuple[Vector, Vector, Vector]:
        """The weights, the scores, and nothing: the dual point is theirs."""
        floor, last = 1e-3, np.inf
        for _ in range(100):
            z = self.X @ self.w
            loss, clipped = self._loss(z, self.b), self._clipped(z, self.b)
            model = self._model(z, floor)
            gap = self._gap(self.w, model.slope, loss, clipped)
            self.enough, self.part = max(self.enough, self.part * gap), 0.0
            if gap <= self.enough or gap > 0.5 * last:
                break
            before = loss + self._penalty(self.w)
            w, shift = self._descend(model, max(0.1 * gap, 0.3 * self.enough), loss, clipped)
            step = self._search(z, loss, w, shift)
            if step == 0.0:
                break
            after = self._loss(self.X @ self.w, self.b) + self._penalty(self.w)
            last = np.inf if after < before * (1 - 1e-15) else gap  # rounding hides the fall: the gap must tell
            floor = min(10 * floor, 1.0) if step < 0.5 else max(0.1 * floor, 1e-10) if step == 1.0 else floor
        return self.w, self.X @ self.w, np.empty(0)

    def _search(self, z: Vector, loss: float, w: Vector, shift: float) -> float:
        """Go to w and b + shift, or by halves of the way to where J is lower; the step, 0 if it is nowhere."""
        v, here = self.X @ (w - self.w), loss + self._penalty(self.w)
        step = 1.0
        while step > 1e-12:
            there = w if step == 1.0 else self.w + step * (w - self.w)
            if self._loss(z + step * v, self.b + step * shift) + self._penalty(there) <= here * (1 + 1e-15):
                self.w, self.b = there, self.b + step * shift
                return step
            step *= 0.5
        return 0.0

    def _loss(self, z: Vector, b: float) -> float:
        r = self.s * (z + b) - self.a
        if self.kappa == 0:
            return float(self.c @ np.logaddexp(0.0, r))
        t = np.clip(r / self.kappa, self.low, self.high)
        return float(self.c @ (t * (r - 0.5 * self.kappa * t)))

    def _clipped(self, z: Vector, b: float) -> float:
        """Σ c t (r - κt): what shrinking the dual point by 1 - ε costs is ε times that, and about ε² times the loss."""
        if self.kappa == 0:
            return 0.0
        r = self.s * (z + b) - self.a
        t = np.clip(r / self.kappa, self.low, self.high)
        return float(self.c @ (t * (r - self.kappa * t)))

    def _penalty(self, w: Vector) -> float:
        return self.l1 * float(np.abs(w).sum()) + 0.5 * self.l2 * float(w @ w)

    def _model(self, z: Vector, floor: float) -> _Model:
        r = self.s * (z + self.b) - self.a
        if self.kappa == 0:
            t = expit(r)
            h = self.c * np.maximum(t * expit(-r), 0.25 * floor)
        else:
            t = np.clip(r / self.kappa, self.low, self.high)
            inside = (r > self.kappa * self.low) & (r < self.kappa * self.high)
            h = self.c * np.where(inside, 1.0, floor) / self.kappa
        e = self.c * self.s * t
        mean, shift, mass = np.zeros(self.w.size), 0.0, float(h.sum())
        if self.bias and mass > 0:
            mean, shift = (self.X.T @ h) / mass, -float(e.sum()) / mass
        weighted = self.X.multiply(h[:, None]) if hasattr(self.X, "multiply") else self.X * h[:, None]
        G = self.X.T @ weighted
        G = np.asarray(G.toarray() if hasattr(G, "toarray") else G) - mass * np.outer(mean, mean)
        return _Model(G, self.X.T @ (e + shift * h), mean, shift)

    def _gap(self, w: Vector, slope: Vector, loss: float, clipped: float) -> float:
        """About the duality gap of the model: exact but for the square of how much the dual point must be shrunk."""
        size = np.abs(slope)
        if self.l2 > 0:
            beyond = np.maximum(size - self.l1, 0.0)
            return self._penalty(w) + float(slope @ w) + float(beyond @ beyond) / (2.0 * self.l2)
        shrink = min(1.0, self.l1 / max(float(size.max(initial=0.0)), 1e-300))
        return self._penalty(w) + shrink * float(slope @ w) + (1.0 - shrink) * (clipped + (1.0 - shrink) * loss)

    def _descend(self, model: _Model, enough: float, loss: float, clipped: float) -> tuple[Vector, float]:
        """Minimize the model: the weights, and the step of the bias."""
        w, slope, q = self.w.copy(), model.slope.copy(), np.diag(model.G)
        able = q > 1e-12 * q.max(initial=0.0)
        for _ in range(200):
            for j in range(w.size):
                u = (q[j] + self.l2) * w[j] - slope[j] - self.l2 * w[j]
                new = np.sign(u) * max(abs(u) - self.l1, 0.0) / (q[j] + self.l2) if able[j] else 0.0
                if new != w[j]:
                    slope += (new - w[j]) * model.G[:, j]
                    w[j] = new
            if self._gap(w, slope, loss, clipped) <= enough:
                break
            self._newton(model, w, slope)
        return w, model.shift - float(model.mean @ (w - self.w))

    def _newton(self, model: _Model, w: Vector, slope: Vector) -> None:
        """A Newton step on the support, as far as the first sign that changes or all the way; in place."""
        S = np.flatnonzero(w)
        if not S.size:
            return
        H = model.G[np.ix_(S, S)] + (self.l2 + 1e-12 * float(np.diag(model.G)[S].max())) * np.eye(S.size)
        d = np.linalg.lstsq(H, -(slope[S] + self.l2 * w[S] + self.l1 * np.sign(w[S])), rcond=None)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(d * w[S] < 0, -w[S] / d, np.inf)
        step = min(1.0, float(reach.min()))
        slope += step * (model.G[:, S] @ d)
        w[S] += step * d
        w[S[reach <= step]] = 0.0

"""Linear models fitted and certified: what the estimators and the command line share.

The linear SVM in the scale of the mean loss, with C as in scikit-learn and LIBLINEAR (it multiplies a sum):

    J(w, b) = (λ/2)‖w‖² + Σ c_i [1 - y_i (⟨x_i, w⟩ + b)]_+ ,     c_i = weight_i / Σ weight,   λ = 1 / (C Σ weight)

More than two classes are fitted one against the rest, each with a certificate of its own.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant import checker, kernels
from minorant.certificate import Certificate, Status, relative
from minorant.driver import Progress, Result, solve
from minorant.errors import InputError
from minorant.losses import Hinge
from minorant.operators import as_linear_map
from minorant.problem import Problem
from minorant.regularizers import L2

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from minorant.solvers import Solver

    Vector = NDArray[np.float64]

__all__ = ["LinearCertificate", "LinearFit", "fit_linear", "resolve_threads"]


@dataclass(frozen=True, eq=False)
class LinearCertificate(Certificate):
    """The certificate of a binary linear SVM, with all that is needed to check it again.

    Attributes
    ----------
    w, intercept : the solution that `primal` is the value of
    positive : the label of the positive class; every other label is negative
    lam : λ
    weights : the c_i, or None where they are all 1/n
    fit_intercept : whether the bias was free
    """

    w: NDArray[Any] = field(repr=False)
    intercept: float
    positive: Any
    lam: float
    weights: Vector | None = field(repr=False)
    fit_intercept: bool

    def verify(self, X: Any, y: ArrayLike) -> checker.Verdict:
        """Recompute both sides of the gap from the data, with NumPy alone.

        Raises
        ------
        InputError
            If the claim does not hold on these data, with what is wrong.
        """
        labels = np.asarray(y)
        data = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
        n, p = self.alpha.size, self.w.size
        if data.shape != (n, p) or labels.shape != (n,):
            raise InputError(f"this certificate is for X of shape ({n}, {p}); got X {data.shape}, y {labels.shape}")
        c = np.full(n, 1.0 / n) if self.weights is None else self.weights
        signs = np.where(labels == self.positive, 1.0, -1.0)
        claim = {"loss": "hinge", "penalty": "l2", "lam": self.lam, "fit_intercept": self.fit_intercept}
        verdict = checker.check_linear(data, signs, self.w, self.intercept, self.alpha, c, claim)
        problems = [*verdict.problems, *checker.disagreements(verdict, self.primal, self.dual)]
        if problems:
            raise InputError("the certificate does not hold on these data: " + "; ".join(problems))
        return verdict


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted linear SVM: row r of `coef` has the certificate r. Two classes need one row, for classes[1]."""

    classes: NDArray[Any]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    lam: float
    certificates: tuple[LinearCertificate, ...]
    traces: tuple[tuple[Progress, ...], ...] = field(repr=False)

    @property
    def alpha(self) -> Vector:
        """The dual points, one row for each row of `coef`."""
        return np.stack([c.alpha for c in self.certificates])

    @property
    def n_iter(self) -> NDArray[np.int64]:
        """The iterations of each row."""
        return np.array([len(t) for t in self.traces], dtype=np.int64)


def fit_linear(
    X: Any,
    y: ArrayLike,
    *,
    C: float = 1.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    tol: float = 1e-3,
    solver: str | Solver = "auto",
    smoothing: str = "auto",
    max_iter: int = 20_000,
    max_time: float | None = None,
    callback: Callable[[int, Progress], object] | None = None,
    threads: int = 1,
    start: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> LinearFit:
    """Fit a linear SVM, one class against the rest where there are more than two.

    `callback(r, progress)` gets the index of the row of `coef` being fitted; a true answer stops the whole fit.
    `start` is a pair of matrices: a w and an alpha in each row.
    """
    _announce_pure_kernels()
    if not (np.isfinite(C) and C > 0):
        raise InputError(f"C must be a finite number > 0; got {C}")
    if max_time is not None and not max_time > 0:
        raise InputError(f"max_time must be positive seconds; got {max_time}")
    A, labels = as_linear_map(X, threads), np.asarray(y)
    if labels.shape != (A.shape[0],):
        raise InputError(f"X has {A.shape[0]} rows, but y has shape {labels.shape}")
    if labels.size == 0:
        raise InputError("there are no examples")
    _check_memory(*A.shape)
    classes = np.unique(labels)
    if classes.size < 2:
        raise InputError(
            f"a classifier needs examples of two classes or more; y has only one class: {classes.tolist()[0]!r}"
        )
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(A.shape[0] if weight is None else weight.sum())
    dtype: type = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64

    lam = 1.0 / (C * total) if C * total > 0 else np.inf
    if not (np.isfinite(lam) and lam > 0):
        raise InputError(f"C·Σ weight = {C * total} is out of range: λ is its inverse")

    began = perf_counter()
    certificates: list[LinearCertificate] = []
    traces: list[tuple[Progress, ...]] = []
    for row, positive in enumerate(classes[1:] if classes.size == 2 else classes):
        signs = np.where(labels == positive, 1.0, -1.0)
        loss = Hinge(signs, sample_weight=weight, bias=fit_intercept, threads=threads)
        problem = Problem(loss, A, L2(lam))
        result = solve(
            problem,
            tol=_ROOM[dtype] * tol,
            solver=solver,
            smoothing=smoothing,
            max_iter=max_iter,
            max_time=None if max_time is None else max(max_time - (perf_counter() - began), 1e-9),
            callback=None if callback is None else partial(callback, row),
            start=None if start is None else (start[0][row], start[1][row]),
        )
        primal, dual, status, w, intercept = _rounded(problem, loss, result, dtype, tol)
        certificates.append(
            LinearCertificate(
                primal=primal,
                dual=dual,
                alpha=result.certificate.alpha,
                status=status,
                n_products=result.certificate.n_products,
                w=w,
                intercept=intercept,
                positive=positive,
                lam=lam,
                weights=None if weight is None else loss.c,
                fit_intercept=fit_intercept,
            )
        )
        traces.append(result.trace)
    return LinearFit(
        classes=classes,
        coef=np.stack([c.w for c in certificates]),
        intercept=np.array([c.intercept for c in certificates], dtype=dtype),
        lam=lam,
        certificates=tuple(certificates),
        traces=tuple(traces),
    )


# Rounding the solution to float32 costs some of the gap: leave room for it.
_ROOM: dict[type, float] = {np.float64: 1.0, np.float32: 0.95}


def _rounded(
    problem: Problem, loss: Hinge, result: Result, dtype: type, tol: float
) -> tuple[float, float, Status, NDArray[Any], float]:
    """The solution in the type of the data, and J there: the certificate is of what is returned."""
    w: NDArray[Any] = result.w.astype(dtype)
    intercept = float(dtype(result.intercept))
    exact = w.astype(np.float64)
    primal = problem.regularizer.value(exact) + loss.value_at(problem.A @ exact, intercept)
    dual, status = result.certificate.dual, result.certificate.status
    within = relative(primal - dual, primal) <= tol
    if status is Status.CERTIFIED and not within:
        status = Status.STALLED
    elif status in (Status.MAX_ITER, Status.MAX_TIME) and within:
        status = Status.CERTIFIED
    return primal, dual, status, w, intercept


def _check_memory(n: int, p: int) -> None:
    """Refuse a problem whose vectors cannot fit: one wrong index in a small file can ask for 2³¹ columns."""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        need = 12 * 8 * (n + p)  # a dozen vectors of float64
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
def _announce_pure_kernels() -> None:
    """Say once, at the first fit, that the compiled core is missing."""
    if not kernels.native:
        warnings.warn(
            "minorant runs on its NumPy kernels, several times slower: its C++ core was not compiled on this machine. "
            "Install a C++20 compiler, then `pip install --force-reinstall --no-cache-dir minorant`.",
            RuntimeWarning,
            stacklevel=3,
        )

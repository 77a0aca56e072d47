"""Linear models fitted and certified: what the estimators and the command line share.

In the scale of the mean loss, with c_i = weight_i / Σ weight and scores s_i = ⟨x_i, w⟩ + b:

    J(w, b) = Ω(w) + Σ c_i loss(s_i, y_i) ,    Ω = λ·(½‖w‖², ‖w‖₁, or r‖w‖₁ + (1-r)/2 ‖w‖² with r = l1_ratio)

or Ω = 0 on the ball γ‖w‖₁ + ½‖w‖² ≤ radius, inf elsewhere. The bias b is never penalized. More than two classes are
fitted one against the rest, each with its own certificate.
"""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant import checker
from minorant.certificate import Certificate, Status, relative
from minorant.checker_models import as_triplets
from minorant.driver import Progress, Result, solve
from minorant.errors import InputError
from minorant.losses.base import normalized_weights
from minorant.machine import announce_pure_kernels, check_memory
from minorant.objective import LOSSES, Objective
from minorant.operators import RowMatrix, as_linear_map, check_finite
from minorant.path import better_start
from minorant.regularizers import L2
from minorant.side_by_side import side_by_side
from minorant.whole_fit import least_squares, whole_fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from minorant.losses.scalar import Scalar
    from minorant.operators import LinearMap
    from minorant.problem import Problem
    from minorant.solvers import Solver

    Vector = NDArray[np.float64]

__all__ = [
    "LinearCertificate",
    "LinearFit",
    "Run",
    "fit_classifier",
    "fit_regressor",
    "inverse_strength",
]


_SMALL = 50_000  # values: a fit of fewer takes no longer than Python does, which threads cannot share


def data_of(X: Any, y: ArrayLike, shape: tuple[int, int]) -> tuple[Any, NDArray[Any]]:
    """The data as the checkers take them; refuse those that cannot be the data of a certificate."""
    data, labels = as_triplets(X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)), np.asarray(y)
    if data.shape != shape or labels.shape != shape[:1]:
        raise InputError(f"this certificate is for X of shape {shape}; got X {data.shape}, y {labels.shape}")
    return data, labels


def confirmed(verdict: checker.Verdict, claim: Certificate) -> checker.Verdict:
    """The verdict, if it bears out what the certificate claims."""
    problems = [*verdict.problems, *checker.disagreements(verdict, claim.primal, claim.dual)]
    if problems:
        raise InputError("the certificate does not hold on these data: " + "; ".join(problems))
    return verdict


@dataclass(frozen=True, eq=False)
class LinearCertificate(Certificate):
    """The certificate of a linear model, with all that is needed to check it again.

    Attributes
    ----------
    w, intercept : the solution that `primal` is the value of
    positive : the label of the positive class, every other label being negative; None for targets
    objective : what was minimized
    weights : the c_i, or None where they are all 1/n
    """

    w: NDArray[Any] = field(repr=False)
    intercept: float
    positive: Any
    objective: Objective
    weights: Vector | None = field(repr=False)

    @property
    def lam(self) -> float:
        """The strength λ of the penalty."""
        return self.objective.lam

    def verify(self, X: Any, y: ArrayLike) -> checker.Verdict:
        """Recompute both sides of the gap from the data, with NumPy alone.

        Raises
        ------
        InputError
            If the claim does not hold on these data, with what is wrong.
        """
        n = self.alpha.size
        data, labels = data_of(X, y, (n, self.w.size))
        c = np.full(n, 1.0 / n) if self.weights is None else self.weights
        targets = labels if self.positive is None else np.where(labels == self.positive, 1.0, -1.0)
        claim = asdict(self.objective)
        return confirmed(checker.check_linear(data, targets, self.w, self.intercept, self.alpha, c, claim), self)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted linear model: row r of `coef` has the certificate r. Two classes need one row, for classes[1]."""

    classes: NDArray[Any]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    lam: float
    certificates: tuple[LinearCertificate, ...]
    traces: tuple[tuple[Progress, ...], ...] = field(repr=False)

    @property
    def n_iter(self) -> tuple[int, ...]:
        """The iterations of each row."""
        return tuple(len(t) for t in self.traces)


@dataclass(frozen=True)
class Run:
    """How to solve: what `solve` takes, and a callback that is also told the row of `coef` being fitted."""

    tol: float = 1e-3
    solver: str | Solver = "auto"
    smoothing: str = "auto"
    max_iter: int = 20_000
    max_time: float | None = None
    callback: Callable[[int, Progress], object] | None = None
    threads: int = 1


def fit_classifier(
    X: Any,
    y: ArrayLike,
    *,
    loss: str = "hinge",
    penalty: str = "l2",
    C: float = 1.0,
    l1_ratio: float = 0.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    classes: NDArray[Any] | None = None,
    start: tuple[NDArray[Any], NDArray[Any]] | None = None,
    run: Run | None = None,
) -> LinearFit:
    """Fit a linear classifier, one class against the rest where there are more than two.

    C multiplies the sum of the losses, as in scikit-learn and LIBLINEAR: λ = 1/(C Σ weight).
    `classes` are the distinct labels in order, where known. A true answer of `run.callback` stops the whole fit.
    `start` has a w and an alpha in each row of its two matrices.
    """
    run = run or Run()
    A, labels, classes, weight, lam = labeled(X, y, C, sample_weight, run.threads, classes)
    objective = Objective(loss, penalty, lam, l1_ratio, fit_intercept)
    positives = (classes[1],) if classes.size == 2 else classes
    return _fit(A, labels, positives, classes, objective, weight, start, run, dtype_of(X))


def fit_regressor(
    X: Any,
    y: ArrayLike,
    *,
    objective: Objective,
    sample_weight: ArrayLike | None = None,
    start: tuple[NDArray[Any], NDArray[Any]] | None = None,
    run: Run | None = None,
) -> LinearFit:
    """Fit a linear model to real targets."""
    run = run or Run()
    A, targets = _data(X, y, run.threads)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    targets = np.ascontiguousarray(targets, dtype=np.float64)
    return _fit(A, targets, (None,), np.empty(0), objective, weight, start, run, dtype_of(X))


def inverse_strength(C: float, total_weight: float) -> float:
    """λ = 1/(C Σ weight): from scikit-learn's scale, where C multiplies the sum of the losses, to that of the mean."""
    total = C * total_weight
    if not (total > 0 and 0 < 1.0 / total < inf):
        raise InputError(f"C·Σ weight = {total} is out of range: λ is its inverse")
    return 1.0 / total


def _data(X: Any, y: ArrayLike, threads: int) -> tuple[LinearMap, NDArray[Any]]:
    announce_pure_kernels()
    A, labels = as_linear_map(X, threads, finite=False), np.asarray(y)
    if labels.shape != (A.shape[0],):
        raise InputError(f"X has {A.shape[0]} rows, but y has shape {labels.shape}")
    if labels.size == 0:
        raise InputError("there are no examples")
    check_memory(*A.shape)
    return A, labels


def labeled(
    X: Any,
    y: ArrayLike,
    C: float,
    sample_weight: ArrayLike | None,
    threads: int,
    classes: NDArray[Any] | None = None,
) -> tuple[LinearMap, NDArray[Any], NDArray[Any], Vector | None, float]:
    """The data (`check_finite` is left to do), labels, classes and weights of a classifier, and λ."""
    if not 0 < C < inf:
        raise InputError(f"C must be a finite number > 0; got {C}")
    A, labels = _data(X, y, threads)
    classes = np.unique(labels) if classes is None else classes
    if classes.size < 2:
        raise InputError(
            f"a classifier needs examples of two classes or more; y has only one class: {classes.tolist()[0]!r}"
        )
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    lam = inverse_strength(C, float(A.shape[0] if weight is None else weight.sum()))
    return A, labels, classes, weight, lam


def signs(labels: NDArray[Any], positive: Any, classes: NDArray[Any]) -> Vector:
    """1 for the positive class, -1 for every other one: the labels as they are, where they say that."""
    if labels.dtype == np.float64 and labels.flags.c_contiguous and classes.tolist() == [-1.0, 1.0]:
        return labels
    return np.where(labels == positive, 1.0, -1.0)


def dtype_of(X: Any) -> type:
    """The type of the solution: that of float32 data, else float64."""
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


def _fit(
    A: LinearMap,
    labels: NDArray[Any],
    positives: Iterable[Any],
    classes: NDArray[Any],
    objective: Objective,
    weight: Vector | None,
    start: tuple[NDArray[Any], NDArray[Any]] | None,
    run: Run,
    dtype: type,
) -> LinearFit:
    if run.max_time is not None and not run.max_time > 0:
        raise InputError(f"max_time must be positive seconds; got {run.max_time}")
    began = perf_counter()
    rows = tuple(positives)
    workers = _workers(A, len(rows), run.threads)
    if workers > 1:
        check_finite(A)
        A = copy(A)
        A.threads = run.threads // workers  # type: ignore[attr-defined]
        run = replace(run, threads=run.threads // workers)
    c = None if weight is None else normalized_weights(weight, A.shape[0])

    def fit_row(row: int, callback: Callable[[int, Progress], object] | None) -> tuple[LinearCertificate, Any]:
        positive, told = rows[row], replace(run, callback=callback)
        y = labels if positive is None else signs(labels, positive, classes)
        result, warm = None, None
        if start is None and dtype is np.float64 and (positive is not None or objective.loss == "squared"):
            result = _at_once(A, y, c, objective, row, told)
        if result is None or result.certificate.status is not Status.CERTIFIED:
            if row == 0:  # the call certifies nothing where a value is not
                check_finite(A)
            problem = objective.problem(A, y, weight, run.threads)
            left = None if run.max_time is None else max(run.max_time - (perf_counter() - began), 1e-9)
            if start is not None:
                warm = better_start(problem, start[0][row], start[1][row])
            elif result is not None:
                warm = result.w, result.certificate.alpha
            result = solve_row(problem, row, warm, told, left, dtype)
        model = {"w": result.w, "intercept": float(result.intercept), "positive": positive, "weights": c}
        return LinearCertificate(**vars(result.certificate), **model, objective=objective), result.trace

    fits = side_by_side(fit_row, len(rows), workers, run.callback)
    return LinearFit(
        classes=classes,
        coef=np.array([c.w for c, _ in fits]),
        intercept=np.array([c.intercept for c, _ in fits], dtype=dtype),
        lam=objective.lam,
        certificates=tuple(c for c, _ in fits),
        traces=tuple(trace for _, trace in fits),
    )


def _workers(A: LinearMap, rows: int, threads: int) -> int:
    """How many rows of `coef` are fitted at a time: of small data, one."""
    return min(rows, threads) if isinstance(A, RowMatrix) and A.volume >= _SMALL else 1


@cache
def _like(loss: str, bias: bool) -> Scalar:
    return LOSSES[loss](np.array([-1.0, 1.0]), bias=bias).scalar  # type: ignore[no-any-return]


def _at_once(A: LinearMap, y: Vector, c: Vector | None, objective: Objective, row: int, run: Run) -> Result | None:
    """What "auto" would find, in a single call, where that is enough."""
    hurried = run.max_time is not None and run.max_time < 1.0  # such a call cannot be interrupted
    if hurried or not run.solver == run.smoothing == "auto" or type(objective.regularizer) is not L2:
        return None
    if objective.loss == "squared":
        result = least_squares(A, y, c, objective.lam, run.tol, bias=objective.fit_intercept)
    else:
        result = whole_fit(A, y, c, _like(objective.loss, objective.fit_intercept), objective.lam, run.tol)
    if result is not None and result.certificate.status is Status.CERTIFIED and run.callback is not None:
        run.callback(row, result.trace[0])
    return result


# Rounding the solution to float32 costs some of the gap: leave room for it.
_ROOM: dict[type, float] = {np.float64: 1.0, np.float32: 0.95}


def solve_row(
    problem: Problem, row: int, start: tuple[Any, Any] | None, run: Run, max_time: float | None, dtype: type
) -> Result:
    """The solution in the type of the data, and J there: the certificate is of what is returned."""
    result = solve(
        problem,
        tol=_ROOM[dtype] * run.tol,
        solver=run.solver,
        smoothing=run.smoothing,
        max_iter=run.max_iter,
        max_time=max_time,
        callback=None if run.callback is None else partial(run.callback, row),
        start=start,
    )
    if dtype is np.float64:  # as it is; its J is known
        return replace(result, intercept=np.asarray(result.intercept))
    w: NDArray[Any] = result.w.astype(dtype)
    if problem.regularizer.value(w.astype(np.float64)) == np.inf:  # a ball keeps what is rounded toward 0
        w = np.where(np.abs(w) > np.abs(result.w), np.nextafter(w, dtype(0)), w)
    intercept: Any = np.asarray(result.intercept, dtype=dtype)  # one number, or one for each class
    exact, bias = w.astype(np.float64), intercept.astype(np.float64)
    primal = problem.regularizer.value(exact) + problem.loss.value_at(problem.A @ exact, bias)
    status = result.certificate.status
    within = relative(primal - result.certificate.dual, primal) <= run.tol
    if status is Status.CERTIFIED and not within:
        status = Status.STALLED
    elif status in (Status.MAX_ITER, Status.MAX_TIME) and within:
        status = Status.CERTIFIED
    certificate = replace(result.certificate, primal=primal, status=status)
    return replace(result, w=w, intercept=intercept, certificate=certificate)

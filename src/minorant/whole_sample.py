"""Linear models trained for a measure of the whole sample, fitted and certified.

For n examples with labels y_i = ±1, scores s_i = ⟨x_i, w⟩ + b, and Δ the loss of a labeling y' (`measures.py`),

    J(w, b) = λ/2 ‖w‖² + max over y' of  Δ(y', y) + Σ (y'_i - y_i) s_i / n ,      λ = 1/(C n).

The proof is a law of labelings: with weights β, v = Σ β Xᵀ(y' - y)/n and Σ β Σ (y'_i - y_i) = 0 where b is free,
J ≥ Σ β Δ - ‖v‖²/2λ. More than two classes are fitted one against the rest, each with its own certificate. Measures of
the order of scores (at k, break-even, ROC area) have no b in J; their b is the threshold that predicts as many examples
positive as the measure asks for (ROC area: as there are positives).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.certificate import Certificate, Status, relative
from minorant.checker_measures import bias_bound, check_measure
from minorant.driver import Progress
from minorant.errors import InputError
from minorant.kernels import dot
from minorant.linear import Run, confirmed, data_of, dtype_of, inverse_strength
from minorant.machine import announce_pure_kernels, check_memory
from minorant.measures import (
    BalancedError,
    BreakEven,
    ErrorRate,
    FBeta,
    FixedCount,
    GMean,
    Measure,
    PrecisionAtK,
    RecallAtK,
    ROCArea,
)
from minorant.operators import Counting, as_linear_map
from minorant.solvers.bundle import Bundle, Labelings, WholeSample
from minorant.solvers.sampled_start import sampled_start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant import checker

    Vector = NDArray[np.float64]

__all__ = ["MeasureCertificate", "MeasureFit", "fit_measure", "ranks", "repetitions"]

_COPIES = 1000  # of an example, on the average
_PATIENCE = 1000  # iterations without a smaller gap: rounding
_NAMES: dict[type[Measure], str] = {
    ErrorRate: "error_rate",
    BalancedError: "balanced_error",
    FBeta: "fbeta",
    GMean: "gmean",
    PrecisionAtK: "precision_at_k",
    RecallAtK: "recall_at_k",
    BreakEven: "prbep",
    ROCArea: "roc_auc",
}


def ranks(which: Measure) -> bool:
    """Whether the measure is one of the order of scores, so that no bias is trained for it."""
    return isinstance(which, FixedCount | ROCArea)


@dataclass(frozen=True, eq=False)
class MeasureCertificate(Certificate):
    """The certificate of a model trained for a measure, with all that is needed to check it again.

    Attributes
    ----------
    alpha : array
        Σ β (y'_i - y_i)/n, for each row of X: the slopes of the lower bound in the scores.
    law : the labelings that prove the lower bound, with their weights β
    w, bias : the solution that `primal` is the value of; bias is 0 where J has none
    positive : the label of the positive class, every other label being negative
    measure : what was trained for
    lam : the strength λ of the penalty
    free : whether J has a bias
    trivial : J at w = 0, with the best bias
    index : where sample weights repeat or drop rows, the rows in use
    """

    law: Labelings = field(repr=False)
    w: NDArray[Any] = field(repr=False)
    bias: float
    positive: Any
    measure: Measure
    lam: float
    free: bool
    trivial: float
    index: NDArray[np.int64] | None = field(repr=False)

    def verify(self, X: Any, y: ArrayLike) -> checker.Verdict:
        """Recompute both sides of the gap from the data and the labelings, with NumPy alone.

        A loss of your own is called again, for every entry of its table.

        Raises
        ------
        InputError
            If the claim does not hold on these data, with what is wrong.
        """
        n = self.alpha.size
        data, labels = data_of(X, y, (n, self.w.size))
        signs = np.where(labels == self.positive, 1.0, -1.0)
        size = n if self.index is None else self.index.size
        flips = self.law.each(size)
        verdict = check_measure(data, signs, self.w, self.bias, self.law.weights, flips, self._claim(), self.index)
        return confirmed(verdict, self)

    def _claim(self) -> dict[str, Any]:
        return _claim(self.measure, self.lam, self.free)


def _claim(which: Measure, lam: float, free: bool) -> dict[str, Any]:
    """What is claimed, in the words of the checker."""
    claim = {"metric": _NAMES.get(type(which), "custom"), "lam": lam, "bias": free}
    claim["beta"], claim["k"] = getattr(which, "beta", None), getattr(which, "k", None)
    return {**claim, "function": which.loss}


@dataclass(frozen=True, eq=False)
class MeasureFit:
    """A fitted model: row r of `coef` has the certificate r. Two classes need one row, for classes[1]."""

    classes: NDArray[Any]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    certificates: tuple[MeasureCertificate, ...]
    traces: tuple[tuple[Progress, ...], ...] = field(repr=False)

    @property
    def n_iter(self) -> tuple[int, ...]:
        """The iterations of each row."""
        return tuple(len(t) for t in self.traces)


def fit_measure(
    X: Any,
    y: ArrayLike,
    which: Measure,
    *,
    C: float = 1.0,
    sample_weight: Vector | None = None,
    fit_intercept: bool = True,
    start: tuple[NDArray[Any], NDArray[Any]] | None = None,
    line_search: bool = True,
    run: Run | None = None,
) -> MeasureFit:
    """Fit a linear classifier for a measure, one class against the rest where there are more than two.

    C multiplies n times the risk: λ = 1/(C n). `sample_weight` has whole numbers: so many copies of a row; or whole
    multiples of its smallest one, n being their sum. `start` has the coef and the biases of another fit.
    `line_search=False` is the plain one-slack cutting plane.
    """
    run = run or Run()
    announce_pure_kernels()
    A, labels = Counting(as_linear_map(X, run.threads)), np.asarray(y)
    check_memory(*A.shape)
    index, unit = repetitions(sample_weight)
    used = labels if index is None else labels[index]
    classes = np.unique(used)
    if classes.size < 2:
        found = f"y has only one class: {classes.tolist()[0]!r}" if classes.size else "there are no examples"
        raise InputError(f"a classifier needs examples of two classes or more; {found}")
    lam, free = inverse_strength(C, unit * float(used.size)), fit_intercept and not ranks(which)
    certificates: list[MeasureCertificate] = []
    traces: list[tuple[Progress, ...]] = []
    intercepts: list[float] = []
    ends = None if run.max_time is None else perf_counter() + run.max_time
    for row, positive in enumerate(classes[1:] if classes.size == 2 else classes):
        before = perf_counter(), A.products
        signs = np.where(labels == positive, 1.0, -1.0)
        problem = WholeSample(A, signs, which, lam, free, index)  # checks that the measure is defined for the sample
        if free:
            _check_ends(which, problem.y)
        begin = None if start is None else (start[0][row].astype(np.float64), float(start[1][row]) if free else 0.0)
        if begin is None and line_search:
            begin = sampled_start(problem, run.max_iter, ends)
        bundle = Bundle(problem, line_search=line_search, start=begin)
        trace, status = _iterate(bundle, A, row, run, ends, before)
        done = trace[-1].products
        certificate = _certificate(bundle, problem, status, positive, index, dtype_of(X), (run.tol, done))
        certificates.append(certificate)
        traces.append(trace)
        if fit_intercept and not free:
            scores = problem.scores(certificate.w.astype(np.float64))
            n_pos = int((problem.y > 0).sum())
            intercepts.append(_threshold(scores, which.count(n_pos) if isinstance(which, FixedCount) else n_pos))
        else:
            intercepts.append(certificate.bias)
    return MeasureFit(
        classes,
        np.stack([c.w for c in certificates]),
        np.array(intercepts, dtype=dtype_of(X)),
        tuple(certificates),
        tuple(traces),
    )


def _iterate(
    bundle: Bundle, A: Counting, row: int, run: Run, ends: float | None, before: tuple[float, int]
) -> tuple[tuple[Progress, ...], Status]:
    trace: list[Progress] = []
    began, products = before
    least, improved = np.inf, 0
    for primal, dual in bundle.steps():
        used = A.products - products + math.ceil(bundle.partial)
        trace.append(Progress(len(trace) + 1, perf_counter() - began, used, primal, dual, 0.0, 0.0))
        stop = run.callback is not None and run.callback(row, trace[-1])
        gap = primal - dual
        if gap < least:
            least, improved = gap, len(trace)
        if relative(gap, primal) <= max(0.9 * run.tol, 1e-14):  # some room, for float32 and for rounding
            return tuple(trace), Status.CERTIFIED if run.tol >= 1e-14 else Status.STALLED
        if stop:
            return tuple(trace), Status.INTERRUPTED
        if len(trace) >= run.max_iter:
            break
        if ends is not None and perf_counter() >= ends:
            return tuple(trace), Status.MAX_TIME
        if len(trace) - improved > _PATIENCE:
            return tuple(trace), Status.STALLED
    return tuple(trace), Status.MAX_ITER


def _certificate(
    bundle: Bundle, problem: WholeSample, status: Status, positive: Any, index: Any, dtype: type, run: tuple[float, int]
) -> MeasureCertificate:
    """Both sides once more from the data, for the solution in the type in which it is returned."""
    w: NDArray[Any] = bundle.w.astype(dtype)
    bias, exact = float(dtype(bundle.bias)), w.astype(np.float64)
    worst = problem.worst(problem.scores(exact) + bias)
    primal = 0.5 * problem.lam * dot(exact, exact) + worst.value
    alpha = problem.gradient(bundle.law.marginals(problem.y.size))
    v = problem.image(alpha)
    dual = float(bundle.law.weights @ bundle.law.losses) - dot(v, v) / (2.0 * problem.lam)
    n_pos = int((problem.y > 0).sum())
    if problem.free:
        claim = _claim(problem.measure, problem.lam, problem.free)
        longest = float(problem.A.row_norms().max())
        reach = bias_bound(primal, problem.lam, longest, n_pos, problem.y.size - n_pos, claim)
        dual -= abs(float(alpha.sum())) * reach
    if primal < dual <= primal + 1e-12 * abs(primal):  # rounding: a lower bound that is lower is one too
        dual = primal
    tol, products = run
    within = relative(primal - dual, primal) <= tol
    if status is Status.CERTIFIED and not within:
        status = Status.STALLED
    elif status in (Status.MAX_ITER, Status.MAX_TIME) and within:
        status = Status.CERTIFIED
    n = problem.A.shape[0]
    return MeasureCertificate(
        primal=primal,
        dual=dual,
        alpha=alpha if index is None else np.bincount(index, weights=alpha, minlength=n).astype(np.float64),
        status=status,
        n_products=products,
        law=bundle.law,
        w=w,
        bias=bias,
        positive=positive,
        measure=problem.measure,
        lam=problem.lam,
        free=problem.free,
        trivial=bundle.trivial,
        index=index,
    )


def repetitions(sample_weight: Vector | None) -> tuple[NDArray[np.int64] | None, float]:
    """The rows, each as often as its weight says, and the weight of a copy.

    Real weights would make the table one of real numbers, and the worst labeling a knapsack problem: which examples
    fill the weight b? Copies keep it a sort, and are exact. So weights are whole numbers, or whole multiples of one.
    """
    if sample_weight is None or (sample_weight == 1).all():
        return None, 1.0
    unit = 1.0
    if not (sample_weight == np.round(sample_weight)).all():
        unit = float(sample_weight[sample_weight > 0].min(initial=np.inf))
    counts = np.round(sample_weight / unit)
    if not ((sample_weight >= 0).all() and np.allclose(counts * unit, sample_weight, rtol=1e-9, atol=0)):
        raise InputError(
            "sample_weight must have whole numbers, at least 0, or whole multiples of its smallest weight: a measure "
            "of the whole sample counts examples, and an example of weight m counts as m copies; with other weights, "
            "the worst labeling is a knapsack problem that cannot be solved exactly. Round the weights, after scaling "
            "them if they are small; for the error rate, LinearSVC takes any weights"
        )
    if counts.sum() > _COPIES * sample_weight.size:
        raise InputError(
            f"sample_weight asks for {counts.sum():.3g} copies of {sample_weight.size} examples, more than {_COPIES} "
            "each: divide the weights, and round them"
        )
    return np.repeat(np.arange(sample_weight.size), counts.astype(np.int64)), unit


def _check_ends(which: Measure, y: Vector) -> None:
    """A free bias is bounded by the labelings of one class alone."""
    n_pos = int((y > 0).sum())
    ends = which.loss(np.array([n_pos, 0.0]), np.array([0.0, y.size - n_pos]), n_pos, y.size - n_pos)
    if not np.isfinite(ends).all():
        raise InputError(f"{which} excludes the labelings of one class alone: no bias is best; set fit_intercept=False")


def _threshold(scores: Vector, count: int) -> float:
    """The bias with which the `count` highest scores are positive, halfway to the next."""
    ordered = np.sort(scores)[::-1]
    if count == ordered.size:
        return float(-ordered[-1] + max(ordered[0] - ordered[-1], 1.0))
    return float(-0.5 * (ordered[count - 1] + ordered[count]))

"""The support vector machine for measures of the whole sample.

J(w, b) = ½‖w‖² + C n · max over labelings y' of  Δ(y', y) + Σ (y'_i - y_i) (⟨x_i, w⟩ + b)/n ,   Δ = 1 - measure

with an unpenalized bias b; certificates are in the scale of J/(C n).
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets

from minorant.estimators._base import SOLVING, LinearClassifier, log_progress, sample_weights, validated, warn_if_open
from minorant.linear import Run
from minorant.machine import resolve_threads
from minorant.measures import FixedCount, Measure, ROCArea, measure
from minorant.whole_sample import fit_measure, repetitions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.whole_sample import MeasureFit

__all__ = ["MultivariateSVC", "TrivialSolution", "attained"]


class TrivialSolution(UserWarning):
    """w = 0 is, within tol, the best model there is: every example gets the same score."""


class MultivariateSVC(LinearClassifier):
    """Maximum-margin training for F1 and other measures of the whole sample, with a proof of optimality.

    Minimizes ½‖w‖² + C n R(w, b), with R the largest Δ(y', y) + Σ (y'_i - y_i)(⟨x_i, w⟩ + b)/n over all labelings y'
    of the n examples, an upper bound of Δ = 1 - measure at the predictions. The bias b is not penalized. More than two
    classes are trained one against the rest, for the mean of the measure over classes.

    Parameters
    ----------
    metric : str or Measure, default "f1"
        "f1", "fbeta" (with `beta`), "gmean", "balanced_error", "error_rate", "precision_at_k" and "recall_at_k" (with
        `k`), "prbep" (precision where it equals recall), "roc_auc", or a measure of `minorant.measures`.
    C : float, default 1.0
        Weight of the loss; λ = 1/(C n). "error_rate" with C is `LinearSVC` with 4 C and w halved.
    beta : float, default 1.0
        Weight of recall against precision.
    k : int, optional
        Number of predicted positives. Where it is far from the number of positives, w = 0 may be the best model of
        these losses; the fit says so.
    fit_intercept : bool, default True
        The measures at k, the break-even point and the ROC area judge the order of scores: no bias is trained for
        them, and `intercept_` is the threshold that predicts k of the training examples positive (break-even point
        and ROC area: as many as are positive).
    tol : float, default 1e-3
        The promise: the objective at the solution is at most this much (relative) above its minimum.
    max_iter : int, default 20_000
        For each class.
    max_time : float, optional
        Seconds, for the whole fit.
    warm_start : bool, default False
        Start from the last solution.
    n_jobs : int, optional
        Threads; None and -1 are all cores.
    verbose : int, default 0
        Log the gap on the logger "minorant".

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
        The positive class of two is classes_[1].
    dual_coef_ : array of shape (1, n) or (n_classes, n)
        -α/λ: coef_ is close to dual_coef_ @ X.
    certificate_ : MeasureCertificate, or a list with one for each class
        `primal`, `dual`, `gap`, `relative_gap`, `alpha`, `law` (the labelings that prove the lower bound), `status`,
        `n_products`, and `verify(X, y)`.
    trivial_ : bool or list of bool
        Whether w = 0 is within tol of the optimum; the fit warns then. It happens where the classes overlap so much
        that no direction separates them on the average of the worst labelings, or where C is small.
    n_iter_ : int
    trace_ : the bounds after every iteration

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from minorant import MultivariateSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MultivariateSVC("f1", C=0.1).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.98)
    True
    >>> model.certificate_.verify(scale(X), y).relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [str, Measure],
        "C": [Interval(Real, 0, None, closed="neither")],
        "beta": [Real],
        "k": [Integral, None],
        **{name: allowed for name, allowed in SOLVING.items() if name not in ("solver", "smoothing")},
    }

    def __init__(
        self,
        metric: str | Measure = "f1",
        *,
        C: float = 1.0,
        beta: float = 1.0,
        k: int | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 20_000,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.C = C
        self.beta = beta
        self.k = k
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model and prove it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p)
        y : array of shape (n,), numbers or strings
        sample_weight : array of shape (n,), optional
            Whole numbers: an example of weight m counts as m copies, one of weight 0 is left out. Or whole multiples
            of the smallest weight, with n = Σ weights. Other weights are refused: the worst labeling would be a
            knapsack problem, and no proof would be exact.

        Returns
        -------
        self
        """
        self._validate_params()
        which = self._measure()
        X, y = validated(self, X, y)
        check_classification_targets(y)
        weight = None if sample_weight is None else sample_weights(X, sample_weight)
        run = Run(
            tol=self.tol,
            max_iter=self.max_iter,
            max_time=self.max_time,
            callback=log_progress(self.verbose),
            threads=resolve_threads(self.n_jobs),
        )
        fit = fit_measure(
            X,
            y,
            which,
            C=self.C,
            sample_weight=weight,
            fit_intercept=self.fit_intercept,
            start=self._last(X.shape[1], np.unique(y)),
            run=run,
        )
        self.classes_, self.coef_, self.intercept_ = fit.classes, fit.coef, fit.intercept
        self.dual_coef_ = np.stack([-c.alpha / c.lam for c in fit.certificates]).astype(fit.coef.dtype)
        self._keep(fit)
        self._tell_trivial(fit)
        warn_if_open(fit.certificates, fit.traces, self.tol, self.max_iter, stacklevel=3)
        return self

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The measure that was trained for; of several classes, its mean over them. An error counts as 1 - error."""
        which = self._measure()
        labels = np.asarray(y)
        scores = self.decision_function(X)
        columns = scores[:, None] if scores.ndim == 1 else scores
        predicted = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        index = np.arange(labels.size)
        if sample_weight is not None:
            copies, _ = repetitions(np.asarray(sample_weight, dtype=np.float64))
            index = index if copies is None else copies
        rows = zip(self.classes_[1:] if self.classes_.size == 2 else self.classes_, columns.T, strict=True)
        values = [attained(which, labels[index] == c, predicted[index] == c, s[index]) for c, s in rows]
        return float(np.mean(values))

    def _measure(self) -> Measure:
        return measure(self.metric, beta=self.beta, k=self.k)

    def _last(self, p: int, classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The last solution, where it fits these data."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        if self.coef_.shape[1] != p or not np.array_equal(classes, self.classes_):
            return None
        return self.coef_, self.intercept_

    def _tell_trivial(self, fit: MeasureFit) -> None:
        trivial = [c.trivial - c.dual <= self.tol * abs(c.trivial) for c in fit.certificates]
        self.trivial_ = trivial[0] if len(trivial) == 1 else trivial
        if any(trivial):
            c = fit.certificates[trivial.index(True)]
            warnings.warn(
                f"w = 0 is the best model for {c.measure} with the positive class {c.positive!r}, up to tol: its J is "
                f"{c.trivial:.6g}, and no model is below {c.dual:.6g}. The classes overlap too much for this loss, or "
                f"C = {self.C:g} is too small. Try a larger C; if it does not help, other features, or LinearSVC and "
                "LogisticRegression with a threshold chosen for the measure.",
                TrivialSolution,
                stacklevel=3,
            )


def attained(which: Measure, truth: NDArray[Any], predicted: NDArray[Any], scores: NDArray[Any]) -> float:
    """1 - Δ at these predictions, or at this order of scores."""
    n_pos, n_neg = int(truth.sum()), int((~truth).sum())
    which.check(n_pos, n_neg)
    if isinstance(which, ROCArea):
        return float(roc_auc_score(truth, scores))
    if isinstance(which, FixedCount):
        first = np.argsort(-scores, kind="stable")[: which.count(n_pos)]
        return which.rate(n_pos) * float(truth[first].sum())
    b, c = (truth & ~predicted).sum(), (~truth & predicted).sum()
    return 1.0 - float(which.loss(np.array([float(b)]), np.array([float(c)]), n_pos, n_neg)[0])

"""What the estimators share: input validation, the warning of an unfinished fit, the linear decision function."""

from __future__ import annotations

import logging
import warnings
from functools import cache, lru_cache
from math import isfinite
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from minorant import kernels
from minorant.certificate import Status
from minorant.errors import InputError
from minorant.linear import Run, fit_classifier, signs
from minorant.machine import resolve_threads
from minorant.multiclass import JointCertificate, fit_joint
from minorant.schedules import SMOOTHINGS
from minorant.solvers import LINEAR, SOLVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from minorant.certificate import Certificate
    from minorant.driver import Progress
    from minorant.linear import LinearCertificate, LinearFit
    from minorant.multiclass import JointFit
    from minorant.whole_sample import MeasureCertificate, MeasureFit

__all__ = [
    "SOLVING",
    "LinearClassifier",
    "LinearEstimator",
    "NotCertified",
    "labeled_data",
    "sample_weights",
    "validated",
    "warn_if_open",
]

logger = logging.getLogger("minorant")


class NotCertified(ConvergenceWarning):  # type: ignore[misc]
    """A fit that stopped before its gap was within tol."""


SOLVING: dict[str, list[Any]] = {
    "fit_intercept": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="left")],
    "solver": [StrOptions({"auto", "excessive-gap", *LINEAR, *SOLVERS})],
    "smoothing": [StrOptions(set(SMOOTHINGS))],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "max_time": [Interval(Real, 0, None, closed="neither"), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


_CONSTANT = {bool, int, float, np.float64, str, type(None)}


def _check_params(cls: Any, *values: Any) -> None:
    named = dict(zip(cls._get_param_names(), values, strict=True))
    validate_parameter_constraints(cls._parameter_constraints, named, caller_name=cls.__name__)


_checked_params = lru_cache(maxsize=256, typed=True)(_check_params)  # 1, 1.0, True are equal, and not equally valid


class LinearEstimator(BaseEstimator):  # type: ignore[misc]
    """What is common to classifiers and regressors: how they are solved, and what a fit leaves behind."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:  # every fit asks, and the inspection takes as long as a small fit
        return list(super()._get_param_names())

    @classmethod
    @cache
    def _param_values(cls) -> attrgetter[tuple[Any, ...]]:
        return attrgetter(*cls._get_param_names())

    def _validate_params(self) -> None:
        """As scikit-learn does; the same values are looked at once, for the same reason."""
        cls: Any = type(self)
        values = cls._param_values()(self)
        (_checked_params if _CONSTANT.issuperset(map(type, values)) else _check_params)(cls, *values)

    certificate_: LinearCertificate | list[LinearCertificate] | JointCertificate | MeasureCertificate
    trace_: tuple[Progress, ...] | list[tuple[Progress, ...]]

    def _run(self) -> Run:
        return Run(
            tol=self.tol,
            solver=self.solver,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            max_time=self.max_time,
            callback=log_progress(self.verbose),
            threads=resolve_threads(self.n_jobs),
        )

    def _start(self, shape: tuple[int, int], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The last solution, where it fits these data; without its dual point if the number of rows changed."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        coef = np.atleast_2d(self.coef_)
        if coef.shape[1] != shape[1] or not np.array_equal(classes, getattr(self, "classes_", np.empty(0))):
            return None
        if isinstance(self.certificate_, JointCertificate):  # these dual points are of another problem
            return coef, np.zeros((coef.shape[0], shape[0]))
        certificates = self.certificate_ if isinstance(self.certificate_, list) else [self.certificate_]
        alpha = np.stack([c.alpha for c in certificates])
        return coef, alpha if alpha.shape[1] == shape[0] else np.zeros((len(certificates), shape[0]))

    def _keep(self, fit: LinearFit | JointFit | MeasureFit) -> None:
        certificates: list[Any] = list(fit.certificates)
        one = len(certificates) == 1
        self.certificate_ = certificates[0] if one else certificates
        self.trace_ = fit.traces[0] if one else list(fit.traces)
        self.n_iter_ = max(fit.n_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """A classifier with `coef_`, `intercept_` and `classes_`."""

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    classes_: NDArray[Any]

    def _fit(self, X: Any, y: Any, sample_weight: Any, **objective: Any) -> None:
        X, y, classes = labeled_data(self, X, y)
        how: dict[str, Any] = {
            "C": self.C,
            "sample_weight": class_weights(X, y, sample_weight, self.class_weight),
            "fit_intercept": self.fit_intercept,
            "run": self._run(),
        }
        fit: LinearFit | JointFit
        if joint := self._joint_loss(classes):
            fit = fit_joint(X, y, start=self._joint_start(X.shape, classes), **how, **{**objective, "loss": joint})
            dual = -fit.certificates[0].alpha.T / fit.lam
        else:
            start = self._start(X.shape, classes)
            fit = fit_classifier(X, y, classes=classes, start=start, **how, **objective)
            dual = np.empty((len(fit.certificates), y.size), dtype=fit.coef.dtype)
            for row, c in enumerate(fit.certificates):
                np.multiply(c.alpha / fit.lam, signs(y, c.positive, classes), out=dual[row], casting="same_kind")
        self.classes_, self.coef_, self.intercept_ = classes, fit.coef, fit.intercept
        self.dual_coef_ = dual
        if joint and classes.size == 2:  # one row tells two classes apart, as in scikit-learn
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
            self.dual_coef_ = np.diff(self.dual_coef_, axis=0)
        self._keep(fit)
        warn_if_open(fit.certificates, fit.traces, self.tol, self.max_iter)

    def _joint_loss(self, classes: NDArray[Any]) -> str | None:
        """The loss that fits all classes together; None fits each against the rest."""
        return None

    def _joint_start(
        self, shape: tuple[int, int], classes: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
        """The last solution, where it was one of a joint fit to such data; see `_start`."""
        last = getattr(self, "certificate_", None)
        if not (self.warm_start and isinstance(last, JointCertificate)):
            return None
        if last.coef.shape[1] != shape[1] or not np.array_equal(classes, last.classes):
            return None
        return last.coef, last.alpha if last.alpha.shape[0] == shape[0] else None

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The signed scores ⟨x, w⟩ + b: shape (n,) for two classes (positive: classes_[1]), else (n, n_classes)."""
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return np.asarray(scores.ravel() if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])


def class_weights(X: Any, y: NDArray[Any], sample_weight: Any, class_weight: Any) -> NDArray[np.float64] | None:
    """The weight of each example: its own times that of its class; None where all are 1."""
    if sample_weight is None and class_weight is None:
        return None
    weight = sample_weights(X, sample_weight)
    if class_weight is not None:
        classes, index = np.unique(y, return_inverse=True)
        if class_weight == "balanced":  # every class gets the same total, counted in weights, not in rows
            total = np.bincount(index, weights=weight)
            factor = np.divide(weight.sum() / classes.size, total, out=np.zeros(classes.size), where=total > 0)
        else:
            factor = compute_class_weight(class_weight, classes=classes, y=y)
        weight = weight * factor[index]
    return weight


def sample_weights(X: Any, sample_weight: Any) -> NDArray[np.float64]:
    """The weights as scikit-learn checks them."""
    try:
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except ValueError as error:
        raise InputError(str(error)) from error
    return np.asarray(weight)


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, finite: bool = True, **options: Any) -> Any:
    """X, or X and y, as scikit-learn validates them: CSR or dense, float32 kept, all else float64.

    Without `finite` the values of X may be left to the fit, which asks the same.
    """
    # What scikit-learn would do to find out that they can stay as they are takes as long as a small fit.
    if _plain(X, y) and _finite(y) and (not finite or _finite(X)):
        return _as_they_are(estimator, X, y)
    options.update(accept_sparse="csr", dtype=(np.float64, np.float32))
    try:
        return validate_data(estimator, X, y, **options)
    except ValueError as error:
        raise InputError(str(error)) from error


def _plain(X: Any, y: Any) -> bool:
    """X is a matrix of float64 or float32, dense or CSR, and y a vector of numbers, one for each row."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf"):
        return False
    if type(X) is not np.ndarray and not (sp.issparse(X) and X.format == "csr"):
        return False
    return X.ndim == 2 and X.shape[0] == y.size and 0 not in X.shape and X.dtype.type in (np.float64, np.float32)


def _as_they_are(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):  # of an earlier fit
        del estimator.feature_names_in_
    return X, y


def _finite(values: Any) -> bool:
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite((values.data if sp.issparse(values) else values).sum())


def labeled_data(estimator: Any, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """X and y of a classifier, validated, and the classes."""
    if _plain(X, y) and y.dtype.char in "dflqi" and y.flags.c_contiguous and (two := kernels.two_labels(y)):
        return *_as_they_are(estimator, X, y), np.array(two, dtype=y.dtype)
    X, y = validated(estimator, X, y, finite=False)
    classes = np.unique(y)
    if classes.dtype.kind not in "biuf" or not (classes == np.trunc(classes)).all():
        check_classification_targets(y)  # strings and objects are fine, fractions are refused
    return X, y, classes


def log_progress(verbose: int) -> Callable[[int, Progress], None] | None:
    """A callback that logs the gap on the logger "minorant": of the first ten iterations, every tenth, every 100th."""
    if not verbose:
        return None

    def callback(row: int, p: Progress) -> None:
        if p.iteration % (1 if p.iteration <= 10 else 10 if p.iteration <= 100 else 100) == 0:
            message = "row %d, iteration %d: J = %.8g, lower bound = %.8g, gap = %.2e"
            logger.info(message, row, p.iteration, p.primal, p.dual, p.primal - p.dual)

    return callback


def warn_if_open(
    certificates: Sequence[Certificate],
    traces: Sequence[Sequence[Progress]],
    tol: float,
    max_iter: int,
    *,
    where: str = "",
    stacklevel: int = 4,  # warn_if_open, _fit, fit, the user's line
) -> None:
    """Warn, with the numbers, the trend and what to do, if a certificate is not within tol."""
    gaps = [c.relative_gap if c.status is not Status.CERTIFIED else 0.0 for c in certificates]
    if not any(gaps):
        return
    worst = int(np.argmax(gaps))
    certificate, trace = certificates[worst], traces[worst]
    where = f" (class {worst} of {len(certificates)})" if len(certificates) > 1 else where
    warnings.warn(
        f"J = {certificate.primal:.6g}, lower bound {certificate.dual:.6g}: the relative gap is {gaps[worst]:.2e}, "
        f"and tol = {tol:.0e} was asked for{where}. {certificate.status.value} "
        + _advice(certificate, trace, tol, max_iter),
        NotCertified,
        stacklevel=stacklevel,
    )


def _advice(certificate: Certificate, trace: Sequence[Progress], tol: float, max_iter: int) -> str:
    if certificate.status is Status.STALLED:
        return "Use float64 data, scale the columns, or ask for a larger tol."
    half, last = trace[len(trace) // 2], trace[-1]
    before, now = half.primal - half.dual, last.primal - last.dual
    scale = "Columns of unequal scale make this slow: try a StandardScaler, or a smaller C."
    if not 0 < now < 0.99 * before:
        return f"The gap hardly shrank in the second half of the run. {scale}"
    rate = np.log(before / now) / np.log(max(last.iteration, 2) / max(half.iteration, 1))  # gap ~ iteration^-rate
    need = last.iteration * (certificate.relative_gap / max(tol, 1e-15)) ** (1.0 / rate)
    limit = "max_time" if certificate.status is Status.MAX_TIME else f"max_iter (now {max_iter})"
    return f"The gap shrinks: about {need:.0e} iterations in all would do; raise {limit}. {scale}"

"""What the estimators share: input validation, the warning of an unfinished fit, the linear decision function."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from minorant.certificate import Status
from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from minorant.certificate import Certificate
    from minorant.driver import Progress

__all__ = ["LinearClassifier", "NotCertified", "log_progress", "validated", "warn_if_open"]

logger = logging.getLogger("minorant")


class NotCertified(ConvergenceWarning):  # type: ignore[misc]
    """A fit that stopped before its gap was within tol."""


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with `coef_`, `intercept_` and `classes_`."""

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    classes_: NDArray[Any]

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def validated(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """X, or X and y, as scikit-learn validates them: CSR or row-major, float32 kept, all else float64."""
    try:
        return validate_data(estimator, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), order="C", **options)
    except ValueError as error:
        raise InputError(str(error)) from error


def log_progress(verbose: int) -> Callable[[int, Progress], None] | None:
    """A callback that logs the gap every 100 iterations on the logger "minorant"."""
    if not verbose:
        return None

    def callback(row: int, p: Progress) -> None:
        if p.iteration % 100 == 0:
            message = "row %d, iteration %d: J = %.8g, lower bound = %.8g, gap = %.2e"
            logger.info(message, row, p.iteration, p.primal, p.dual, p.primal - p.dual)

    return callback


def warn_if_open(
    certificates: Sequence[Certificate], traces: Sequence[Sequence[Progress]], tol: float, max_iter: int
) -> None:
    """Warn, with the numbers, the trend and what to do, if a certificate is not within tol."""
    gaps = [c.relative_gap if c.status is not Status.CERTIFIED else 0.0 for c in certificates]
    if not any(gaps):
        return
    worst = int(np.argmax(gaps))
    certificate, trace = certificates[worst], traces[worst]
    where = f" (class {worst} of {len(certificates)})" if len(certificates) > 1 else ""
    warnings.warn(
        f"J = {certificate.primal:.6g}, lower bound {certificate.dual:.6g}: the relative gap is {gaps[worst]:.2e}, "
        f"and tol = {tol:.0e} was asked for{where}. {certificate.status.value} "
        + _advice(certificate, trace, tol, max_iter),
        NotCertified,
        stacklevel=4,  # warn_if_open, fit, scikit-learn's wrapper of fit, the user's line
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

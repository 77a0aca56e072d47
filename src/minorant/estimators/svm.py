"""The linear support vector machine.

J(w, b) = ½‖w‖² + C Σ weight_i [1 - y_i (⟨x_i, w⟩ + b)]_+   with an unpenalized bias b, as in scikit-learn's SVC;
certificates are in the scale of the mean loss, i.e. of J / (C Σ weight).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from minorant.errors import InputError
from minorant.estimators._base import LinearClassifier, log_progress, validated, warn_if_open
from minorant.linear import LinearCertificate, fit_linear, resolve_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from minorant.driver import Progress

__all__ = ["LinearSVC"]


class LinearSVC(LinearClassifier):
    """Linear support vector classification with a free bias and a proof of optimality.

    Minimizes ½‖w‖² + C Σ weight_i [1 - y_i (⟨x_i, w⟩ + b)]_+ ; the bias b is not penalized.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss, as in scikit-learn.
    fit_intercept : bool, default True
    class_weight : dict, "balanced" or None
        Multiplies the weight of every example of a class.
    tol : float, default 1e-3
        The promise: the objective at the solution is at most this much (relative) above its minimum.
    solver : {"auto", "agm-inf", "agm-1", "excessive-gap"}, default "auto"
    smoothing : {"auto", "primal", "dual", "decreasing", "none"}, default "auto"
    max_iter : int, default 20_000
        For each class.
    max_time : float, optional
        Seconds, for the whole fit.
    warm_start : bool, default False
        Start from the last solution.
    n_jobs : int, optional
        Threads; None and -1 are all cores. The result does not depend on it, to the last bit.
    verbose : int, default 0
        Log the gap on the logger "minorant".

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (1, n) or (n_classes, n)
        y_i α_i / λ, each between 0 and C·weight_i in size: coef_ is close to dual_coef_ @ X.
    certificate_ : LinearCertificate, or a list with one for each class
        `primal`, `dual`, `gap`, `relative_gap`, `alpha`, `status`, `n_products`, in the scale of the mean loss,
        and `verify(X, y)`.
    n_iter_ : int
        The most iterations that a class took.
    trace_ : tuple of Progress, or a list with one for each class
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from minorant import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC().fit(X[:100], y[:100])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.certificate_.verify(X[:100], y[:100]).gap <= 1e-3 * model.certificate_.primal
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", "agm-inf", "agm-1", "excessive-gap"})],
        "smoothing": [StrOptions({"auto", "primal", "dual", "decreasing", "none"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    certificate_: LinearCertificate | list[LinearCertificate]
    trace_: tuple[Progress, ...] | list[tuple[Progress, ...]]

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        solver: str = "auto",
        smoothing: str = "auto",
        max_iter: int = 20_000,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.solver = solver
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model and prove it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p)
        y : array of shape (n,), numbers or strings
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        X, y = validated(self, X, y)
        check_classification_targets(y)
        fit = fit_linear(
            X,
            y,
            C=self.C,
            sample_weight=self._weights(X, y, sample_weight),
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            solver=self.solver,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            max_time=self.max_time,
            callback=log_progress(self.verbose),
            threads=resolve_threads(self.n_jobs),
            start=self._start(X, y),
        )
        binary = fit.classes.size == 2
        self.classes_, self.coef_, self.intercept_ = fit.classes, fit.coef, fit.intercept
        signs = np.stack([np.where(y == c.positive, 1.0, -1.0) for c in fit.certificates])
        self.dual_coef_ = (signs * fit.alpha / fit.lam).astype(fit.coef.dtype)
        self.certificate_ = fit.certificates[0] if binary else list(fit.certificates)
        self.trace_ = fit.traces[0] if binary else list(fit.traces)
        self.n_iter_ = int(fit.n_iter.max())
        warn_if_open(fit.certificates, fit.traces, self.tol, self.max_iter)
        return self

    def _weights(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
        if sample_weight is None and self.class_weight is None:
            return None
        try:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        except ValueError as error:
            raise InputError(str(error)) from error
        if self.class_weight is not None:
            classes, index = np.unique(y, return_inverse=True)
            if self.class_weight == "balanced":  # every class gets the same total, counted in weights, not in rows
                total = np.bincount(index, weights=weight)
                factor = np.divide(weight.sum() / classes.size, total, out=np.zeros(classes.size), where=total > 0)
            else:
                factor = compute_class_weight(self.class_weight, classes=classes, y=y)
            weight = weight * factor[index]
        return np.asarray(weight)

    def _start(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The last solution, where it fits these data; without its dual point if the number of rows changed."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        classes = np.unique(y)
        if not np.array_equal(classes, self.classes_) or self.coef_.shape[1] != X.shape[1]:
            return None
        certificates = self.certificate_ if isinstance(self.certificate_, list) else [self.certificate_]
        alpha = np.stack([c.alpha for c in certificates])
        if alpha.shape[1] != X.shape[0]:
            alpha = np.zeros((len(certificates), X.shape[0]))
        return self.coef_, alpha

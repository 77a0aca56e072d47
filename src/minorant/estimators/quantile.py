"""Quantile regression with an L1 penalty.

J(w, b) = (1/Σ weight) Σ weight_i (q [y_i - s_i]_+ + (1-q) [s_i - y_i]_+) + alpha‖w‖₁ ,   s_i = ⟨x_i, w⟩ + b,
with an unpenalized bias b, as in scikit-learn; certificates are of J itself.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from minorant.estimators._base import SOLVING
from minorant.estimators._regressor import LinearRegressor
from minorant.objective import Objective

__all__ = ["QuantileRegressor"]


class QuantileRegressor(LinearRegressor):
    """Linear regression of a conditional quantile, with a free bias and a proof of optimality.

    Minimizes the mean pinball loss plus alpha‖w‖₁: scikit-learn's objective.

    Parameters
    ----------
    quantile : float, default 0.5
        q, between 0 and 1, both excluded; 0.5 is the median.
    alpha : float, default 1.0
        Strength of the L1 penalty, > 0.
    fit_intercept : bool, default True
    tol : float, default 1e-3
        The promise: the objective at the solution is at most this much (relative) above its minimum.
    solver, smoothing : str, default "auto"
        As for `minorant.solve`.
    max_iter : int, default 20_000
    max_time : float, optional
        Seconds.
    warm_start : bool, default False
        Start from the last solution.
    n_jobs : int, optional
        Threads; None and -1 are all cores.
    verbose : int, default 0
        Log the gap on the logger "minorant".

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    dual_coef_ : array of shape (n,)
        The slopes of the mean loss at the dual point, with the sign of the residuals y - Xw - b.
    certificate_ : LinearCertificate
        With `verify(X, y)`.
    n_iter_ : int
    trace_ : tuple of Progress
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from minorant import QuantileRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileRegressor(quantile=0.9, alpha=0.01).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        **SOLVING,
    }

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        solver: str = "auto",
        smoothing: str = "auto",
        max_iter: int = 20_000,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _objective(self, total_weight: float) -> Objective:
        return Objective("quantile", "l1", self.alpha, fit_intercept=self.fit_intercept, quantile=self.quantile)

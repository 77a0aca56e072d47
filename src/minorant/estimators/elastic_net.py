"""The elastic net.

J(w, b) = (1/2Σ weight) Σ weight_i (⟨x_i, w⟩ + b - y_i)² + alpha (r‖w‖₁ + (1-r)/2 ‖w‖²),  r = l1_ratio, as in
scikit-learn; certificates are of 2J, the scale in which the loss is the mean of the squares.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from minorant.estimators._base import SOLVING
from minorant.estimators._regressor import LinearRegressor
from minorant.objective import Objective

__all__ = ["ElasticNet"]


class ElasticNet(LinearRegressor):
    """Least squares with an L1 and an L2 penalty, and a proof of optimality: scikit-learn's objective.

    Parameters
    ----------
    alpha : float, default 1.0
        Strength of the penalty.
    l1_ratio : float, default 0.5
        1 is the lasso, 0 ridge regression.
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
        The slopes of the mean square at the dual point, with the sign of the residuals y - Xw.
    certificate_ : LinearCertificate
        Of 2J, with `verify(X, y)`.
    n_iter_ : int
    trace_ : tuple of Progress
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from minorant import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=0.1).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        **SOLVING,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
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
        self.alpha = alpha
        self.l1_ratio = l1_ratio
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
        return Objective("squared", "elasticnet", 2.0 * self.alpha, self.l1_ratio, self.fit_intercept)

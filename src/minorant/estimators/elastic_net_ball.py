"""Least squares in the ball of the elastic net.

J(w, b) = (1/2Σ weight) Σ weight_i (⟨x_i, w⟩ + b - y_i)²   over all w with γ‖w‖₁ + ½‖w‖² ≤ radius, and all b.

With η ≥ 0 the multiplier of the constraint, the solution is that of the penalty η(γ‖w‖₁ + ½‖w‖²): of the `ElasticNet`
with alpha = η(1 + γ) and l1_ratio = γ/(1 + γ). Certificates are of 2J, the mean of the squares.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval

from minorant.estimators._base import SOLVING
from minorant.estimators._regressor import LinearRegressor
from minorant.objective import Objective
from minorant.regularizers import ElasticNetBall as Ball

if TYPE_CHECKING:
    from minorant.linear import LinearCertificate

__all__ = ["ElasticNetBall"]


class ElasticNetBall(LinearRegressor):
    """Least squares subject to γ‖w‖₁ + ½‖w‖² ≤ radius, with a free bias and a proof of optimality.

    Parameters
    ----------
    radius : float, default 1.0
        Of the ball, > 0.
    gamma : float, default 1.0
        γ ≥ 0, the weight of the L1 norm; with 0 the ball is that of ridge regression.
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
    multiplier_ : float
        η of the constraint at the dual point, close to 0 where it does not bind: `ElasticNet` with
        alpha = η(1 + gamma) and l1_ratio = gamma/(1 + gamma) has the same solution.
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
    >>> from minorant import ElasticNetBall
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetBall(radius=1e5, gamma=10.0).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "radius": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        **SOLVING,
    }

    certificate_: LinearCertificate

    def __init__(
        self,
        radius: float = 1.0,
        gamma: float = 1.0,
        *,
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
        self.radius = radius
        self.gamma = gamma
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
        return Objective(
            "squared", "elasticnet_ball", fit_intercept=self.fit_intercept, radius=self.radius, gamma=self.gamma
        )

    def _finish(self, X: Any) -> None:
        # In the scale of J, which is half that of the certificate.
        self.multiplier_ = 0.5 * Ball(self.radius, self.gamma).multiplier(X.T @ self.certificate_.alpha)

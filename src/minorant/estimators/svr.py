"""The linear support vector machine for regression.

J(w, b) = ½‖w‖² + C Σ weight_i [|⟨x_i, w⟩ + b - y_i| - ε]_+   with an unpenalized bias b, in scikit-learn's scale;
certificates are in the scale of the mean loss, i.e. of J / (C Σ weight).
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval

from minorant.estimators._base import SOLVING
from minorant.estimators._regressor import LinearRegressor
from minorant.linear import inverse_strength
from minorant.objective import Objective

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from minorant.linear import LinearFit

__all__ = ["LinearSVR"]


class LinearSVR(LinearRegressor):
    """Linear support vector regression with a free bias and a proof of optimality.

    Minimizes ½‖w‖² + C Σ weight_i [|⟨x_i, w⟩ + b - y_i| - ε]_+ ; the bias b is not penalized.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss, as in scikit-learn.
    epsilon : float, default 0.0
        ε ≥ 0: smaller errors cost nothing.
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
        Each at most C·weight_i in size, with the sign of the residuals y - Xw - b; coef_ is close to dual_coef_ @ X.
    certificate_ : LinearCertificate
        In the scale of the mean loss, with `verify(X, y)`.
    n_iter_ : int
    trace_ : tuple of Progress
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from minorant import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(epsilon=10.0).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        **SOLVING,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.0,
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
        self.C = C
        self.epsilon = epsilon
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
        lam = inverse_strength(self.C, total_weight)
        return Objective("epsilon_insensitive", "l2", lam, fit_intercept=self.fit_intercept, epsilon=self.epsilon)

    def _dual_coef(self, fit: LinearFit) -> NDArray[np.float64]:
        return super()._dual_coef(fit) / fit.lam

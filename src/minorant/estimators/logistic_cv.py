"""Logistic regression with C chosen by cross-validation.

The points are fitted from the least C to the greatest, i.e. from the strongest penalty to the weakest.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.metrics import get_scorer_names
from sklearn.utils._param_validation import Interval, StrOptions

from minorant.estimators._cv import SEARCHING, ClassifierSearch
from minorant.estimators.logistic import LogisticRegression

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

__all__ = ["LogisticRegressionCV"]


class LogisticRegressionCV(ClassifierSearch, LogisticRegression):
    """Logistic regression, with C chosen by cross-validation and every fit on the way certified.

    Parameters
    ----------
    Cs : int or list of float, default 10
        The values of C to try, or how many from 1e-4 to 1e4 in equal ratios.
    penalty : {"l2", "l1", "elasticnet"}, default "l2"
        ½‖w‖², ‖w‖₁, or l1_ratio·‖w‖₁ + (1 - l1_ratio)/2 ‖w‖².
    l1_ratio : float, default 0.5
        For the elastic net only.
    fit_intercept : bool, default True
    class_weight : dict, "balanced" or None
        Multiplies the weight of every example of a class.
    cv : int, splitter or iterable, optional
        As in scikit-learn; None is 5 stratified folds.
    scoring : str or callable, optional
        As in scikit-learn; None is the accuracy. Sample weights are handed on to it where it takes them.
    tol : float, default 1e-3
        The promise for every fit: the objective is at most this much (relative) above its minimum.
    solver, smoothing : str, default "auto"
        As for `minorant.solve`.
    max_iter : int, default 20_000
        For each fit.
    max_time : float, optional
        Seconds, for each fit.
    n_jobs : int, optional
        Threads; None and -1 are all cores.
    verbose : int, default 0
        Log every point on the logger "minorant"; with 2, also the gap on the way.

    Attributes
    ----------
    C_ : float
        The choice: the highest mean score, and the first of several.
    Cs_ : array of shape (n_Cs,)
    scores_ : array of shape (n_folds, n_Cs)
        On the part of the data that a fold left out.
    max_gap_path_ : array of shape (n_folds, n_Cs)
        The relative gap proved for each fit, the largest where a class has a fit of its own.
    classes_, coef_, intercept_, dual_coef_, certificate_, n_iter_, trace_
        Of the fit of all data with C_, as in `LogisticRegression`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from minorant import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0]).fit(X[:100], y[:100])
    >>> model.scores_.shape
    (5, 3)
    >>> bool(model.max_gap_path_.max() <= 1e-3)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        **SEARCHING,
    }
    _model = LogisticRegression

    def __init__(
        self,
        *,
        Cs: int | ArrayLike = 10,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        cv: Any = None,
        scoring: str | Callable[..., float] | None = None,
        tol: float = 1e-3,
        solver: str = "auto",
        smoothing: str = "auto",
        max_iter: int = 20_000,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.solver = solver
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose

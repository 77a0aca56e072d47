"""The elastic net with its strength alpha chosen by cross-validation: the least mean square error over the folds.

The automatic grid is scikit-learn's: from the least alpha whose solution is w = 0,

    alpha_max = max_j |Σ c_i x_ij (y_i - ȳ)| / l1_ratio ,   c_i = weight_i / Σ weight,  ȳ = Σ c_i y_i, or 0 without bias

and down to eps·alpha_max, in equal ratios.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from minorant.errors import InputError
from minorant.estimators._base import sample_weights, validated
from minorant.estimators._cv import SEARCHING, Search, strengths
from minorant.estimators.elastic_net import ElasticNet
from minorant.losses.base import normalized_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["ElasticNetCV"]


class ElasticNetCV(Search, ElasticNet):
    """The elastic net, with alpha chosen by cross-validation and every fit on the way certified.

    Parameters
    ----------
    l1_ratio : float, default 0.5
        1 is the lasso, 0 ridge regression (which needs a list of alphas).
    eps : float, default 1e-3
        The least alpha of the automatic grid, as a fraction of the greatest.
    alphas : int or list of float, default 100
        The points of the automatic grid, or the alphas themselves.
    fit_intercept : bool, default True
    cv : int, splitter or iterable, optional
        As in scikit-learn; None is 5 folds.
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
    alpha_ : float
        The choice.
    alphas_ : array of shape (n_alphas,), from the greatest to the least
    mse_path_ : array of shape (n_alphas, n_folds)
        The mean square errors on the part of the data that a fold left out.
    max_gap_path_ : array of shape (n_alphas, n_folds)
        The relative gap proved for each fit.
    coef_, intercept_, dual_coef_, certificate_, n_iter_, trace_
        Of the fit of all data with alpha_, as in `ElasticNet`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from minorant import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(alphas=20).fit(X, y)
    >>> model.mse_path_.shape
    (20, 5)
    >>> bool(model.max_gap_path_.max() <= 1e-3)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
        **SEARCHING,
    }
    _model = ElasticNet
    _strength = "alpha"

    alpha_: float
    alphas_: Vector
    mse_path_: Vector

    def __init__(
        self,
        *,
        l1_ratio: float = 0.5,
        eps: float = 1e-3,
        alphas: int | ArrayLike = 100,
        fit_intercept: bool = True,
        cv: Any = None,
        tol: float = 1e-3,
        solver: str = "auto",
        smoothing: str = "auto",
        max_iter: int = 20_000,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.tol = tol
        self.solver = solver
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        X, y = validated(self, X, y, y_numeric=True)
        weight = None if sample_weight is None else sample_weights(X, sample_weight)
        alphas = strengths("alphas", self.alphas, lambda n: self._grid(X, y, weight, n))
        self.alphas_ = np.sort(alphas)[::-1]
        paths = self._paths(X, y, weight, self.alphas_, _mean_square)
        self.mse_path_, self.max_gap_path_ = paths.scores.T, paths.gaps.T
        self.alpha_ = float(self.alphas_[self.mse_path_.mean(axis=1).argmin()])
        self._refit(X, y, weight, self.alpha_, paths)

    def _grid(self, X: Any, y: Any, weight: Vector | None, n: int) -> Vector:
        if self.l1_ratio == 0:
            raise InputError("l1_ratio=0 has no alpha from which on w = 0, so no grid; pass a list as alphas")
        c = normalized_weights(weight, y.size)
        rest = y - c @ y if self.fit_intercept else y
        greatest = float(np.abs(X.T @ (c * rest)).max()) / self.l1_ratio
        least = float(np.finfo(np.float64).resolution)  # y is constant: every alpha has the solution w = 0
        return np.geomspace(greatest, greatest * self.eps, n) if greatest > least else np.full(n, least)


def _mean_square(model: ElasticNet, X: Any, y: Any, weight: Vector | None) -> float:
    return float(np.average((model.predict(X) - y) ** 2, weights=weight))

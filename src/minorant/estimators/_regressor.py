"""What the regressors share: real targets, one row of coefficients, the fitted values ⟨x, w⟩ + b."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from minorant.estimators._base import LinearEstimator, sample_weights, validated, warn_if_open
from minorant.linear import fit_regressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.linear import LinearFit
    from minorant.objective import Objective

__all__ = ["LinearRegressor"]


class LinearRegressor(RegressorMixin, LinearEstimator, ABC):  # type: ignore[misc]
    """A regressor with `coef_` and `intercept_`, given by what it minimizes."""

    coef_: NDArray[Any]
    intercept_: float
    dual_coef_: NDArray[Any]

    @abstractmethod
    def _objective(self, total_weight: float) -> Objective:
        """What is minimized, in the scale of the mean loss."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model and prove it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        self._validate_params()
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        X, y = validated(self, X, y, finite=False, y_numeric=True)
        weight = None if sample_weight is None else sample_weights(X, sample_weight)
        fit = fit_regressor(
            X,
            y,
            objective=self._objective(float(y.size if weight is None else weight.sum())),
            sample_weight=weight,
            start=self._start(X.shape, np.empty(0)),
            run=self._run(),
        )
        self.coef_, self.intercept_ = fit.coef[0], fit.intercept[0]
        self.dual_coef_ = self._dual_coef(fit).astype(fit.coef.dtype)
        self._keep(fit)
        self._finish(X)
        warn_if_open(fit.certificates, fit.traces, self.tol, self.max_iter)

    def _dual_coef(self, fit: LinearFit) -> NDArray[np.float64]:
        """The dual point with the sign of the residuals y - Xw - b."""
        return -fit.certificates[0].alpha

    def _finish(self, X: Any) -> None:
        """Set the attributes that one regressor alone has."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The fitted values ⟨x, w⟩ + b."""
        check_is_fitted(self)
        return np.asarray(validated(self, X, reset=False) @ self.coef_) + self.intercept_

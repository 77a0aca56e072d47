"""Logistic regression.

J = penalty(W) + C Σ weight_i (-log of the probability of the label y_i)   with unpenalized biases, as in scikit-learn;

    two classes    p(y) = 1/(1 + exp(-y (⟨x, w⟩ + b)))  for y = ±1
    more           p(y) = exp(⟨x, w_y⟩ + b_y) / Σ_z exp(⟨x, w_z⟩ + b_z) ,  and the penalty is of all rows

certificates are in the scale of the mean loss, i.e. of J / (C Σ weight).
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils._param_validation import Interval, StrOptions

from minorant.estimators._base import SOLVING, LinearClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["LogisticRegression"]


class LogisticRegression(LinearClassifier):
    """Logistic regression, binary or multinomial, with free biases and a proof of optimality.

    Minimizes penalty(W) + C Σ weight_i (-log p(y_i | x_i)): scikit-learn's objective. Two classes have one row of
    weights, more have one for each class, in a softmax.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss, as in scikit-learn.
    penalty : {"l2", "l1", "elasticnet"}, default "l2"
        ½‖w‖², ‖w‖₁, or l1_ratio·‖w‖₁ + (1 - l1_ratio)/2 ‖w‖².
    l1_ratio : float, default 0.5
        For the elastic net only.
    fit_intercept : bool, default True
    class_weight : dict, "balanced" or None
        Multiplies the weight of every example of a class.
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
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
        Of mean 0 for more than two classes.
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (1, n) or (n_classes, n)
        The weight of each example in the solution: with L2, coef_ is close to dual_coef_ @ X.
    certificate_ : LinearCertificate, or JointCertificate for more than two classes
        In the scale of the mean loss, with `verify(X, y)`. One for all classes.
    n_iter_ : int
    trace_ : tuple of Progress
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,), where X has column names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from minorant import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X[:100], y[:100])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        **SOLVING,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
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
        self.penalty = penalty
        self.l1_ratio = l1_ratio
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
        self._validate_params()
        self._fit(X, y, sample_weight, loss="logistic", penalty=self.penalty, l1_ratio=self.l1_ratio)
        return self

    def _joint_loss(self, classes: NDArray[Any]) -> str | None:
        return "multinomial" if classes.size > 2 else None

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class, in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack([expit(-scores), expit(scores)], axis=1)

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """The logarithms of the probabilities, exact where these underflow."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(log_softmax(scores, axis=1))
        return np.stack([log_expit(-scores), log_expit(scores)], axis=1)

"""The linear support vector machine.

J(w, b) = penalty(w) + C Σ weight_i loss_i   with an unpenalized bias b and scikit-learn's scale of both.
More than two classes are fitted one against the rest, or all together with the loss of Crammer and Singer,

    max over z of (1[z ≠ y] + s_z) - s_y ,   s_z = ⟨x, w_z⟩ + b_z ,   and the penalty of all rows;

certificates are in the scale of the mean loss, i.e. of J / (C Σ weight).
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils._param_validation import Interval, StrOptions

from minorant.errors import InputError
from minorant.estimators._base import SOLVING, LinearClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["LinearSVC"]


class LinearSVC(LinearClassifier):
    """Linear support vector classification with a free bias and a proof of optimality.

    Minimizes ½‖w‖² + C Σ weight_i [1 - y_i (⟨x_i, w⟩ + b)]_+ ; the bias b is not penalized.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss, as in scikit-learn.
    penalty : {"l2", "l1", "elasticnet"}, default "l2"
        ½‖w‖², ‖w‖₁, or l1_ratio·‖w‖₁ + (1 - l1_ratio)/2 ‖w‖².
    loss : {"hinge", "squared_hinge", "smooth_hinge"}, default "hinge"
        Of h = [1 - y_i (⟨x_i, w⟩ + b)]_+ : h itself, h², or h²/2 up to h = 1 and h - 1/2 from there on.
    l1_ratio : float, default 0.5
        For the elastic net only.
    fit_intercept : bool, default True
    multi_class : {"ovr", "crammer_singer"}, default "ovr"
        Each class against the rest, or all classes in one problem; the latter has a hinge loss of its own.
    class_weight : dict, "balanced" or None
        Multiplies the weight of every example of a class.
    tol : float, default 1e-3
        The promise: the objective at the solution is at most this much (relative) above its minimum.
    solver, smoothing : str, default "auto"
        As for `minorant.solve`.
    max_iter : int, default 20_000
        For each class.
    max_time : float, optional
        Seconds, for the whole fit.
    warm_start : bool, default False
        Start from the last solution.
    n_jobs : int, optional
        Threads; None and -1 are all cores. The result does not depend on it, to the last bit. Classes one against
        the rest are fitted side by side.
    verbose : int, default 0
        Log the gap on the logger "minorant".

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (1, n) or (n_classes, n)
        y_i α_i / λ, each between 0 and C·weight_i in size for the hinge; with L2, coef_ is close to dual_coef_ @ X.
    certificate_ : LinearCertificate, or a list with one for each class; JointCertificate for "crammer_singer"
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
        "penalty": [StrOptions({"l2", "l1", "elasticnet"})],
        "loss": [StrOptions({"hinge", "squared_hinge", "smooth_hinge"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        **SOLVING,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str = "hinge",
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        multi_class: str = "ovr",
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
        self.loss = loss
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
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
        self._fit(X, y, sample_weight, loss=self.loss, penalty=self.penalty, l1_ratio=self.l1_ratio)
        return self

    def _joint_loss(self, classes: NDArray[Any]) -> str | None:
        if self.multi_class == "ovr":
            return None
        if self.loss != "hinge":
            raise InputError(
                f"multi_class='crammer_singer' has a hinge loss of its own; got loss={self.loss!r}. "
                "Leave loss out, or choose multi_class='ovr'"
            )
        return "crammer_singer"

"""Linear models of several classes fitted as one problem, with one certificate.

In the scale of the mean loss, with c_i = weight_i / Σ weight, a row of W for each class, and scores s_i = W x_i + b:

    J(W, b) = Ω(W) + Σ c_i loss(s_i, y_i)

    multinomial        log Σ_z exp(s_z) - s_y
    crammer_singer     max over z of (1[z ≠ y] + s_z) - s_y

Ω acts on all k rows, as in scikit-learn. The biases b are never penalized; a constant added to all of them changes
nothing, and the one with mean 0 is returned.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minorant.certificate import Certificate
from minorant.checker_multiclass import check_multiclass
from minorant.errors import InputError
from minorant.linear import Run, confirmed, data_of, dtype_of, labeled, solve_row
from minorant.losses import CrammerSinger, MultinomialLogistic
from minorant.losses.base import normalized_weights
from minorant.machine import check_memory
from minorant.objective import Objective
from minorant.operators import check_finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from minorant.checker import Verdict
    from minorant.driver import Progress

    Vector = NDArray[np.float64]

__all__ = ["JointCertificate", "JointFit", "JointObjective", "fit_joint"]


@dataclass(frozen=True)
class JointObjective(Objective):
    """What is minimized, by name, for labels 0, ..., k - 1."""

    losses: ClassVar[dict[str, Callable[..., Any]]] = {
        "multinomial": MultinomialLogistic,
        "crammer_singer": partial(CrammerSinger, smoothing="euclidean"),
    }


@dataclass(frozen=True, eq=False)
class JointCertificate(Certificate):
    """The certificate of a linear model of several classes, with all that is needed to check it again.

    Attributes
    ----------
    alpha : array of shape (n, k)
        c_i (P_i - E_i), with P_i the probabilities of the classes at the dual point and E_i the unit vector of the
        label; every row sums to 0, and with free biases every column.
    coef, intercept : arrays of shape (k, p) and (k,)
        The solution that `primal` is the value of.
    classes : the labels, in the order of the rows
    objective : what was minimized
    weights : the c_i, or None where they are all 1/n
    """

    coef: NDArray[Any] = field(repr=False)
    intercept: NDArray[Any] = field(repr=False)
    classes: NDArray[Any]
    objective: JointObjective
    weights: Vector | None = field(repr=False)

    @property
    def lam(self) -> float:
        """The strength λ of the penalty."""
        return self.objective.lam

    def verify(self, X: Any, y: ArrayLike) -> Verdict:
        """Recompute both sides of the gap from the data, with NumPy alone.

        Raises
        ------
        InputError
            If the claim does not hold on these data, with what is wrong.
        """
        n = self.alpha.shape[0]
        data, labels = data_of(X, y, (n, self.coef.shape[1]))
        if strangers := set(labels.tolist()) - set(self.classes.tolist()):
            raise InputError(f"y has the label {strangers.pop()!r}; the classes are {self.classes.tolist()!r:.200}")
        index = np.searchsorted(self.classes, labels)
        c = np.full(n, 1.0 / n) if self.weights is None else self.weights
        claim = asdict(self.objective)
        return confirmed(check_multiclass(data, index, self.coef, self.intercept, self.alpha, c, claim), self)


@dataclass(frozen=True, eq=False)
class JointFit:
    """A fitted linear model: all rows of `coef`, one for each class, have one certificate and one trace."""

    classes: NDArray[Any]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    lam: float
    certificates: tuple[JointCertificate]
    traces: tuple[tuple[Progress, ...]] = field(repr=False)

    @property
    def n_iter(self) -> tuple[int, ...]:
        """The iterations, a single number."""
        return (len(self.traces[0]),)


def fit_joint(
    X: Any,
    y: ArrayLike,
    *,
    loss: str,
    penalty: str = "l2",
    C: float = 1.0,
    l1_ratio: float = 0.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    start: tuple[NDArray[Any], NDArray[Any] | None] | None = None,
    run: Run | None = None,
) -> JointFit:
    """Fit the weights of all classes together.

    C multiplies the sum of the losses, as in scikit-learn: λ = 1/(C Σ weight). `start` has the coef, and the alpha of
    the certificate or None.
    """
    run = run or Run()
    A, labels, classes, weight, lam = labeled(X, y, C, sample_weight, run.threads)
    check_finite(A)
    n, p, k = *A.shape, classes.size
    check_memory(n * k, p * k)
    objective = JointObjective(loss, penalty, lam, l1_ratio, fit_intercept)
    dtype = dtype_of(X)
    problem = objective.problem(A, np.searchsorted(classes, labels).astype(np.float64), weight, run.threads)
    begin = None
    if start is not None:
        alpha = problem.loss.start() if start[1] is None else start[1].ravel()
        begin = (start[0].T.ravel(), alpha)
    result = solve_row(problem, 0, begin, run, run.max_time, dtype)
    coef = np.ascontiguousarray(result.w.reshape(p, k).T)
    intercept: NDArray[Any] = np.broadcast_to(result.intercept, k).astype(dtype)
    parts = {**vars(result.certificate), "alpha": result.certificate.alpha.reshape(n, k)}
    certificate = JointCertificate(
        **parts,
        coef=coef,
        intercept=intercept,
        classes=classes,
        objective=objective,
        weights=None if weight is None else normalized_weights(weight, n),
    )
    return JointFit(classes, coef, intercept, lam, (certificate,), (result.trace,))

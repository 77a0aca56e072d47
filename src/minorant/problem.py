"""The problem:  minimize over w   J(w) = Ω(w) + g*(A w).

Its dual, for α in the domain Q of g:   D(α) = -g(α) - Ω*(-Aᵀα)  ≤  min J.
Any w and any α together prove  J(w) - min J ≤ J(w) - D(α): the duality gap.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

from minorant.errors import InputError
from minorant.geometry import Euclidean
from minorant.operators import Counting, as_linear_map, bound_norm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from minorant.geometry import Geometry
    from minorant.losses import Loss
    from minorant.regularizers import Regularizer

    Vector = NDArray[np.float64]

__all__ = ["Problem"]


class Problem:
    """A loss of linear scores plus a regularizer.

    Parameters
    ----------
    loss : Loss
        g*, with the labels and weights of the examples.
    X : array, SciPy sparse matrix, or LinearMap of shape (n, p)
    regularizer : Regularizer
        Ω.
    geometry : Geometry, default Euclidean()
        The prox-function of the space of w.
    threads : int, default 1
        Threads of the products with X; results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from minorant import Problem, solve
    >>> from minorant.losses import Hinge
    >>> from minorant.regularizers import L2
    >>> X, y = np.array([[2.0], [1.5], [-1.0], [-3.0]]), np.array([1, 1, -1, -1])
    >>> result = solve(Problem(Hinge(y), X, L2(0.1)), tol=1e-6)
    >>> result.certificate.relative_gap <= 1e-6
    True
    """

    def __init__(
        self,
        loss: Loss,
        X: Any,
        regularizer: Regularizer,
        *,
        geometry: Geometry | None = None,
        threads: int = 1,
    ) -> None:
        base = as_linear_map(X, threads)
        if base.shape[1] == 0:
            raise InputError("X has no columns: there is nothing to fit")
        self.loss = loss
        self.regularizer = regularizer
        self.geometry = Euclidean() if geometry is None else geometry
        self.A = Counting(loss.attach(base))

    def with_regularizer(self, regularizer: Regularizer) -> Problem:
        """The same loss of the same data with another regularizer; the data are shared."""
        other = copy(self)
        other.regularizer = regularizer
        return other

    def primal(self, w: Vector, image: Vector | None = None) -> float:
        """J(w); `image` is A w where it is already known."""
        return self.regularizer.value(w) + self.loss.value(self.A @ w if image is None else image)

    def dual(self, alpha: Vector, image: Vector | None = None) -> float:
        """D(α), a lower bound of every J(w); `image` is Aᵀα where it is already known."""
        return -self.loss.conjugate(alpha) - self.regularizer.conjugate(-(self.A.T @ alpha if image is None else image))

    def dual_point(self, alpha: Vector, image: Vector) -> tuple[Vector, Vector]:
        """α and Aᵀα, shrunk into the domain of D where Ω* is finite on a bounded set only."""
        s = self.loss.scale(alpha, self.regularizer.dual_scale(-image))
        return (alpha, image) if s == 1.0 else (s * alpha, s * image)

    @cached_property
    def norm(self) -> float:
        """A proven bound of ‖A‖ in the geometries of w and α."""
        return bound_norm(self.A, self.geometry, self.loss.geometry)

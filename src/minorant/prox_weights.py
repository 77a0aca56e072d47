"""Weights of the prox-function that smooths a loss on the box 0 ≤ α ≤ c, chosen so that the smoothed loss is flatter.

d(α) = ½ Σ t_i α_i²/c_i has D = ½ Σ c_i t_i, so that at mu = eps/D the Lipschitz constant of the gradient is

    L(t) = (1/2eps) · (Σ c_i t_i) · λ_max(Σ (c_i/t_i) a_i a_iᵀ),      a_i the rows of the data

By duality (ERRATUM 36: over V ⪰ 0 with tr V = 1, not over single directions v vᵀ)

    min over t of (Σ c_i t_i) λ_max(Σ (c_i/t_i) a_i a_iᵀ)  =  max over V of (Σ c_i √(a_iᵀV a_i))²,    t_i = √(a_iᵀV a_i)

which Frank–Wolfe maximizes by one top eigenvector each round. The cheap candidates are t = 1, the norms ‖a_i‖, and
|⟨a_i, v⟩| for the top eigenvector v, not below a fraction of ‖a_i‖: without that floor an example is hardly smoothed
at all and L grows (ERRATUM 37). None of them is always best: L is computed for each, and the smallest is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from minorant.errors import InputError
from minorant.kernels import dot
from minorant.losses.base import normalized_weights
from minorant.operators import Rows, as_linear_map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from minorant.operators import LinearMap

    Vector = NDArray[np.float64]

__all__ = ["ProxWeights", "choose_prox_weights"]


@dataclass(frozen=True, eq=False)
class ProxWeights:
    """The chosen weights.

    Attributes
    ----------
    weights : array of shape (n,)
        The t_i, of mean 1.
    chosen : str
        The name of the candidate.
    ratios : dict
        L of every candidate as a fraction of that of t = 1. The smallest is chosen, or t = 1 where none gains.
    lower : float
        No weights at all have a smaller ratio, up to the tolerance of the eigenvectors; 0 without Frank–Wolfe.
    """

    weights: Vector = field(repr=False)
    chosen: str
    ratios: dict[str, float]
    lower: float


def choose_prox_weights(
    X: Any, *, sample_weight: ArrayLike | None = None, rounds: int = 20, floor: float = 0.3
) -> ProxWeights:
    """Choose the weights of the smoothing for the data X: those of the smallest computed L.

    Parameters
    ----------
    X : array, SciPy sparse matrix, or LinearMap of shape (n, p)
    sample_weight : array of shape (n,), optional
    rounds : int, default 20
        Of Frank–Wolfe, each worth one top eigenvector; 0 leaves it out.
    floor : float, default 0.3
        The least |⟨a_i, v⟩| as a fraction of ‖a_i‖.

    Examples
    --------
    >>> import numpy as np
    >>> from minorant.losses import Hinge
    >>> from minorant.prox_weights import choose_prox_weights
    >>> X, y = np.array([[9.0, 1.0], [0.1, -0.2], [-0.3, 0.1], [0.2, 0.2]]), [1, 1, -1, -1]
    >>> found = choose_prox_weights(X)
    >>> found.ratios[found.chosen] < 0.5
    True
    >>> loss = Hinge(y, prox_weights=found.weights)
    """
    A = as_linear_map(X)
    if rounds < 0 or not 0 < floor <= 1:
        raise InputError(f"need rounds ≥ 0 and 0 < floor ≤ 1; got {rounds}, {floor}")
    c = normalized_weights(sample_weight, A.shape[0])
    longest = float(A.row_norms()[c > 0].max())
    if not 1e-150 < longest < 1e150:  # nothing to choose by: no features, or their squares are lost
        return ProxWeights(np.ones(c.size), "one", {"one": 1.0}, 1.0)
    A = Rows(A, np.full(c.size, 1.0 / longest))
    lengths = A.row_norms()
    # An example without features has a constant loss; any positive weight will do for it.
    norms = np.maximum(lengths, 1e-3 * dot(c, lengths))

    one = np.ones(c.size)
    value, v = _top_eigenpair(A, c)
    isotropic, lower = value, 0.0
    ratios = {"one": 1.0}
    weights = {"one": one, "norms": norms, "eigenvector": np.maximum(np.abs(A @ v), floor * norms)}
    for name in ("norms", "eigenvector"):
        ratios[name] = dot(c, weights[name]) * _top_eigenpair(A, c / weights[name])[0] / isotropic

    q = lengths**2 / A.shape[1]  # a_iᵀV a_i for V = I/p
    for k in range(rounds):
        t = np.sqrt(np.maximum(q, (1e-3 * norms) ** 2))
        lower = max(lower, dot(c, np.sqrt(q)) ** 2 / isotropic)
        value, v = _top_eigenpair(A, c / t)
        ratio = dot(c, t) * value / isotropic
        if ratio < ratios.get("frank-wolfe", np.inf):
            ratios["frank-wolfe"], weights["frank-wolfe"] = ratio, t
        step = 2.0 / (k + 3)
        q = (1 - step) * q + step * (A @ v) ** 2
    chosen = min(ratios, key=lambda name: ratios[name])
    if ratios[chosen] > 1 - 1e-3:  # not more than rounding, or hardly
        chosen = "one"
    t = weights[chosen]
    return ProxWeights(t / dot(c, t), chosen, ratios, lower)


def _top_eigenpair(A: LinearMap, weights: Vector) -> tuple[float, Vector]:
    """λ_max of Σ weights_i a_i a_iᵀ and its eigenvector.

    By Lanczos: good weights make the largest eigenvalues equal, which a power iteration cannot tell apart.
    """
    p = A.shape[1]
    if p == 1:
        image = A @ np.ones(1)
        return dot(weights * image, image), np.ones(1)
    gram = LinearOperator((p, p), matvec=lambda v: A.T @ (weights * (A @ v)), dtype=np.float64)
    values, vectors = eigsh(gram, k=1, which="LA", v0=np.random.default_rng(0).standard_normal(p), tol=1e-5)
    return float(values[0]), np.ascontiguousarray(vectors[:, 0])

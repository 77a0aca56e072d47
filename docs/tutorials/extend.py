"""Add a loss and a regularizer of your own, from outside the package, and have every fit certified.

A loss is given by its dual: g*(u) = max over α in Q of ⟨u, α⟩ - g(α). Here, the absolute deviation from targets y,
    g*(u) = (1/n) Σ |u_i - y_i|,    Q = [-1/n, 1/n]^n,    g(α) = ⟨y, α⟩,    smoothed by d(α) = (n/2)‖α‖².
A regularizer needs its conjugate and one closed form. Here, the nonnegative orthant with a ridge,
    Ω(w) = (λ/2)‖w‖²  for w ≥ 0,    Ω*(v) = ‖[v]_+‖²/2λ.
"""

# [loss]
import numpy as np

from minorant.geometry import Euclidean, WeightedEuclidean
from minorant.losses import Loss, Smoothed


class AbsoluteDeviation(Loss):
    def __init__(self, y):
        self.y, self.size = np.asarray(y, dtype=float), len(y)
        self.c = 1.0 / self.size
        self.geometry = WeightedEuclidean(np.full(self.size, 1.0 / self.c))
        self.radius = 0.5

    def value(self, u):
        return self.c * float(np.abs(u - self.y).sum())

    def smoothed(self, u, mu):
        alpha = np.clip(self.c * (u - self.y) / mu, -self.c, self.c)
        return Smoothed(float(alpha @ (u - self.y)) - mu * self.prox(alpha), alpha)

    def conjugate(self, alpha):
        return float(self.y @ alpha) if np.abs(alpha).max() <= self.c * (1 + 1e-9) else np.inf

    def project(self, alpha):
        return np.clip(alpha, -self.c, self.c)

    def start(self):
        return np.zeros(self.size)


# [regularizer]
from dataclasses import dataclass  # noqa: E402

from minorant.regularizers import Regularizer  # noqa: E402


@dataclass(frozen=True)
class NonnegativeRidge(Regularizer):
    lam: float
    geometries = (Euclidean,)

    def value(self, x):
        return 0.5 * self.lam * float(x @ x) if (x >= 0).all() else np.inf

    def conjugate(self, v):
        return float(np.maximum(v, 0) @ v) / (2 * self.lam)

    def maximizer(self, v):
        return np.maximum(v, 0) / self.lam

    def argmin(self, s, t, geometry, weight=1.0):
        if not isinstance(geometry, Euclidean):
            raise self.unsupported(geometry)
        x = np.maximum(-s, 0) / (t + weight * self.lam)
        return x, x

    def strong_convexity(self, geometry):
        return self.lam

    def start(self, size):
        return np.zeros(size)


# [use]
if __name__ == "__main__":
    from minorant import Problem, solve
    from minorant.testing import check_loss, check_regularizer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = X @ np.maximum(rng.normal(size=10), 0) + rng.laplace(size=200)
    check_loss(AbsoluteDeviation(y))
    check_regularizer(NonnegativeRidge(0.1), size=10)
    print(solve(Problem(AbsoluteDeviation(y), X, NonnegativeRidge(0.1)), tol=1e-4).certificate)

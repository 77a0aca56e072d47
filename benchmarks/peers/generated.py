"""Generated sets: text-like, low-dimensional, dense and wide data with noisy labels or targets. Seeds are fixed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def text(rows, columns, per_row, seed=0, noise=0.1):
    """Unit rows whose columns are drawn by a power law, like words; labels by a plane, a tenth of them flipped."""
    rng = np.random.default_rng(seed)
    column = (columns * rng.random(rows * per_row) ** 3).astype(np.int32)  # small indices are frequent
    value = 1 + rng.exponential(size=column.size)
    X = sp.csr_matrix((value, column, np.arange(rows + 1, dtype=np.int64) * per_row), shape=(rows, columns))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags_array(1 / norms) @ X)
    score = X @ (rng.normal(size=columns) * (rng.random(columns) < 0.2))
    y = np.where(score > np.median(score), 1.0, -1.0)
    return X, np.where(rng.random(rows) < noise, -y, y)


def dense(rows, columns, seed=0, noise=1.0):
    """Correlated normal columns, labels by a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 1:] = 0.8 * X[:, :1] + 0.6 * X[:, 1:]
    score = X @ rng.normal(size=columns) / np.sqrt(columns)
    return X, np.where(score + noise * rng.logistic(size=rows) > 0, 1.0, -1.0)


def wide(rows, columns, seed=0, noise=0.5):
    """More columns than rows, neighbors correlated; twenty of them make the targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.49) * X[:, j]
    chosen = rng.choice(columns, 20, replace=False)
    y = X[:, chosen] @ rng.normal(size=20)
    return X, y + noise * y.std() * rng.normal(size=rows)


def make(name):
    if name.startswith("growth_"):  # so many rows, all else the same
        return text(int(name.removeprefix("growth_")), 20_000, 30)
    return {
        "small_200": lambda: dense(200, 20),
        "text_1e6": lambda: text(20_000, 50_000, 50),
        "text_1e7": lambda: text(125_000, 200_000, 80),
        "dense_1e7": lambda: dense(50_000, 200),
        "dense_2e6": lambda: dense(25_000, 80, seed=1),
        "low_2e6": lambda: dense(200_000, 10),
        "wide_1e6": lambda: wide(200, 5_000),
        "wide_1e7": lambda: wide(500, 20_000),
    }[name]()

"""The bounds of a fit on matplotlib axes, for notebooks; needs the extra `minorant[report]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minorant.driver import Progress

__all__ = ["plot_bounds"]


def plot_bounds(trace: Sequence[Progress], ax: Any = None) -> Any:
    """Draw J(w) and D(α) over the products with the data, and return the axes.

    Parameters
    ----------
    trace : the `trace_` of an estimator, or the `trace` of a result
    ax : matplotlib axes, optional
        The current ones, if not given.
    """
    if ax is None:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional dependency

        ax = plt.gca()
    products = [p.products for p in trace]
    primal, dual = [p.primal for p in trace], [p.dual for p in trace]
    ax.fill_between(products, dual, primal, alpha=0.15, color="gray", label="the optimum is in here")
    ax.plot(products, primal, label="J(w): the model so far")
    ax.plot(products, dual, label="D(α): no model is below")
    ax.set(xlabel="products with the data", ylabel="objective", xscale="log")
    ax.legend()
    return ax

"""The bounds of a fit on matplotlib axes."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from minorant import LinearSVC
from minorant.report import plot_bounds


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return LinearSVC().fit(X, (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int))


def test_the_lines_are_the_bounds_of_the_trace(model):
    ax = plot_bounds(model.trace_, Figure().add_subplot())
    primal, dual = ax.get_lines()
    assert list(primal.get_ydata()) == [p.primal for p in model.trace_]
    assert list(dual.get_ydata()) == [p.dual for p in model.trace_]
    assert list(dual.get_xdata()) == [p.products for p in model.trace_]


def test_it_draws_on_the_current_axes_by_default(model):
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of the backend

    _, ax = plt.subplots()
    assert plot_bounds(model.trace_) is ax
    plt.close("all")

"""Pictures of a fit."""

from minorant.report.axes import plot_bounds
from minorant.report.plot import gap_svg

__all__ = ["gap_svg", "plot_bounds"]

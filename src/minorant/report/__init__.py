"""Pictures of a fit."""

from minorant.report.plot import gap_svg

__all__ = ["gap_svg"]

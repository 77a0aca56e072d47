"""The picture of a certificate: J(w) and its lower bound D(α) closing on each other, and the gap between them.

    left    best J and best D after each product with the data; the band between them holds the optimum
    right   their relative gap, on a logarithmic scale, with the tol that was asked for

Plain SVG, written here: no plotting library, no script, no font to load. It follows the reader's light or dark theme.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log10
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from minorant.certificate import relative
from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from minorant.driver import Progress

__all__ = ["gap_svg"]

_WIDTH, _HEIGHT, _TOP, _TALL = 880, 380, 74, 244
_MOST_POINTS = 500
_STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#55606e}
.title{font-size:16px;font-weight:600}.name{font-size:13px;font-weight:600}.title,.gap{fill:#1f2933}
.page{fill:#fff}.grid{stroke:#e3e7ed}.axis{stroke:#8a94a3}.band{fill:#94a3b8;fill-opacity:.25}
.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}.tol{stroke:#55606e;stroke-width:1.3;stroke-dasharray:5 4}
text.primal{fill:#b93c0a}text.dual{fill:#1d4ed8}.curve.primal{stroke:#d9560f}.curve.dual{stroke:#1d4ed8}
.curve.gap{stroke:#1f2933}
@media(prefers-color-scheme:dark){text{fill:#a5b0be}.title,.name.gap{fill:#e8ecf1}.page{fill:#12171e}
.grid{stroke:#29313c}.axis{stroke:#6b7685}.band{fill:#64748b;fill-opacity:.35}.tol{stroke:#a5b0be}
text.primal{fill:#fb9a4b}text.dual{fill:#86aeff}.curve.primal{stroke:#fb9a4b}.curve.dual{stroke:#86aeff}
.curve.gap{stroke:#e8ecf1}}
"""


def gap_svg(trace: Sequence[Progress], title: str, tol: float | None = None) -> str:
    """The picture of one fit as SVG.

    Parameters
    ----------
    trace : sequence of Progress
        `Result.trace`, or one of `LinearFit.traces`.
    title : str
    tol : float, optional
        The relative gap that was asked for: a dashed line.

    Returns
    -------
    str
    """
    rows = _thinned([p for p in trace if isfinite(p.primal) and isfinite(p.dual)])
    if not rows:
        raise InputError("a trace without an iteration has no picture")
    name = escape(title, {'"': "&quot;"})
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{name}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="10"/>',
        _text(24, 34, title, "title"),
        *_bounds(rows),
        *_gaps(rows, tol),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _thinned(rows: list[Progress]) -> list[Progress]:
    """At most so many rows, evenly spread on a logarithmic axis, with the first and the last."""
    n = len(rows)
    if n <= _MOST_POINTS:
        return rows
    kept = {round(n ** (i / (_MOST_POINTS - 1))) - 1 for i in range(_MOST_POINTS)}
    return [rows[i] for i in sorted(kept)]


def _bounds(rows: Sequence[Progress]) -> list[str]:
    primal = [(p.products, p.primal) for p in rows]
    dual = [(p.products, p.dual) for p in rows]
    low, high = dual[0][1], primal[0][1]
    step = _nice((high - low or abs(high) or 1.0) / 5)
    low, high = step * floor(low / step), step * ceil(high / step)
    ticks = [low + step * i for i in range(round((high - low) / step) + 1)]
    panel = _Panel(72, 392, (rows[0].products, rows[-1].products), (ticks[0], max(ticks[-1], low + step)))
    legend = panel.right - 216  # J falls, so this corner is free
    return [
        *panel.frame([(t, f"{t:.6g}" if abs(t) > step / 2 else "0") for t in ticks], "value of the objective"),
        f'<polygon class="band" points="{panel.points([*primal, *reversed(dual)])}"/>',
        panel.curve("primal", primal),
        panel.curve("dual", dual),
        f'<rect class="page" x="{legend - 6}" y="{_TOP + 4}" width="222" height="70"/>',
        f'<line class="curve primal" x1="{legend}" x2="{legend + 24}" y1="{_TOP + 18}" y2="{_TOP + 18}"/>',
        _text(legend + 34, _TOP + 22, "J(w): the model so far", "name primal"),
        f'<rect class="band" x="{legend}" y="{_TOP + 32}" width="24" height="12"/>',
        _text(legend + 34, _TOP + 43, "the optimum is in here", "name"),
        f'<line class="curve dual" x1="{legend}" x2="{legend + 24}" y1="{_TOP + 60}" y2="{_TOP + 60}"/>',
        _text(legend + 34, _TOP + 64, "D(α): no model is below", "name dual"),
    ]


def _gaps(rows: Sequence[Progress], tol: float | None) -> list[str]:
    pairs = [(p.products, relative(p.primal - p.dual, p.primal)) for p in rows]
    seen = [g for _, g in pairs if 0 < g < inf] + ([tol] if tol else []) or [1.0]
    low = floor(log10(min(seen)) - 0.3)
    high = max(ceil(log10(max(seen))), low + 1)
    floor_of_gap = 10.0**low  # a gap of 0 is drawn at the bottom
    step = ceil((high - low) / 8)
    panel = _Panel(556, 300, (rows[0].products, rows[-1].products), (low, high))
    parts = [
        *panel.frame([(t, _power(t)) for t in range(low, high + 1, step)], "relative gap (J − D) / J"),
        panel.curve("gap", [(x, log10(max(g, floor_of_gap))) for x, g in pairs if g < inf]),
    ]
    if tol:
        y = panel.y(log10(tol))
        parts += [
            f'<line class="tol" x1="{panel.left}" x2="{panel.right}" y1="{y:.1f}" y2="{y:.1f}"/>',
            _text(panel.left + 8, y - 7, f"tol = {tol:g}", "name gap"),
        ]
    return parts


@dataclass(frozen=True)
class _Panel:
    """A rectangle with axes: data in, pixels out; x, the products, is logarithmic."""

    left: float
    width: float
    products: tuple[int, int]
    y_range: tuple[float, float]

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return _TOP + _TALL

    def x(self, products: float) -> float:
        first = log10(self.products[0])
        return self.left + self.width * (log10(products) - first) / (log10(self.products[1]) - first or 1.0)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - _TALL * (value - low) / (high - low)

    def points(self, pairs: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in pairs)

    def curve(self, name: str, pairs: Iterable[tuple[float, float]]) -> str:
        return f'<polyline class="curve {name}" points="{self.points(pairs)}"/>'

    def frame(self, y_ticks: Iterable[tuple[float, str]], y_name: str) -> list[str]:
        """The grid, the axes, and what is on them."""
        parts = []
        for value, label in y_ticks:
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(_text(self.left - 8, y + 4, label, anchor="end"))
        for value in _log_ticks(*self.products):
            x = self.x(value)
            parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{self.bottom}" y2="{self.bottom + 5}"/>')
            parts.append(_text(x, self.bottom + 20, f"{value:,}", anchor="middle"))
        parts.append(f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{self.bottom}" y2="{self.bottom}"/>')
        parts.append(_text((self.left + self.right) / 2, self.bottom + 42, "products with the data", anchor="middle"))
        parts.append(_text(self.left, _TOP - 14, y_name))
        return parts


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _power(exponent: int) -> str:
    superscript = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "1" if exponent == 0 else "10" + str(exponent).translate(superscript)


def _nice(step: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is at least `step`."""
    power = 10.0 ** floor(log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-12))


def _log_ticks(first: int, last: int) -> list[int]:
    """Round numbers in the range, few enough to be read."""
    choices: tuple[Callable[[int], bool], ...] = (lambda m: True, lambda m: m in (1, 2, 5), lambda m: m == 1)
    for keep in choices:
        ticks = [m * 10**e for e in range(len(str(last))) for m in range(1, 10) if keep(m)]
        ticks = [t for t in ticks if first <= t <= last]
        if len(ticks) <= 7:
            break
    return ticks or [first]

"""`minorant demo`: it runs, proves, and draws."""

from __future__ import annotations

import json
from pathlib import Path
from xml.dom.minidom import parseString

import pytest

from minorant.driver import Progress
from minorant.errors import InputError
from minorant.report import gap_svg


def test_demo(run):
    ran = run("demo")
    assert (ran.status, ran.err) == (0, "")
    assert "CONFIRMED" in ran.out
    folder = Path("minorant-demo")
    assert {path.name for path in folder.iterdir()} == {"data.txt", "model", "run.jsonl", "gap.svg"}
    assert parseString((folder / "gap.svg").read_bytes()).documentElement.tagName == "svg"
    assert all(json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines())
    for line in ran.out.splitlines():  # the commands it shows work
        if line.startswith("  minorant "):
            assert run(*line.split()[1:]).status == 0


def test_demo_in_a_place_that_is_a_file(run, binary):
    ran = run("demo", "-o", binary)
    assert (ran.status, ran.out) == (2, "")
    assert "File exists" in ran.err


def _trace(n, gap=lambda i: 0.5**i):
    return [Progress(i + 1, 0.1 * i, 4 + 2 * i, 0.2 + gap(i), 0.2, 1.0, 0.0) for i in range(n)]


def _curves(svg):
    found = {}
    for curve in parseString(svg).getElementsByTagName("polyline"):
        points = [tuple(map(float, pair.split(","))) for pair in curve.getAttribute("points").split()]
        found[curve.getAttribute("class").split()[1]] = points
    return found


def test_the_picture_shows_the_trace():
    curves = _curves(gap_svg(_trace(12), "A title", 1e-3))
    assert set(curves) == {"primal", "dual", "gap"}
    heights = [y for _, y in curves["primal"]]
    assert heights == sorted(heights)  # J falls: pixels count from the top
    assert len({y for _, y in curves["dual"]}) == 1
    assert all(above < below for (_, above), (_, below) in zip(curves["primal"][:5], curves["dual"], strict=False))
    assert [y for _, y in curves["gap"]] == sorted(y for _, y in curves["gap"])
    assert all(0 <= x <= 880 and 0 <= y <= 380 for points in curves.values() for x, y in points)


@pytest.mark.parametrize("trace", [_trace(1), _trace(2, lambda i: 0.0), _trace(20_000, lambda i: 1 / (1 + i))])
def test_extreme_traces(trace):
    svg = gap_svg(trace, "extreme", 0.0)
    assert len(svg) < 100_000
    assert _curves(svg)["primal"]


def test_titles_are_text_and_nothing_else():
    svg = gap_svg(_trace(3), '"/><script>alert(1)</script>&')
    assert "<script" not in svg
    assert parseString(svg).getElementsByTagName("text")[0].firstChild.data == '"/><script>alert(1)</script>&'


def test_no_iteration_no_picture():
    with pytest.raises(InputError, match="no picture"):
        gap_svg([], "nothing")

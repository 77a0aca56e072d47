"""The options of the campaign, and the table that it ends with; they have to be here, where pytest looks first."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--problems", default="0:100", metavar="FIRST:END", help="the problems of the campaign")
    parser.addoption("--campaign-log", metavar="FILE", help="append what was found; the table is of all that it holds")


ROWS = []


def pytest_runtest_logreport(report):
    if report.when == "call":
        ROWS.extend(row for name, row in report.user_properties if name == "campaign")


def pytest_terminal_summary(terminalreporter, config):
    if not ROWS or hasattr(config, "workerinput"):  # a worker of xdist has reported its rows already
        return
    rows = ROWS
    if path := config.getoption("--campaign-log"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.writelines(json.dumps(row) + "\n" for row in ROWS)
        rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    terminalreporter.section("campaign")
    for by in (("scheme",), ("loss", "scheme"), ("regularizer", "scheme")):
        terminalreporter.line(table(rows, by))


def table(rows, by):
    """Rows added up by the given columns."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in by)].append(row)
    lines = [f"| {' | '.join(by)} | runs | certified | violations | worst (J - J*)/\\|J\\| | mean iterations |"]
    lines.append("|---" * len(by) + "|---:|---:|---:|---:|---:|")
    for key, found in groups.items():
        runs, certified, violations, iterations = (
            sum(row[name] for row in found) for name in ("problems", "certified", "violations", "iterations")
        )
        worst = max(row["excess"] for row in found)
        lines.append(
            f"| {' | '.join(key)} | {runs} | {certified} | {violations} | {worst:.1e} | {iterations / runs:.0f} |"
        )
    return "\n".join(["", *lines])

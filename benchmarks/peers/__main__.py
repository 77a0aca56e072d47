"""python -m benchmarks.peers [COMMAND]: see --help for the commands; without one, everything is raced."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

RESULTS = Path(__file__).resolve().parent.parent / "results"


def parser():
    p = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Ours against other packages.")
    commands = {
        "run": "race all cells, then write the page",
        "page": "write the page of what was run",
        "optima": "bring the optima J* of the cells within 1e-8, where they are not",
        "again": "ours alone, on the cells that were run, against the peers' times of then",
        "growth": "time to 1e-3 over the number of rows",
        "threads": "two threads against one, on sets of more than a million values",
        "memory": "peak memory of a fit, beyond the data",
        "bias": "what a free bias costs",
        "latency": "a fit of 200 rows and 20 columns",
        "floor": "passes over the data against the speed of the memory",
        "classes": "several classes: one against the rest by one and two threads, and multinomial",
    }
    p.add_argument(
        "command", nargs="?", default="run", choices=commands, help="; ".join(f"{k}: {v}" for k, v in commands.items())
    )
    p.add_argument("--data", default=os.environ.get("MINORANT_DATA"), help="folder of data (or MINORANT_DATA)")
    p.add_argument("--scratch", default=str(Path(tempfile.gettempdir()) / "minorant_peers"), help="kept between runs")
    p.add_argument("--optima", help="file of the optima; default: in the scratch folder")
    p.add_argument("--out", type=Path, help="where the results go; default: benchmarks/results, quick: scratch")
    p.add_argument("--keep", action="store_true", help="keep the rows of the results file that were not run now")
    p.add_argument("--quick", action="store_true", help="few sets, one strength: to see that all works")
    p.add_argument(
        "--budget", type=float, help="minutes; the order is random, always the same, with all problems in it"
    )
    p.add_argument("--sets", help="names, with commas")
    p.add_argument("--families", help="names, with commas")
    p.add_argument("--peers", help="names of adapters, with commas")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--cap", type=float, default=30.0, help="seconds of a fit")
    p.add_argument("--prune", type=float, default=5.0, help="cut sweeps at this many times the best peer's time")
    p.add_argument("--far", type=float, default=100.0, help="give no peer more than so many times what ours takes")
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--rows", type=int, default=1_000_000, help="the most rows of `growth`")
    return p


def main():
    options = parser().parse_args()
    if options.quick:
        options.scratch = str(Path(options.scratch) / "quick")
        options.cap = min(options.cap, 3.0)
    options.out = options.out or (Path(options.scratch) if options.quick else RESULTS)
    from . import again, figures, page  # noqa: PLC0415 - the help needs none of it
    from .campaign import Campaign  # noqa: PLC0415

    campaign = Campaign(options)
    if options.command in figures.FIGURES:
        figures.write(options.command, campaign, options)
        return
    try:
        if options.command != "page":
            campaign.start(options.peers.split(",") if options.peers else None)
        if options.command == "run":
            campaign.run(options)
        elif options.command == "optima":
            campaign.optima(options)
        elif options.command == "again":
            again.run(campaign, options)
        if options.command in ("run", "page"):
            page.write(campaign, options, options.out)
    finally:
        campaign.stop()


if __name__ == "__main__":
    main()

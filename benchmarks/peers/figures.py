"""Figures of ours alone: growth with the rows, two threads, memory, the price of a bias, the time of a tiny fit."""

from __future__ import annotations

import time
from itertools import product
from statistics import median

import numpy as np
import scipy.sparse as sp

from . import problems
from .campaign import machine, summary
from .classes import classes
from .floor import floor
from .problems import Cell
from .race import OURS, TARGETS, Race, Rules
from .sets import ONES, SETS, stored
from .tables import mean
from .worker import Worker, limit_threads

OFFER = {"name": OURS, "levels": TARGETS}
L2 = (("hinge", "none"), ("hinge", "free"), ("squared_hinge", "none"), ("logistic", "free"))


class Bench:
    """Ours in a worker: medians of fits."""

    def __init__(self, campaign, options, threads=1):
        limit_threads(threads)
        self.store, self.options = campaign.store, options
        self.worker = Worker(OURS, self.store, threads)
        self.end = time.monotonic() + 60 * options.budget if options.budget else np.inf
        self.name, self.data = None, None

    def problem(self, cell):
        if self.name != cell.set:
            self.name, self.data = cell.set, self.store.load(cell.set)
        return problems.problem(cell, *self.data)

    def fit(self, cell, level, order="fit"):
        problem = self.problem(cell)
        answer = self.worker.fit(OFFER, problem, level, sp.issparse(self.data[0]), self.options.cap, order)
        if "error" in answer:
            raise RuntimeError(f"{cell.key}: {answer['error']}")
        if answer.get("claim"):
            false = problems.wrong(problem, *self.data, answer["w"], answer["b"], answer["claim"], level)
            assert not false, (cell.key, false)
        return answer

    def late(self):
        return time.monotonic() > self.end


def shown(answers):
    """The median, marked where the cap was met."""
    open_ = "" if all(a["claim"]["certified"] for a in answers) else " open"
    return f"{median(a['seconds'] for a in answers):.4g}{open_}"


def growth(campaign, options):
    bench = Bench(campaign, options)
    rows = [n for n in (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000) if n <= options.rows]
    yield from (
        "# Growth with the number of rows",
        "",
        "Seconds to a certified 1e-3; text-like data, 20 000 columns, 30 values a row, C·n = 10 000.",
        "The exponent is that of the line through all points on logarithmic axes; 1 is linear growth.",
        "",
        "| problem | " + " | ".join(f"n = {n}" for n in rows) + " | exponent |",
        "|---" * (len(rows) + 2) + "|",
    )
    curves = {f"{family}, bias {bias}": [] for family, bias in L2}
    for n in rows:
        for family, bias in L2:
            cell = Cell(f"growth_{n}", family, 1e4 / n, bias)
            answers = [bench.fit(cell, 1e-3) for _ in range(3)]
            curves[f"{family}, bias {bias}"].append(median(a["seconds"] for a in answers))
            print(cell.key, shown(answers), flush=True)
    for name, times in curves.items():
        slope = np.polyfit(np.log(rows), np.log(times), 1)[0]
        yield f"| {name} | " + " | ".join(f"{t:.3g}" for t in times) + f" | {slope:.2f} |"
    bench.worker.close()
    lines = {name: (rows, times) for name, times in curves.items()}
    plot(lines, options.out / "peers_growth.svg", "rows", "seconds to a certified 1e-3")
    yield from ("", "![growth](peers_growth.svg)")


def threads(campaign, options):
    """Both workers take turns; every number of the solutions must be the same."""
    one, two = Bench(campaign, options, 1), Bench(campaign, options, 2)
    yield from (
        "# Two threads against one",
        "",
        "Sets of more than a million values; seconds to the certified gap, medians in turns.",
        "",
        "| set | values | problem | target | 1 thread | 2 threads | ratio | same bits |",
        "|---|---|---|---|---|---|---|---|",
    )
    ratios = []
    for name, spec in SETS.items():
        if not wanted(campaign, options, name) or (size := stored(campaign.store.load(name)[0])[0]) < 1e6:
            continue
        tasks = [("lasso", "none", 0.1)] if spec.task == "targets" else [(f, b, 1.0) for f, b in L2]
        for family, bias, strength in tasks:
            for level in TARGETS:
                if one.late():
                    continue
                cell = Cell(name, family, strength, bias)
                pairs = [(one.fit(cell, level), two.fit(cell, level)) for _ in range(options.repeats)]
                same = all(
                    np.array_equal(a["w"], b["w"]) and a["b"] == b["b"] and np.array_equal(a["slopes"], b["slopes"])
                    for a, b in pairs
                )
                first, second = zip(*pairs, strict=True)
                ratios.append(median(a["seconds"] for a in first) / median(b["seconds"] for b in second))
                line = f"| {name} | {size} | {family}, bias {bias} | {level:.0e} | {shown(first)} | {shown(second)} "
                line += f"| {ratios[-1]:.2f} | {'yes' if same else 'NO'} |"
                print(line, flush=True)
                yield line
    one.worker.close()
    two.worker.close()
    yield from ("", f"Ratios: geometric mean {mean(ratios):.2f}, least {min(ratios, default=0):.2f}.")


def memory(campaign, options):
    bench = Bench(campaign, options)
    yield from (
        "# Peak memory of a fit",
        "",
        "What the resident memory rose by during a fit to 1e-3, beyond the data X. The allowance is 0.3 times",
        "the bytes of X and ten vectors of length n + p.",
        "",
        "| set | problem | X, MB | rise, MB | rise / X | allowance, MB | within |",
        "|---|---|---|---|---|---|---|",
    )
    for name, spec in SETS.items():
        if not wanted(campaign, options, name) or bench.late():
            continue
        X, _ = campaign.store.load(name)
        size = stored(X)[1]
        allowance = 0.3 * size + 80 * sum(X.shape)
        if size < 2**20:
            continue  # less than the page-wise noise of the measurement
        for family, bias in (("lasso", "none"),) if spec.task == "targets" else L2:
            bench.worker.close()  # a fresh process has no freed memory to use again
            extra = bench.fit(Cell(name, family, 0.1, bias), 1e-3, "memory")["extra"]
            line = f"| {name} | {family}, bias {bias} | {size / 1e6:.1f} | {extra / 1e6:.1f} | {extra / size:.2f} "
            line += f"| {allowance / 1e6:.1f} | {'yes' if extra <= allowance else 'NO'} |"
            print(line, flush=True)
            yield line
    bench.worker.close()


def bias(campaign, options):
    """Beside the problem without a bias stands the one with a column of ones, which has the same solution, nearly."""
    bench, ones = Bench(campaign, options), Bench(campaign, options)
    yield from (
        "# The price of a free bias",
        "",
        "Seconds to the certified gap without a bias, with one that is penalized (a column of ones), and with a free",
        "one; medians in turns.",
        "",
        "| set | problem | C | target | no bias | ones | free bias | free / none | free / ones |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    sets = {}
    for name, spec in SETS.items():
        if not wanted(campaign, options, name) or spec.task == "targets":
            continue
        prices = sets.setdefault(name, [])
        for family, C, level in product(("hinge", "squared_hinge", "logistic"), problems.CS, TARGETS):
            if bench.late():
                continue
            cells = (bench, Cell(name, family, C, "none")), (ones, Cell(name + ONES, family, C, "none"))
            cells += ((bench, Cell(name, family, C, "free")),)
            rounds = [[which.fit(cell, level) for which, cell in cells] for _ in range(options.repeats)]
            answers = list(zip(*rounds, strict=True))
            none, column, free = (median(a["seconds"] for a in each) for each in answers)
            prices.append((free / none, free / column))
            line = f"| {name} | {family} | {C:g} | {level:.0e} | {' | '.join(map(shown, answers))} "
            line += f"| {prices[-1][0]:.2f} | {prices[-1][1]:.2f} |"
            print(line, flush=True)
            yield line
    bench.worker.close()
    ones.worker.close()
    yield from ("", "Geometric means, and the highest row:", "", "| set | free / none | free / ones |", "|---|---|---|")
    for name, prices in [*((n, p) for n, p in sets.items() if p), ("all", [p for each in sets.values() for p in each])]:
        means = (f"{mean(column):.2f} ({max(column, default=0):.2f})" for column in zip(*prices, strict=True))
        yield f"| {name} | {' | '.join(means)} |"


def latency(campaign, options):
    """The one figure with peers: a race on a tiny set."""
    yield from ("# A fit of 200 rows and 20 columns", "", "Medians in turns.", "", "```")
    campaign.start(options.peers.split(",") if options.peers else None)
    for family, spec in problems.FAMILIES.items():
        for b in spec.biases:
            cell = Cell("small_200", family, spec.strengths[0], b)
            race = Race(cell, campaign.store, campaign.workers, campaign.book, Rules(cap=2.0), lambda _: None)
            race.reference()
            race.run()
            print(cell.key, summary(race), flush=True)
            yield f"{family:14s} bias {b:5s} {summary(race)}"
    campaign.stop()
    yield "```"


FIGURES = {
    "growth": growth,
    "threads": threads,
    "memory": memory,
    "bias": bias,
    "latency": latency,
    "floor": floor,
    "classes": classes,
}


def wanted(campaign, options, name):
    return (not options.sets or name in options.sets.split(",")) and campaign.store.available(name)


def write(name, campaign, options):
    options.out.mkdir(parents=True, exist_ok=True)
    host = machine()
    lines = list(FIGURES[name](campaign, options))
    about = (
        f"{host['cpu']}, {host['cores']} cores, {host['memory_gib']} GiB, {host['system']}, Python {host['python']}; "
    )
    lines[1:1] = ["", f"`python -m benchmarks.peers {name}` on {about}{time.strftime('%Y-%m-%d')}."]
    (options.out / f"peers_{name}.md").write_text("\n".join(lines) + "\n")
    print(f"wrote peers_{name}.md")


def plot(lines, path, xlabel, ylabel):
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers"})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, ax = plt.subplots(figsize=(5, 4))
    for name, (x, y) in lines.items():
        ax.loglog(x, y, "o-", ms=4, label=name)
    x, y = next(iter(lines.values()))
    ax.loglog(x, y[0] * np.array(x) / x[0], ":", color="gray", label="linear")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

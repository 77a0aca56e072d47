"""Which cells are run, in which order, and what is written: a line of JSON a cell, so that a rerun goes on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections import Counter
from pathlib import Path

from threadpoolctl import threadpool_limits

from .adapters import ADAPTERS
from .problems import FAMILIES, Cell
from .race import OURS, Book, Race, Rules
from .sets import QUICK, SETS, Store
from .worker import Worker, limit_threads


def cells(names, families, quick=False):
    for name in names:
        for family, spec in FAMILIES.items():
            fits = SETS[name].task in ("both", spec.task)
            if not fits or family not in families:
                continue
            for strength in spec.strengths[: 1 if quick else None]:
                for bias in spec.biases[: 1 if quick else None]:
                    yield Cell(name, family, strength, bias)


def shuffled(found):
    """The cells in an order that is random, and always the same: what a budget leaves undone is left out by chance.

    Every problem, strength and bias comes once before any of them comes again, so that each has its share of a part.
    """
    found = sorted(found, key=lambda cell: hashlib.sha256(cell.key.encode()).digest())
    turn = Counter()

    def next_turn(cell):
        kind = cell.family, cell.strength, cell.bias
        turn[kind] += 1
        return turn[kind]

    return sorted(found, key=next_turn)


class Campaign:
    """The folder of a run: sets/, cells.jsonl; and the file of optima."""

    def __init__(self, options):
        self.folder = Path(options.scratch)
        self.folder.mkdir(parents=True, exist_ok=True)
        limit_threads(options.threads)
        # This process checks fits while others are timed: idle threads of its BLAS would spin on their cores.
        self.alone = threadpool_limits(1)
        self.threads = options.threads
        self.store = Store(self.folder, options.data)
        self.book = Book(options.optima or self.folder / "optima.json")
        self.log = self.folder / f"cells_{options.threads}.jsonl"
        self.workers, self.absent, self.versions = [], {}, {}

    def start(self, only=None):
        for package in ADAPTERS:
            if only and package not in only and package != OURS:
                continue
            worker = Worker(package, self.store, self.threads)
            if worker.absent:
                self.absent[package] = worker.absent
                print(f"absent: {package} ({worker.absent})", flush=True)
            else:
                self.workers.append(worker)
                self.versions[package] = worker.version
        print("present: " + ", ".join(f"{p} {v}" for p, v in self.versions.items()), flush=True)

    def stop(self):
        for worker in self.workers:
            worker.close()

    def cells(self, options):
        wanted = options.sets.split(",") if options.sets else (QUICK if options.quick else list(SETS))
        families = options.families.split(",") if options.families else list(FAMILIES)
        names = [name for name in wanted if self.store.available(name)]
        if len(names) < len(wanted):
            print("sets without data: " + ", ".join(name for name in wanted if name not in names), flush=True)
        return shuffled(cells(names, families, options.quick))

    def done(self):
        return {Cell(**record["cell"]).key for record in self.records()}

    def records(self):
        if not self.log.exists():
            return []
        found = {}
        for line in self.log.read_text().splitlines():
            record = json.loads(line)
            found[Cell(**record["cell"]).key] = record
        return list(found.values())

    def run(self, options):
        todo = self.cells(options)
        done, began = self.done(), time.monotonic()
        rules = Rules(cap=options.cap, prune=options.prune, far=options.far, repeats=options.repeats)
        print(f"{len(todo)} cells, {sum(cell.key in done for cell in todo)} of them done", flush=True)
        for number, cell in enumerate(todo, 1):
            minutes = (time.monotonic() - began) / 60
            if options.budget and minutes > options.budget:
                print(f"the budget of {options.budget:g} minutes is spent", flush=True)
                break
            if cell.key in done:
                continue
            race = Race(cell, self.store, self.workers, self.book, rules, print)
            if self.book.get(race.problem, race.X)["by"] == "":
                race.reference()
            race.run()
            with self.log.open("a") as file:
                file.write(json.dumps({**race.record(), "versions": self.versions, "when": time.time()}) + "\n")
            self.book.save()
            print(f"[{number}/{len(todo)} {minutes:.1f} min] {cell.key}: {summary(race)}", flush=True)

    def optima(self, options):
        """J* alone, for the cells whose gap is not tight yet."""
        began = time.monotonic()
        todo = self.cells(options)
        for number, cell in enumerate(todo, 1):
            if options.budget and (time.monotonic() - began) / 60 > options.budget:
                break
            race = Race(cell, self.store, self.workers, self.book, Rules(cap=options.cap), print)
            print(f"[{number}/{len(todo)}] {cell.key}", flush=True)
            race.reference()
            self.book.save()


def summary(race):
    """A line for the screen: ours, and the best peer, at both targets."""
    from .tables import row  # noqa: PLC0415

    parts = []
    for result in row(race.record(), race.book):
        best = result["best"]
        text = f"{result['target']:.0e}: ours {result['ours']:.4g} s{'' if result['certified'] else ' (open)'}"
        if best:
            text += f", {best['peer']} {best['seconds']:.4g} s{'' if best['reached'] else '†'}"
            text += f", ratio {result['ratio']:.2f}"
        parts.append(text)
    return "; ".join(parts) + (f"; FALSE: {race.false}" if race.false else "")


def machine():
    """Facts about the machine that a time depends on; no names."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "system": platform.system(),
        "python": platform.python_version(),
    }

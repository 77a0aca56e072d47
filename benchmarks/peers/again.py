"""Ours alone, on the cells that were run, against the peers' times of then: quick, but not in turns; no page."""

from __future__ import annotations

import time

from .problems import Cell
from .race import OURS, TARGETS, Race, Rules
from .tables import aggregate, row


def run(campaign, options):
    chosen = {cell.key for cell in campaign.cells(options)}
    rules = Rules(cap=options.cap, repeats=options.repeats)
    ours = [worker for worker in campaign.workers if worker.package == OURS]
    began, results = time.monotonic(), []
    for record in campaign.records():
        cell = Cell(**record["cell"])
        if cell.key not in chosen or (options.budget and time.monotonic() - began > 60 * options.budget):
            continue
        race = Race(cell, campaign.store, ours, campaign.book, rules, print)
        race.run()
        mine = race.record()
        peers = [fit for fit in record["fits"] if fit["peer"] != OURS]
        for result in row({**mine, "fits": mine["fits"] + peers}, campaign.book):
            results.append(result)
            if result["best"]:
                best = result["best"]
                print(
                    f"{cell.key:40s} {result['target']:.0e} ours {result['ours']:8.4f} s"
                    f"{'' if result['certified'] else ' open'}  {best['peer']} {best['seconds']:.4f} s"
                    f"{'' if best['reached'] else '†'}  ratio {result['ratio']:.2f}",
                    flush=True,
                )
        for false in race.false:
            print("FALSE:", false, flush=True)
    campaign.book.save()
    for family in dict.fromkeys(r["cell"]["family"] for r in results):
        for target in TARGETS:
            a = aggregate([r for r in results if r["cell"]["family"] == family and r["target"] == target])
            if a:
                print(
                    f"{family} {target:.0e}: geometric mean {a['mean']:.2f}, worst {a['worst']:.2f} ({a['worst_row']})"
                )

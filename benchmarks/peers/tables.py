"""From the records of the cells to rows, and from rows to geometric means, wins and losses.

The best peer of a row is the fastest of those that reach the target. Where none does, the one that came closest counts
with its time at that point, and the row is marked †; if a finer fit of it was cut off, its best point lies beyond, and
the time it was given counts, which is less than it would have needed. Peers that penalize a bias that we leave free are
measured on their own objective and its own optimum, and marked *; they count.
"""

from __future__ import annotations

from collections import defaultdict
from math import exp, inf, log
from statistics import median

from .problems import Cell
from .race import OURS, TARGETS
from .sets import SETS
from .worker import CUT_OFF

NAMED = ("celer", "skglm")  # the specialists for sparse penalties, compared with on their own too


def suboptimality(record, fit, book):
    cell = Cell(**{**record["cell"], "bias": fit["bias"]})
    entry = book.entries.get(cell.key)
    if entry is None or entry["data"] != record["data"] or fit["J"] == inf:
        return inf
    return (fit["J"] - entry["J"]) / entry["J"]


def row(record, book):
    """For each target: ours, every peer at its best level, the best of them and the ratio."""
    cell = Cell(**record["cell"])
    peers = defaultdict(list)
    for fit in record["fits"]:
        peers[fit["peer"]].append(
            {
                "peer": fit["peer"],
                "level": fit["level"],
                "seconds": median(fit["seconds"]),
                "runs": len(fit["seconds"]),
                "rel": suboptimality(record, fit, book),
                "penalized": fit["bias"] != cell.bias,
                "error": fit.get("error", ""),
                "certified": fit.get("certified", False),
            }
        )
    entry = book.entries.get(cell.key, {"J": inf, "D": -inf})
    for target in TARGETS:
        ours = next(fit for fit in peers[OURS] if fit["level"] == target)
        others = [at(fits, target) for name, fits in peers.items() if name != OURS]
        best = best_of(others)
        same = best_of([fit for fit in others if not fit["penalized"]])
        named = best_of([fit for fit in others if fit["peer"].startswith(NAMED)])
        yield {
            "cell": record["cell"],
            "split": SETS[cell.set].split if cell.set in SETS else "",
            "target": target,
            "ours": ours["seconds"],
            "certified": ours["certified"],
            "rel": ours["rel"],
            "optimum_gap": (entry["J"] - entry["D"]) / entry["J"] if entry["J"] < inf else inf,
            "best": best,
            "ratio": best["seconds"] / ours["seconds"] if best else None,
            "same_ratio": same["seconds"] / ours["seconds"] if same else None,  # without those that penalize the bias
            "named_ratio": named["seconds"] / ours["seconds"] if named else None,
            "peers": sorted(others, key=lambda fit: (not fit["reached"], fit["seconds"])),
        }


def at(fits, target):
    """The fit of a peer that counts: the fastest of those that meet the target, repeated ones first."""
    meets = [fit for fit in fits if fit["rel"] <= target]
    meets = [fit for fit in meets if fit["runs"] > 1] or meets
    if meets:
        return {**min(meets, key=lambda fit: fit["seconds"]), "reached": True}
    closest = min(fits, key=lambda fit: (fit["rel"], fit["seconds"]))
    cut_off = [fit["seconds"] for fit in fits if fit["error"] == CUT_OFF]
    return {**closest, "seconds": max(closest["seconds"], *cut_off, 0.0), "reached": False}


def best_of(fits):
    """The fastest that meets the target; the closest, where none does."""
    reached = [fit for fit in fits if fit["reached"]]
    if reached:
        return min(reached, key=lambda fit: fit["seconds"])
    return min((fit for fit in fits if fit["rel"] < inf), key=lambda fit: fit["rel"], default=None)


def mean(ratios):
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else float("nan")


def aggregate(rows):
    """Geometric mean of the ratios, wins, losses and the worst row; rows that we did not certify count as losses."""
    valid = [r for r in rows if r["ratio"] is not None]
    if not valid:
        return None
    worst = min(valid, key=lambda r: r["ratio"])
    return {
        "rows": len(valid),
        "mean": mean([r["ratio"] for r in valid]),
        "same_mean": mean([r["same_ratio"] for r in valid if r["same_ratio"]]),
        "named_mean": mean([r["named_ratio"] for r in valid if r["named_ratio"]]),
        "named_worst": min((r["named_ratio"] for r in valid if r["named_ratio"]), default=float("nan")),
        "wins": sum(r["ratio"] > 1 and r["certified"] for r in valid),
        "losses": sum(r["ratio"] <= 1 or not r["certified"] for r in valid),
        "open": sum(not r["certified"] for r in valid),
        "unreached": sum(not r["best"]["reached"] for r in valid),
        "worst": worst["ratio"],
        "worst_row": "{set}, {strength:g}, bias {bias}".format(**worst["cell"]),
    }

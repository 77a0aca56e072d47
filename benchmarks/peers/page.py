"""The results file, the page and the plots."""

from __future__ import annotations

import json
import time
from collections import defaultdict

from .campaign import machine
from .problems import FAMILIES, Cell
from .race import TARGETS, Rules
from .sets import SETS
from .tables import aggregate, row

NAMES = {
    "hinge": "Hinge, L2",
    "squared_hinge": "Squared hinge, L2",
    "logistic": "Logistic, L2",
    "l1_logistic": "Logistic, L1",
    "lasso": "Lasso",
    "enet": "Elastic net (half L1)",
    "ridge": "Ridge",
}
PROTOCOL = """\
- Time: wall time of one fit, from the same arrays for all (CSR with 32-bit indices, or row-major; float64) to
  coefficients; the conversion to a package's own format is in it. Imports, just-in-time compilation (skglm, celer, the
  conversion of LIBLINEAR) and one tiny fit come before. Every package runs in a process of its own.
- Targets: true relative suboptimality (J - J*)/J*, with J recomputed in float64. A peer counts with the first tolerance
  of a sweep (steps of ten, refined once) that meets the target: the best it could be told to do, known only to those
  who know J*. Ours stops on its own certificate.
- The chosen fits are repeated in turns, at least {repeats} times, and the median counts; peers that take over {near:g}
  times the best time keep that of the sweep, a single one (~). A sweep ends after a fit that took {prune:g} times as
  long as the best peer does to 1e-6. No peer is given more than {far:g} times what ours takes to 1e-6 (or 1 s):
  that bounds the ratios.
- Best peer: the fastest that meets the target. †: none does, so the one that came closest counts, with its time at that
  point, or that of a finer fit of it which was cut off: its best point lies beyond. *: it penalizes the bias, and is
  measured on that objective and its own J*. It counts; the column "same bias" has the geometric mean without such
  peers, "celer, skglm" that against these two alone, with their least ratio.
- J* is the lowest value ever returned; where the best lower bound known is more than 1e-7 (relative) below it, the row
  is marked ?.
- ratio = best peer's time / ours. A row that we do not certify within the cap of {cap:g} s is "open" and a loss.
"""


def write(campaign, options, out):
    out.mkdir(parents=True, exist_ok=True)
    stem = "peers" if options.threads == 1 else f"peers_{options.threads}_threads"
    records = campaign.records()
    rows = [x for record in records for x in row(record, campaign.book)]
    then, kept = earlier(out / f"{stem}.jsonl", rows) if options.keep else ({}, [])
    rows = sorted(rows + kept, key=lambda r: (Cell(**r["cell"]).key, -r["target"]))
    false = then.get("false certificates", []) + [x for record in records for x in record["false"]]
    fits = sum(len(f["seconds"]) for r in records for f in r["fits"] if f["peer"] == "minorant")
    versions = {k: v for r in sorted(records, key=lambda r: r["when"]) for k, v in r["versions"].items()}
    about = {"machine": machine(), "versions": {**then.get("versions", {}), **versions}}
    about |= {"absent": sorted(campaign.absent), "threads": options.threads, "date": time.strftime("%Y-%m-%d")}
    about |= {"certified fits checked": fits + then.get("certified fits checked", 0), "false certificates": false}
    about |= {"rows": len(rows), "rows of earlier runs": len(kept)}
    lines = [json.dumps(about), *(json.dumps(slim(r)) for r in rows)]
    (out / f"{stem}.jsonl").write_text("\n".join(lines) + "\n")
    (out / f"{stem}.md").write_text("\n".join(page(about, rows, options, stem)) + "\n")
    plot(rows, out / f"{stem}.svg")
    print(f"wrote {stem}.jsonl, {stem}.md, {stem}.svg: {len(records)} cells, {len(false)} false certificates")


def earlier(path, rows):
    """What a results file says of its run, and its rows of cells that were not run now."""
    if not path.exists():
        return {}, []
    about, *found = map(json.loads, path.read_text().splitlines())
    now = {Cell(**r["cell"]).key for r in rows}
    kept = [r for r in found if Cell(**r["cell"]).key not in now]
    return about, [{**r, "best": next((p for p in r["peers"] if p["peer"] == r["best"]), None)} for r in kept]


def symbol(spec):
    """What a strength of the family is called."""
    return "C" if spec.ratio == 0 else "λ/λmax"


def strength(cell):
    """The strength of a cell with its name."""
    return f"{symbol(FAMILIES[cell['family']])} = {cell['strength']:g}"


def slim(result):
    """A row for the results file: three digits are what a time has."""

    def short(x):
        return float(f"{x:.3g}")

    peers = [
        {k: short(v) if isinstance(v, float) else v for k, v in fit.items() if k != "certified" and v != ""}
        for fit in result["peers"]
    ]
    plain = {k: short(v) if isinstance(v, float) else v for k, v in result.items() if k not in ("best", "peers")}
    return {**plain, "best": result["best"] and result["best"]["peer"], "peers": peers}


def page(about, rows, options, stem):
    host = about["machine"]
    used = sorted({r["cell"]["set"] for r in rows})
    split = {s: [n for n in used if SETS[n].split == s] for s in ("tuning", "held out")}
    yield from (
        "# Ours against the peers",
        "",
        f"{host['cpu']}, {host['cores']} cores, {host['memory_gib']} GiB, {host['system']}, Python {host['python']}; "
        f"{about['threads']} thread{'s' if about['threads'] > 1 else ''}; {about['date']}. "
        + ", ".join(f"{k} {v}" for k, v in about["versions"].items())
        + (f". Absent: {', '.join(about['absent'])}." if about["absent"] else "."),
        f"{about['rows'] - about['rows of earlier runs']} of {about['rows']} rows are of this run, the others of "
        "earlier ones and of the solvers of then.",
        "",
        PROTOCOL.format(near=Rules.near, **vars(options)),
        f"Certificates: {about['certified fits checked']} fits checked in float64 by formulas of their own, "
        f"**{len(about['false certificates'])} false**.",
        *(f"- FALSE: {x}" for x in about["false certificates"]),
        "",
        f"Tuning sets, looked at while the solvers were made: {', '.join(split['tuning'])}.",
        f"Held-out sets: {', '.join(split['held out'])}.",
        "",
        "## Summary",
        "",
        "| problem | target | rows of | rows | geometric mean | same bias | celer, skglm | wins | losses | open "
        "| no peer | worst |",
        "|---" * 12 + "|",
    )
    groups = defaultdict(list)
    for r in rows:
        for part in ("all", r["split"], strength(r["cell"])):
            groups[r["cell"]["family"], r["target"], part].append(r)
    for family, spec in FAMILIES.items():
        for target in TARGETS:
            for part in ("all", "tuning", "held out", *(f"{symbol(spec)} = {x:g}" for x in sorted(spec.strengths))):
                a = aggregate(groups[family, target, part])
                if a:
                    cells = [NAMES[family], f"{target:.0e}", part, a["rows"], f"**{a['mean']:.2f}**"]
                    named = f"{a['named_mean']:.2f} ({a['named_worst']:.2f})"
                    cells += [f"{a['same_mean']:.2f}", named if a["named_mean"] == a["named_mean"] else "-"]
                    cells += [a["wins"], a["losses"], a["open"], a["unreached"]]
                    cells += [f"{a['worst']:.2f} ({a['worst_row']})"]
                    yield "| " + " | ".join(map(str, cells)) + " |"
    yield from ("", f"![ratios]({stem}.svg)", "")
    for family, spec in FAMILIES.items():
        mine = [r for r in rows if r["cell"]["family"] == family]
        if not mine:
            continue
        yield from (
            f"## {NAMES[family]}",
            "",
            f"| set | {symbol(spec)} | bias | target | ours, s | best peer, s | ratio | next peers, s |",
            "|---|---|---|---|---|---|---|---|",
            *(line(r) for r in mine),
            "",
        )


def line(r):
    cell, best = r["cell"], r["best"]
    held = " (h)" if r["split"] == "held out" else ""
    doubt = " ?" if r["optimum_gap"] > 1e-7 else ""
    ours = f"{r['ours']:.3g}" + ("" if r["certified"] else " open")
    ratio = "–" if r["ratio"] is None else f"**{r['ratio']:.2f}**" if r["ratio"] > 1 else f"{r['ratio']:.2f}"
    others = [p for p in r["peers"] if best and p["peer"] != best["peer"] and p["rel"] < float("inf")]
    return (
        f"| {cell['set']}{held}{doubt} | {cell['strength']:g} | {cell['bias']} | {r['target']:.0e} | {ours} "
        f"| {peer(best)} | {ratio} | {'; '.join(peer(p) for p in others[:3])} |"
    )


def peer(fit):
    if fit is None:
        return "–"
    marks = ("*" if fit["penalized"] else "") + ("" if fit["reached"] else f"† ({fit['rel']:.0e})")
    single = "~" if fit["runs"] == 1 else ""
    return f"{fit['peer']} {single}{fit['seconds']:.3g}{marks}"


def plot(rows, path):
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 8})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    families = [f for f in FAMILIES if any(r["cell"]["family"] == f and r["ratio"] for r in rows)]
    if not families:
        return
    figure, axes = plt.subplots(1, len(TARGETS), figsize=(9, 0.7 * len(families) + 1), sharey=True, squeeze=False)
    colors = {"tuning": "tab:blue", "held out": "tab:orange"}
    for ax, target in zip(axes[0], TARGETS, strict=True):
        for k, family in enumerate(families):
            for split, color in colors.items():
                mine = [r for r in rows if r["cell"]["family"] == family and r["target"] == target and r["ratio"]]
                mine = [r for r in mine if r["split"] == split]
                height = k + (0.12 if split == "tuning" else -0.12)
                for solid in (True, False):
                    x = [r["ratio"] for r in mine if r["certified"] == solid]
                    ax.plot(x, [height] * len(x), "o" if solid else "x", color=color, alpha=0.5, ms=4)
                a = aggregate(mine)
                if a:
                    ax.plot([a["mean"]], [height], "|", color="black", ms=14)
        ax.axvline(1.0, color="gray", lw=0.8)
        ax.set(xscale="log", title=f"to {target:.0e}", xlabel="best peer's time / ours")
        ax.set_yticks(range(len(families)), [NAMES[f] for f in families])
    for split, color in colors.items():
        axes[0, 0].plot([], [], "o", color=color, label=split)
    axes[0, 0].plot([], [], "|", color="black", ms=14, label="geometric mean")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=3, fontsize=7)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

"""One cell: the optimum J*, a sweep of every peer's levels, and repeats of the chosen levels, taking turns.

A peer's time to a level of suboptimality is that of its first (coarsest) tolerance whose solution meets it, tried in
steps of ten and once more halfway (in logarithms) between the last that fails and the first that meets. Ours stops on
its own certificate. J* is the lowest J that anyone ever returned, D* the highest lower bound that anyone proved; both
are kept in a file and get better over time, so suboptimalities are computed from J when the page is written.

Time goes to those who can win: a sweep ends after a fit that took `prune` times what the best peer needs for the finest
target, and no peer is given more than `far` times what ours takes to its certificate, which can only help the peer.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp

from . import problems
from .sets import stored

TARGETS = (1e-3, 1e-6)
TIGHT = 1e-8  # the relative gap at which J* is good enough
OURS = "minorant"
TRUSTED = {OURS: 0, "rehline": 1, "ll_s0": 1, "ll_s2": 1, "sk_newton_cholesky": 1, "skglm": 1}  # the order for J*


class Book:
    """J* and D* of every problem, in a file."""

    def __init__(self, path):
        self.path = Path(path)
        self.entries = json.loads(self.path.read_text()) if self.path.exists() else {}
        for entry in self.entries.values():
            entry["D"] = -inf if entry["D"] is None else entry["D"]

    def get(self, problem, X):
        found = self.entries.get(problem.cell.key)
        if found is None or found["data"] != fingerprint(X):
            found = {"J": inf, "D": -inf, "data": fingerprint(X), "by": ""}
        return found

    def note(self, problem, X, J, D, by):
        entry = dict(self.get(problem, X))
        if entry["J"] > J:
            entry.update(J=J, by=by)
        entry["D"] = max(entry["D"], D)
        self.entries[problem.cell.key] = entry

    def gap(self, problem, X):
        entry = self.get(problem, X)
        return (entry["J"] - entry["D"]) / entry["J"] if entry["J"] < inf else inf

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        known = {key: e for key, e in sorted(self.entries.items()) if e["J"] < inf}
        text = json.dumps({k: {**e, "D": None if e["D"] == -inf else e["D"]} for k, e in known.items()}, indent=0)
        temporary = self.path.with_suffix(".part")
        temporary.write_text(text)
        os.replace(temporary, self.path)


def fingerprint(X):
    values = X.data if sp.issparse(X) else X
    return f"{X.shape[0]}x{X.shape[1]}:{stored(X)[0]}:{float(np.abs(values).sum()):.9g}"


@dataclass(frozen=True)
class Rules:
    cap: float = 30.0  # seconds of a fit
    prune: float = 5.0  # times the best peer's time to the finest target: after a fit as long as that, none follows
    far: float = 100.0  # times ours, beyond which it does not matter how far behind a peer is
    least: float = 1.0  # seconds that every fit is given
    repeats: int = 5
    near: float = 2.0  # peers within this factor of the best are timed again, the others keep their single time


class Race:
    """All fits of one cell. `workers` are those of the packages that are present."""

    def __init__(self, cell, store, workers, book, rules, say):
        self.X, self.y = store.load(cell.set)
        self.problem = problems.problem(cell, self.X, self.y)
        self.sparse = sp.issparse(self.X)
        self.workers, self.book, self.rules, self.say = workers, book, rules, say
        self.entries = {}  # (peer, level): {"J", "seconds": [...], ...}
        self.false = []

    def _fit(self, worker, offer, level, cap):
        problem = self._of(offer)
        answer = worker.fit(offer, problem, level, self.sparse, cap)
        entry = self.entries.setdefault(
            (offer["name"], level), {"seconds": [], "J": inf, "bias": offer["bias"], "passes": offer["passes"]}
        )
        entry["seconds"].append(answer.get("seconds", cap))
        if "error" in answer:
            entry["error"] = answer["error"]
            return entry
        w, b = answer["w"], answer["b"]
        if w.shape != (self.X.shape[1],):
            entry["error"] = f"coefficients of shape {w.shape}"
            return entry
        entry["J"] = problems.primal(problem, self.X, self.y, w, b)
        lower = -inf
        if answer["claim"]:
            entry["certified"] = answer["claim"]["certified"]
            entry["gap"] = (answer["claim"]["primal"] - answer["claim"]["dual"]) / answer["claim"]["primal"]
            found = problems.wrong(problem, self.X, self.y, w, b, answer["claim"], level)
            best = self.book.get(problem, self.X)["J"]
            if answer["claim"]["dual"] > best * (1 + problems.ROUNDING):
                found.append(f"the lower bound {answer['claim']['dual']!r} is above a known value {best!r}")
            self.false += [f"{problem.cell.key} at {level:g}: {x}" for x in found]
            lower = -inf if found else answer["claim"]["dual"]
        if len(entry["seconds"]) == 1 or self.book.gap(problem, self.X) > TIGHT:
            lower = max(lower, problems.bound(problem, self.X, self.y, w, b, answer["slopes"]))
        self.book.note(problem, self.X, entry["J"], lower, offer["name"])
        return entry

    def _of(self, offer):
        """The problem that the offer solves."""
        return replace(self.problem, cell=replace(self.problem.cell, bias=offer["bias"]))

    def _offers(self):
        return [(w, o) for w in self.workers for o in w.offers(self.problem, self.X.shape)]

    def rel(self, entry):
        """The true relative suboptimality, of the objective that was minimized."""
        best = self.book.get(self._of(entry), self.X)["J"]
        return (entry["J"] - best) / best if entry["J"] < inf else inf

    def reference(self):
        """Bring J* and D* within TIGHT of each other, or as close as the packages can within the cap."""
        offers = self._offers()
        for bias in sorted({o["bias"] for _, o in offers}):
            able = [(w, o) for w, o in offers if o["bias"] == bias and not o["passes"]]
            mine = next(((w, o) for w, o in offers if o["name"] == OURS), None)
            if mine is not None and bias != self.problem.bias:
                able.append((mine[0], {**mine[1], "bias": bias}))
            for worker, offer in sorted(able, key=lambda pair: TRUSTED.get(pair[1]["name"], 2)):
                if self.book.gap(self._of(offer), self.X) > TIGHT:
                    levels = (1e-9,) if offer["name"] == OURS else offer["levels"][-1:-4:-2]
                    for level in levels:
                        if "error" not in self._fit(worker, offer, level, self.rules.cap):
                            break
            gap = self.book.gap(self._of({"bias": bias}), self.X)
            self.say(f"  J* ({bias} bias): relative gap {gap:.1e}")
        self.entries.clear()

    def run(self):
        for worker, offer in self._offers():
            if offer["name"] == OURS:
                for level in offer["levels"]:
                    self._fit(worker, offer, level, self.rules.cap)
            else:
                self._sweep(worker, offer)
        self._repeat()

    def _sweep(self, worker, offer):
        before, spent, open_targets = None, 0.0, list(TARGETS)
        stalled = 0
        for level in offer["levels"]:
            best = self._best(TARGETS[-1])
            cap = min(self.rules.cap, max(self.rules.least, min(self.rules.prune * best, self._far())))
            if offer["passes"] and before is not None and spent * level / before[0] > 2 * cap:
                break  # as many passes take longer than they are given
            entry = self._fit(worker, offer, level, cap)
            spent += entry["seconds"][0]
            if "error" in entry:
                break
            met = [t for t in open_targets if self.rel(entry) <= t]
            if met and before is not None:
                between = float(np.sqrt(before[0] * level))
                self._fit(worker, offer, round(between) if offer["passes"] else between, cap)
            open_targets = [t for t in open_targets if t not in met]
            stalled = stalled + 1 if before is not None and entry["J"] >= before[1] * (1 - 1e-12) else 0
            slow = entry["seconds"][0] > self.rules.prune * self._best(TARGETS[-1])
            if not open_targets or stalled == 3 or slow or spent > 2 * cap:
                break
            before = (level, entry["J"])

    def _far(self):
        ours = self.entries.get((OURS, TARGETS[-1]), {})
        return self.rules.far * ours["seconds"][0] if ours.get("certified") else inf

    def _names(self):
        return list(dict.fromkeys(name for name, _ in self.entries))

    def chosen(self, name, target):
        """The level of a peer for a target: (level, reached)."""
        mine = {level: e for (peer, level), e in self.entries.items() if peer == name}
        if name == OURS:
            return target, mine[target].get("certified", False)
        meets = {level: e for level, e in mine.items() if self.rel(e) <= target}
        if meets:
            return self._coarsest(meets), True
        return min(mine, key=lambda level: (mine[level]["J"], median(mine[level]["seconds"]))), False

    @staticmethod
    def _coarsest(entries):
        return min(entries, key=lambda level: level if entries[level]["passes"] else -level)

    def _best(self, target):
        times = [inf]
        for name in self._names():
            level, reached = self.chosen(name, target) if name != OURS else (None, False)
            if reached:
                times.append(median(self.entries[name, level]["seconds"]))
        return min(times)

    def _repeat(self):
        """Everything that could be the best, again and in turns; the sweep's own (cold) times are dropped."""
        offers = {o["name"]: (w, o) for w, o in self._offers()}
        runners = set()
        for target in TARGETS:
            best = self._best(target)
            picks = {name: self.chosen(name, target) for name in self._names()}
            for name, (level, reached) in picks.items():
                close = median(self.entries[name, level]["seconds"]) <= self.rules.near * best
                if name == OURS or (reached and close):
                    runners.add((name, level))
            peers = {name: self.entries[name, level] for name, (level, _) in picks.items() if name != OURS}
            if best == inf and peers:  # no peer got there: the closest one counts
                closest = min(peers, key=lambda name: self.rel(peers[name]))
                if peers[closest]["J"] < inf:
                    runners.add((closest, picks[closest][0]))
        runners = sorted(runners)
        total = sum(self.entries[r]["seconds"][0] for r in runners)
        rounds = max(self.rules.repeats, min(25, int(0.5 / max(total, 1e-6))))
        for r in runners:
            self.entries[r]["seconds"] = []
        for k in range(rounds):
            turn = k % max(1, len(runners))
            for name, level in (*runners[turn:], *runners[:turn]):
                worker, offer = offers[name]
                self._fit(worker, offer, level, self.rules.cap)

    def record(self):
        nnz, size = stored(self.X)
        return {
            "cell": vars(self.problem.cell),
            "shape": [*self.X.shape],
            "nnz": int(nnz),
            "bytes": int(size),
            "sparse": self.sparse,
            "data": fingerprint(self.X),
            "fits": [{"peer": name, "level": level, **e} for (name, level), e in self.entries.items()],
            "false": self.false,
        }

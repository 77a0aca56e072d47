"""Several classes: one against the rest with one and two threads, and the multinomial loss, against scikit-learn.

    one against the rest    Σ_k (½‖w_k‖² + C Σ_i [1 - y_ik ⟨x_i, w_k⟩]₊),  no bias: the same problem for all
    multinomial             ½‖W‖² + C Σ_i (log Σ_k exp s_ik - s_iy),  s = X Wᵀ + b,  b free

Ours stops on its certificates, which NumPy alone verifies. A peer counts with the coarsest tolerance (steps of ten)
that gets its J within the target of the lowest J known, repeated in turns with ours; medians count.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from math import inf
from statistics import median

import numpy as np
from scipy.special import logsumexp
from sklearn import linear_model, svm

from minorant import LinearSVC, LogisticRegression

from .race import TARGETS
from .sets import SETS, labels_of

CLASSES = {  # of which a set of the race is one against the rest
    "digits": "digits8",
    "letter": "letter_a",
    "news20": "news20_1",
    "newsgroups": "news_comp",
    "mnist": "mnist0",
}
LEVELS = tuple(10.0**-k for k in range(1, 9))


def hinge_sum(model, X, y):
    margins = (X @ model.coef_.T) * np.where(y[:, None] == model.classes_, 1.0, -1.0)
    return 0.5 * float((model.coef_**2).sum()) + float(np.maximum(0, 1 - margins).sum())


def multinomial(model, X, y):
    scores = X @ model.coef_.T + model.intercept_
    own = scores[np.arange(y.size), np.searchsorted(model.classes_, y)]
    return 0.5 * float((model.coef_**2).sum()) + float((logsumexp(scores, axis=1) - own).sum())


def contests(n, p, k):
    """Name, J, ours by threads, peers: each takes a tolerance."""
    svc = partial(svm.LinearSVC, loss="hinge", fit_intercept=False, max_iter=10**7, random_state=0)
    yield "one against the rest, hinge", hinge_sum, partial(LinearSVC, fit_intercept=False), {"LinearSVC": svc}
    peers = {"lbfgs": partial(linear_model.LogisticRegression, max_iter=10**5)}
    if p * k <= 2000:
        peers["newton-cholesky"] = partial(linear_model.LogisticRegression, solver="newton-cholesky", max_iter=1000)
    yield "multinomial", multinomial, LogisticRegression, peers


def timed(make, X, y):
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, y)
    return time.perf_counter() - began, model


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes() if np.ndim(model.intercept_) else model.coef_.tobytes()


def chosen(value, known, peers, X, y, cap):
    """The coarsest tolerance of each peer that meets each target."""
    tried = {}
    for name, make in peers.items():
        for level in LEVELS:
            seconds, model = timed(partial(make, tol=level), X, y)
            tried[name, level] = value(model, X, y)
            known = min(known, tried[name, level])
            if tried[name, level] <= known * (1 + 0.1 * TARGETS[-1]) or seconds > cap:
                break

    def coarsest(name, target):
        return max((at for (peer, at), J in tried.items() if peer == name and known * (1 + target) >= J), default=None)

    return {(name, target): coarsest(name, target) for name in peers for target in TARGETS}


def classes(campaign, options):
    yield from (
        "# Several classes",
        "",
        "C = 1. One against the rest has no bias, and is fitted by one and two threads; multinomial has free biases.",
        "Peers are scikit-learn's, of the same objective, at the coarsest tolerance that meets the target; one thread.",
        "Every certificate was verified by NumPy alone. –: the peer does not get there.",
        "",
        "| set | rows x columns, classes | problem | target | 1 thread, s | 2 threads, s | 1 / 2 | same bits "
        "| best peer, s | ratio |",
        "|---" * 10 + "|",
    )
    for name, source in CLASSES.items():
        if not campaign.store.available(source) or (options.sets and name not in options.sets.split(",")):
            continue
        X, y = labels_of(SETS[source], campaign.store.data)
        shape = f"{X.shape[0]} x {X.shape[1]}, {np.unique(y).size}"
        for title, value, ours, peers in contests(*X.shape, np.unique(y).size):
            models = {t: timed(partial(ours, tol=t / 10, n_jobs=1), X, y)[1] for t in TARGETS}
            levels = chosen(value, min(value(m, X, y) for m in models.values()), peers, X, y, options.cap)
            for target in TARGETS:
                yield contest(name, shape, title, target, ours, peers, levels, X, y, options)
        del X, y


def contest(name, shape, title, target, ours, peers, levels, X, y, options):
    makers = {"1": partial(ours, tol=target, n_jobs=1), "2": partial(ours, tol=target, n_jobs=2)}
    makers |= {p: partial(make, tol=levels[p, target]) for p, make in peers.items() if levels[p, target]}
    times, models = {k: [] for k in makers}, {}
    for _ in range(options.repeats):
        for key, make in makers.items():
            seconds, models[key] = timed(make, X, y)
            times[key].append(seconds)
    for proof in np.ravel(models["1"].certificate_):
        assert proof.verify(X, y).relative_gap <= target * (1 + 1e-6), (name, title, target)
    best = min(((median(t), k) for k, t in times.items() if k not in "12"), default=(inf, "–"))
    one, two = median(times["1"]), median(times["2"])
    same = "yes" if bits(models["1"]) == bits(models["2"]) else "NO"
    peer, ratio = (f"{best[1]} {best[0]:.3g}", f"{best[0] / one:.2f}") if best[0] < inf else ("–", "–")
    line = f"| {name} | {shape} | {title} | {target:.0e} | {one:.3g} | {two:.3g} | {one / two:.2f} | {same} "
    line += f"| {peer} | {ratio} |"
    print(line, flush=True)
    return line

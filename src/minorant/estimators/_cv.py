"""Cross-validation along a path of strengths of the penalty.

In every fold the points are fitted from the strongest penalty to the weakest, each from the solution before it: the
dual point stays feasible when only the strength changes, so every start has a finite gap, and every point ends with a
certificate of its own. The model is then fitted to all data at the best point.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets

from minorant.certificate import Status
from minorant.errors import InputError
from minorant.estimators._base import SOLVING, NotCertified, sample_weights, validated, warn_if_open

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]
    Score = Callable[[Any, Any, Any, Any], float]  # of a fitted model on X, y and weights or None

__all__ = ["SEARCHING", "ClassifierSearch", "Search", "strengths"]

logger = logging.getLogger("minorant")

SEARCHING: dict[str, list[Any]] = {
    **{name: allowed for name, allowed in SOLVING.items() if name != "warm_start"},
    "cv": ["cv_object"],
}


@dataclass(frozen=True, eq=False)
class Paths:
    """Scores and relative gaps, a row for each fold, and what there is to warn of."""

    scores: Vector
    gaps: Vector
    n_open: int
    worst: tuple[Any, Any] | None  # the certificate and the trace of the widest open gap


class Search:
    """Mixed into a linear estimator: fits it along the path of its parameter `_strength`, and chooses.

    `_model` is the estimator of one point; parameters of the same name are handed on to it.
    """

    _model: ClassVar[type]
    _strength: ClassVar[str]
    max_gap_path_: Vector

    def _point(self, **changes: Any) -> Any:
        own: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        names = self._model().get_params()
        return self._model(**{name: value for name, value in own.items() if name in names} | changes)

    def _paths(self, X: Any, y: Any, weight: Vector | None, values: Vector, score: Score) -> Paths:
        """Fit the points in the order of `values` in every fold."""
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))  # type: ignore[attr-defined]
        verbose: int = self.verbose  # type: ignore[attr-defined]
        scores, gaps = np.empty((len(folds), values.size)), np.empty((len(folds), values.size))
        n_open, worst, widest = 0, None, 0.0
        for fold, (train, test) in enumerate(folds):
            _check_weights(fold, weight, train, test)
            model = self._point(warm_start=True, verbose=max(0, verbose - 1))
            at = None if weight is None else weight[test]
            for i, value in enumerate(values):
                model.set_params(**{self._strength: value})
                _fit_quietly(model, X[train], y[train], None if weight is None else weight[train])
                certificates, traces = _listed(model.certificate_), _listed(model.trace_)
                scores[fold, i] = score(model, X[test], y[test], at)
                gaps[fold, i] = max(c.relative_gap for c in certificates)
                for c, trace in zip(certificates, traces, strict=True):
                    if c.status is not Status.CERTIFIED:
                        n_open += 1
                        if c.relative_gap >= widest:
                            widest, worst = c.relative_gap, (c, trace)
                if verbose:
                    message = "fold %d of %d, %s = %.4g: score %.6g, relative gap %.1e"
                    logger.info(message, fold + 1, len(folds), self._strength, value, scores[fold, i], gaps[fold, i])
        return Paths(scores, gaps, n_open, worst)

    def _refit(self, X: Any, y: Any, weight: Vector | None, value: float, paths: Paths) -> None:
        """Fit all data at the best point, take over what that leaves behind, and warn of gaps left open."""
        final = self._point(**{self._strength: value})
        _fit_quietly(final, X, y, weight)
        for name, attribute in vars(final).items():
            if name.endswith("_"):
                setattr(self, name, attribute)
        limits = final.tol, final.max_iter
        warn_if_open(_listed(final.certificate_), _listed(final.trace_), *limits, stacklevel=5)
        if paths.worst is not None:
            where = f" in {paths.n_open} fits of the cross-validation, of which this is the worst"
            warn_if_open([paths.worst[0]], [paths.worst[1]], *limits, where=where, stacklevel=5)


class ClassifierSearch(Search):
    """The choice of C by a score to be high; the classifier that it is mixed into has `Cs`, `cv` and `scoring`."""

    _strength = "C"
    _grid: ClassVar[tuple[float, float]] = (1e-4, 1e4)
    scores_: Vector
    Cs_: Vector
    C_: float

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, **_: Any) -> None:
        X, y = validated(self, X, y)
        check_classification_targets(y)
        weight = None if sample_weight is None else sample_weights(X, sample_weight)
        self.Cs_ = strengths("Cs", self.Cs, lambda n: np.geomspace(*self._grid, n))  # type: ignore[attr-defined]
        order = np.argsort(self.Cs_, kind="stable")  # the largest λ first
        scorer = get_scorer(self.scoring or "accuracy")  # type: ignore[attr-defined]
        paths = self._paths(X, y, weight, self.Cs_[order], weighted(scorer))
        back = np.argsort(order)
        self.scores_, self.max_gap_path_ = paths.scores[:, back], paths.gaps[:, back]
        self.C_ = float(self.Cs_[self.scores_.mean(axis=0).argmax()])
        self._refit(X, y, weight, self.C_, paths)


def strengths(name: str, values: Any, grid: Callable[[int], Any]) -> Vector:
    """The values given, or a grid of so many."""
    if isinstance(values, int | np.integer):
        return np.asarray(grid(int(values)), dtype=np.float64)
    try:
        points = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 1 or points.size == 0 or not (np.isfinite(points) & (points > 0)).all():
        raise InputError(f"{name} must be a number of points or a list of finite numbers > 0; got {values!r}")
    return points


def weighted(scorer: Any) -> Score:
    """The scorer with weights, where there are any and it takes them."""
    parameters = signature(scorer).parameters
    takes = "sample_weight" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())

    def score(model: Any, X: Any, y: Any, weight: Any) -> float:
        return float(scorer(model, X, y, sample_weight=weight) if takes and weight is not None else scorer(model, X, y))

    return score


def _check_weights(fold: int, weight: Vector | None, train: Any, test: Any) -> None:
    if weight is not None and not (weight[train].any() and weight[test].any()):
        raise InputError(f"fold {fold + 1} has no example of positive weight to fit or to score; pass another cv")


def _fit_quietly(model: Any, X: Any, y: Any, weight: Vector | None) -> None:
    """A fit whose open gap is not warned of here, but where the search ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertified)
        model.fit(X, y, sample_weight=weight)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]

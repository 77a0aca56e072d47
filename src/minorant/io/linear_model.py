"""The file of a linear SVM: the model, and the dual point that proves how good it is.

Row r of `coef` (k rows) separates one class from the rest; two classes need one row, and classes[1] is its
positive one. With c the weights (1/n where absent), y = ±1 and s_i = y_i (⟨coef_r, x_i⟩ + intercept_r),

    J = lam/2 ‖coef_r‖² + Σ c_i [1 - s_i]_+   ≥   min J   ≥   D = Σ alpha_ri - 1/(2 lam) ‖Σ alpha_ri y_i x_i‖²

for every 0 ≤ alpha_r ≤ c, with Σ alpha_ri y_i = 0 where the intercept is fitted.

Tensors: coef (k, p), intercept (k,), alpha (k, n), weights (n,) if not uniform. The description has the rest.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import metadata
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from minorant.errors import InputError
from minorant.io.model import load_model, save_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LinearModel"]

_CERTIFICATE = ("primal", "dual", "status", "n_products")
_META = ("lam", "fit_intercept", "classes", "certificates", "n_features", "version")


def _version() -> str:
    try:
        return metadata.version("minorant")
    except metadata.PackageNotFoundError:  # running from a source tree
        return "unknown"


@dataclass(frozen=True)
class LinearModel:
    """A fitted linear SVM as a file holds it; every instance has passed the checks of the format.

    Parameters
    ----------
    coef : array of shape (k, n_features), float32 or float64
    intercept : array of shape (k,), float32 or float64
    alpha : array of shape (k, n_rows), float64
        One dual point per row of `coef`.
    lam : float
        Strength of the regularizer, in J = lam/2 ‖w‖² + Σ c_i hinge_i.
    fit_intercept : bool
    classes : list of numbers or of strings
    certificates : list of dicts
        One per row of `coef`, with `primal`, `dual`, `status` and `n_products`.
    weights : array of shape (n_rows,), float64, optional
        The c_i, which sum to 1; absent where they are all 1/n_rows.
    tol : float, optional
        The relative gap that was asked for.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    """

    coef: NDArray[Any]
    intercept: NDArray[Any]
    alpha: NDArray[np.float64]
    lam: float
    fit_intercept: bool
    classes: list[Any]
    certificates: list[dict[str, Any]]
    weights: NDArray[np.float64] | None = None
    tol: float | None = None
    version: str = field(default_factory=_version)

    def __post_init__(self) -> None:
        _check_classes(self.classes)
        k = 1 if len(self.classes) == 2 else len(self.classes)
        real = (np.float32, np.float64)
        _, p = _check_tensor("coef", self.coef, real, (k, None))
        _check_tensor("intercept", self.intercept, real, (k,))
        _, n = _check_tensor("alpha", self.alpha, (np.float64,), (k, None))
        if p == 0 or n == 0:
            raise InputError(f"a model needs features and rows; got {p} features and {n} rows")
        if self.weights is not None:
            _check_tensor("weights", self.weights, (np.float64,), (n,))
            if self.weights.min() < 0 or abs(self.weights.sum() - 1.0) > 1e-9:
                raise InputError("weights must be nonnegative and sum to 1")
        if not (_is_number(self.lam) and self.lam > 0):
            raise InputError(f"lam must be a positive number; got {self.lam!r}")
        if not isinstance(self.fit_intercept, bool):
            raise InputError(f"fit_intercept must be True or False; got {self.fit_intercept!r}")
        if self.tol is not None and not (_is_number(self.tol) and self.tol >= 0):
            raise InputError(f"tol must be a number ≥ 0; got {self.tol!r}")
        if not isinstance(self.version, str):
            raise InputError(f"version must be a string; got {self.version!r}")
        _check_certificates(self.certificates, k)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model; a file that is there is replaced in one step."""
        tensors = {"coef": self.coef, "intercept": self.intercept, "alpha": self.alpha}
        if self.weights is not None:
            tensors["weights"] = self.weights
        meta = {
            "model": "linear_svc",
            "loss": "hinge",
            "penalty": "l2",
            "lam": self.lam,
            "fit_intercept": self.fit_intercept,
            "classes": self.classes,
            "certificates": self.certificates,
            "n_features": int(self.coef.shape[1]),
            "version": self.version,
        }
        if self.tol is not None:
            meta["tol"] = self.tol
        save_model(path, tensors, meta)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LinearModel:
        """Read a model; an InputError names the file and what is wrong with it."""
        tensors, meta = load_model(path)
        try:
            return cls._from_parts(tensors, meta)
        except InputError as error:
            raise InputError(f"{os.fspath(path)}: not a usable model file: {error}") from None

    @classmethod
    def _from_parts(cls, tensors: dict[str, NDArray[Any]], meta: dict[str, Any]) -> LinearModel:
        for key, known in {"model": "linear_svc", "loss": "hinge", "penalty": "l2"}.items():
            if meta.get(key) != known:
                raise InputError(f"{key} is {meta.get(key)!r}; this version reads {known!r}")
        missing = [f"description {key!r}" for key in _META if key not in meta]
        missing += [f"tensor {name!r}" for name in ("coef", "intercept", "alpha") if name not in tensors]
        if missing:
            raise InputError(f"{missing[0]} is missing")
        given = {key: meta[key] for key in _META if key != "n_features"}
        model = cls(
            coef=tensors["coef"],
            intercept=tensors["intercept"],
            alpha=tensors["alpha"],
            weights=tensors.get("weights"),
            tol=meta.get("tol"),
            **given,
        )
        if meta["n_features"] != model.coef.shape[1]:
            raise InputError(
                f"n_features is {meta['n_features']!r}, but coef has {model.coef.shape[1]} columns"
            )
        return model


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) <= float_info.max  # type: ignore[arg-type]


def _check_tensor(
    name: str, tensor: object, types: tuple[type, ...], shape: tuple[int | None, ...]
) -> tuple[int, ...]:
    wanted = " or ".join(kind.__name__ for kind in types)
    if not isinstance(tensor, np.ndarray) or tensor.dtype not in types:
        raise InputError(f"{name} must be an array of {wanted}; got {getattr(tensor, 'dtype', type(tensor))}")
    fits = tensor.ndim == len(shape) and all(w in (None, g) for g, w in zip(tensor.shape, shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"{name} must have shape ({wanted}); got {tensor.shape}")
    if not np.isfinite(tensor).all():
        raise InputError(f"{name} has values that are not finite")
    return tuple(tensor.shape)


def _check_classes(classes: object) -> None:
    if not isinstance(classes, list) or len(classes) < 2:
        raise InputError(f"classes must be a list of at least two labels; got {classes!r:.80}")
    texts = all(isinstance(label, str) for label in classes)
    numbers = all(isinstance(label, bool) or _is_number(label) for label in classes)
    if not (texts or numbers) or len(set(classes)) < len(classes):
        raise InputError("classes must be distinct, and all numbers or all strings")


def _check_certificates(certificates: object, k: int) -> None:
    if not isinstance(certificates, list) or len(certificates) != k:
        raise InputError(f"certificates must be a list with one entry per row of coef, {k}")
    for entry in certificates:
        if not isinstance(entry, dict) or set(entry) != set(_CERTIFICATE):
            raise InputError(f"a certificate must have exactly the entries {', '.join(_CERTIFICATE)}")
        sound = _is_number(entry["primal"]) and _is_number(entry["dual"])
        if not (sound and isinstance(entry["status"], str) and type(entry["n_products"]) is int):
            raise InputError(
                "a certificate needs numbers primal and dual, a text status and an integer n_products"
            )

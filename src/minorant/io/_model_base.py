"""What the files of all fitted linear models have in common, and the checks of their parts."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import metadata
from sys import float_info
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from minorant.errors import InputError
from minorant.io.model import load_model, save_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[Any]]

_CERTIFICATE = ("primal", "dual", "status", "n_products")
_META = ("model", "lam", "classes", "certificates", "n_features", "version")
REAL = (np.float32, np.float64)


def _version() -> str:
    try:
        return metadata.version("minorant")
    except metadata.PackageNotFoundError:  # running from a source tree
        return "unknown"


@dataclass(frozen=True, kw_only=True)
class FittedModel(ABC):
    """Scores `coef @ x + intercept`, the classes they stand for, and what is claimed and proved of them."""

    coef: NDArray[Any]
    intercept: NDArray[Any]
    lam: float
    classes: list[Any] | None
    certificates: list[dict[str, Any]]
    tol: float | None = None
    version: str = field(default_factory=_version)

    @abstractmethod
    def _tensors(self) -> Tensors:
        """The arrays of the proof."""

    @abstractmethod
    def _description(self) -> dict[str, Any]:
        """What is minimized."""

    @classmethod
    @abstractmethod
    def _parts(cls, tensors: Tensors, meta: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the constructor that a file of this kind alone has."""

    def _check_scores(self, rows: int, certificates: int) -> int:
        """Check what all models have, for so many rows of coef; the number of features."""
        _, p = check_tensor("coef", self.coef, REAL, (rows, None))
        check_tensor("intercept", self.intercept, REAL, (rows,))
        if not (is_number(self.lam) and self.lam > 0):
            raise InputError(f"lam must be a positive number; got {self.lam!r}")
        if self.tol is not None and not (is_number(self.tol) and self.tol >= 0):
            raise InputError(f"tol must be a number ≥ 0; got {self.tol!r}")
        if not isinstance(self.version, str):
            raise InputError(f"version must be a string; got {self.version!r}")
        _check_certificates(self.certificates, certificates)
        return p

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model; a file that is there is replaced in one step."""
        meta = {
            **self._description(),
            "lam": self.lam,
            "classes": self.classes,
            "certificates": self.certificates,
            "n_features": int(self.coef.shape[1]),
            "version": self.version,
        }
        if self.tol is not None:
            meta["tol"] = self.tol
        save_model(path, {"coef": self.coef, "intercept": self.intercept, **self._tensors()}, meta)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model; an InputError names the file and what is wrong with it."""
        return cls.from_file(path, *load_model(path))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], tensors: Tensors, meta: dict[str, Any]) -> Self:
        """The model that a file holds."""
        try:
            return cls._assemble(tensors, meta)
        except InputError as error:
            raise InputError(f"{os.fspath(path)}: not a usable model file: {error}") from None

    @classmethod
    def _assemble(cls, tensors: Tensors, meta: dict[str, Any]) -> Self:
        need(meta, _META, "description")
        need(tensors, ("coef", "intercept"), "tensor")
        given = {key: meta[key] for key in ("lam", "classes", "certificates", "version")}
        given |= {"coef": tensors["coef"], "intercept": tensors["intercept"], "tol": meta.get("tol")}
        model = cls(**given, **cls._parts(tensors, meta))
        if meta["n_features"] != model.coef.shape[1]:
            raise InputError(f"n_features is {meta['n_features']!r}, but coef has {model.coef.shape[1]} columns")
        return model


def need(parts: dict[str, Any], names: tuple[str, ...], kind: str) -> None:
    """Refuse a file without one of the names."""
    for name in names:
        if name not in parts:
            raise InputError(f"{kind} {name!r} is missing")


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a word that this version does not know."""
    if value not in allowed:
        raise InputError(f"{name} is {value!r:.60}; this version reads {' or '.join(map(repr, allowed))}")


def is_number(value: object) -> bool:
    """Whether it is a finite int or float, no bool."""
    return type(value) in (int, float) and abs(value) <= float_info.max  # type: ignore[arg-type]


def check_flag(name: str, value: object) -> None:
    """Refuse what is not True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False; got {value!r:.60}")


def check_tensor(name: str, tensor: object, types: tuple[type, ...], shape: tuple[int | None, ...]) -> tuple[int, ...]:
    """The shape of the tensor, which must have one of the types, that shape (None: any) and finite values."""
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


def check_classes(classes: object) -> int:
    """The number of classes, all numbers or all strings."""
    if not isinstance(classes, list) or len(classes) < 2:
        raise InputError(f"classes must be a list of at least two labels; got {classes!r:.80}")
    texts = all(isinstance(label, str) for label in classes)
    numbers = all(isinstance(label, bool) or is_number(label) for label in classes)
    if not (texts or numbers) or len(set(classes)) < len(classes):
        raise InputError("classes must be distinct, and all numbers or all strings")
    return len(classes)


def _check_certificates(certificates: object, k: int) -> None:
    if not isinstance(certificates, list) or len(certificates) != k:
        raise InputError(f"certificates must be a list with one entry per problem, {k}")
    for entry in certificates:
        if not isinstance(entry, dict) or set(entry) != set(_CERTIFICATE):
            raise InputError(f"a certificate must have exactly the entries {', '.join(_CERTIFICATE)}")
        sound = is_number(entry["primal"]) and is_number(entry["dual"])
        if not (sound and isinstance(entry["status"], str) and type(entry["n_products"]) is int):
            raise InputError("a certificate needs numbers primal and dual, a text status and an integer n_products")

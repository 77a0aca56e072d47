"""minorant: regularized risk minimization with a proof of optimality for every fit.

The public names, loaded on first use so that `import minorant` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minorant import geometry, io, kernels, losses, regularizers, solvers
    from minorant._versions import show_versions
    from minorant.certificate import Certificate, Status, certify
    from minorant.driver import Result, solve
    from minorant.errors import InputError, UnsupportedPair
    from minorant.estimators import (
        ElasticNet,
        ElasticNetBall,
        ElasticNetCV,
        LinearSVC,
        LinearSVCCV,
        LinearSVR,
        LogisticRegression,
        LogisticRegressionCV,
        MultivariateSVC,
        NotCertified,
        QuantileRegressor,
        TrivialSolution,
    )
    from minorant.path import solve_path
    from minorant.problem import Problem

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ElasticNet",
    "ElasticNetBall",
    "ElasticNetCV",
    "InputError",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultivariateSVC",
    "NotCertified",
    "Problem",
    "QuantileRegressor",
    "Result",
    "Status",
    "TrivialSolution",
    "UnsupportedPair",
    "certify",
    "geometry",
    "io",
    "kernels",
    "losses",
    "regularizers",
    "show_versions",
    "solve",
    "solve_path",
    "solvers",
]

_HOMES = {
    "Certificate": "certificate",
    "InputError": "errors",
    "ElasticNet": "estimators",
    "ElasticNetBall": "estimators",
    "ElasticNetCV": "estimators",
    "LinearSVC": "estimators",
    "LinearSVCCV": "estimators",
    "LinearSVR": "estimators",
    "LogisticRegression": "estimators",
    "LogisticRegressionCV": "estimators",
    "MultivariateSVC": "estimators",
    "NotCertified": "estimators",
    "Problem": "problem",
    "QuantileRegressor": "estimators",
    "Result": "driver",
    "Status": "certificate",
    "TrivialSolution": "estimators",
    "UnsupportedPair": "errors",
    "certify": "certificate",
    "show_versions": "_versions",
    "solve": "driver",
    "solve_path": "path",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"minorant.{_HOMES[name]}"), name)
    elif name in __all__:
        value = import_module(f"minorant.{name}")
    else:
        raise AttributeError(f"module 'minorant' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

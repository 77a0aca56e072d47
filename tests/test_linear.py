"""Every loss with every penalty: what the fit certifies, the checker recomputes from the data, to rounding."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from minorant import Problem, Status, solve
from minorant.checker import TARGETS
from minorant.linear import Run, fit_classifier, fit_regressor
from minorant.losses import Logistic
from minorant.objective import LOSSES, PENALTIES, Objective
from minorant.regularizers import L1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("bias", [True, False])
def test_the_checker_finds_what_the_fit_claims(loss, penalty, bias):
    rng = np.random.default_rng(0)
    X, weight, run = rng.normal(size=(60, 4)) + 0.3, rng.integers(0, 3, size=60), Run(tol=1e-5)
    if loss in TARGETS:
        y = X[:, 0] + rng.normal(size=60) + 1.0
        objective = Objective(loss, penalty, 0.1, 0.4, bias, epsilon=0.3, quantile=0.7, radius=0.4, gamma=0.5)
        fit = fit_regressor(X, y, objective=objective, sample_weight=weight, run=run)
    else:
        y = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
        fit = fit_classifier(
            X, y, loss=loss, penalty=penalty, C=0.2, l1_ratio=0.4, sample_weight=weight, fit_intercept=bias, run=run
        )
    (certificate,) = fit.certificates
    assert certificate.status is Status.CERTIFIED
    assert np.abs(certificate.w).max() > 0.01
    verdict = certificate.verify(X, y)  # raises where J or D is another than the claimed one
    assert -1e-14 <= verdict.relative_gap <= 1e-5 * (1 + 1e-6)  # Newton's method reaches rounding
    assert abs(verdict.dual - certificate.dual) <= 1e-10


def test_restarts_make_a_norm_converge_linearly():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    problem = Problem(Logistic(2.0 * y - 1), X, L1(10 / y.size))
    assert solve(problem, tol=1e-8, max_iter=600).certificate.status is Status.CERTIFIED

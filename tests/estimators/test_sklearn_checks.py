"""Every check that scikit-learn has for an estimator, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from minorant import (
    ElasticNet,
    ElasticNetBall,
    ElasticNetCV,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    MultivariateSVC,
    QuantileRegressor,
)


# Some checks lower max_iter on purpose: that must warn, and nothing else may.
@pytest.mark.filterwarnings("default::minorant.NotCertified")
@pytest.mark.filterwarnings("default::minorant.TrivialSolution")
@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(class_weight="balanced", solver="agm-1"),
        LinearSVC(loss="squared_hinge", penalty="elasticnet"),
        LinearSVC(multi_class="crammer_singer"),
        LogisticRegression(),
        LogisticRegression(penalty="elasticnet", class_weight="balanced", warm_start=True),
        ElasticNet(),
        ElasticNetBall(),
        LinearSVR(),
        LinearSVR(epsilon=0.1),
        QuantileRegressor(alpha=0.01),
        ElasticNetCV(cv=3, alphas=5),
        LogisticRegressionCV(cv=3, Cs=3),
        LinearSVCCV(cv=3, Cs=[0.1, 1.0]),
        MultivariateSVC(),
        MultivariateSVC("roc_auc", warm_start=True),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)

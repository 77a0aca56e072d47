"""The scikit-learn skin: estimators with scikit-learn's conventions and a certificate."""

from minorant.estimators._base import NotCertified
from minorant.estimators.elastic_net import ElasticNet
from minorant.estimators.elastic_net_ball import ElasticNetBall
from minorant.estimators.elastic_net_cv import ElasticNetCV
from minorant.estimators.logistic import LogisticRegression
from minorant.estimators.logistic_cv import LogisticRegressionCV
from minorant.estimators.multivariate import MultivariateSVC, TrivialSolution
from minorant.estimators.quantile import QuantileRegressor
from minorant.estimators.svm import LinearSVC
from minorant.estimators.svm_cv import LinearSVCCV
from minorant.estimators.svr import LinearSVR

__all__ = [
    "ElasticNet",
    "ElasticNetBall",
    "ElasticNetCV",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultivariateSVC",
    "NotCertified",
    "QuantileRegressor",
    "TrivialSolution",
]

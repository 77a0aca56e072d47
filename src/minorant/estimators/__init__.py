"""The scikit-learn skin: estimators with scikit-learn's conventions and a certificate."""

from minorant.estimators._base import NotCertified
from minorant.estimators.elastic_net import ElasticNet
from minorant.estimators.logistic import LogisticRegression
from minorant.estimators.svm import LinearSVC

__all__ = ["ElasticNet", "LinearSVC", "LogisticRegression", "NotCertified"]

"""ElasticNetBall: the penalized solution at the equivalent multiplier, with a certificate."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import LinearRegression, Ridge

from minorant import ElasticNetBall, InputError, Status


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0) + 1.0, y


def size(model):
    w = np.abs(np.asarray(model.coef_, dtype=np.float64))
    return model.gamma * w.sum() + w @ w / 2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("radius", "gamma"), [(1.0, 2.0), (200.0, 0.0), (200.0, 0.5), (500.0, 10.0)])
def test_it_is_the_penalized_solution_at_the_multiplier(diabetes, radius, gamma, fit_intercept):
    X, y = diabetes
    ball = ElasticNetBall(radius, gamma, fit_intercept=fit_intercept, tol=1e-13, max_iter=100_000).fit(X, y)
    assert size(ball) == pytest.approx(radius, rel=1e-6)
    alpha, l1_ratio = ball.multiplier_ * (1 + gamma), gamma / (1 + gamma)
    if gamma == 0:
        net = Ridge(alpha * y.size, fit_intercept=fit_intercept).fit(X, y)
    else:
        net = SklearnElasticNet(alpha=alpha, l1_ratio=l1_ratio, fit_intercept=fit_intercept, tol=1e-14, max_iter=9999)
        net.fit(X, y)
    np.testing.assert_allclose(ball.coef_, net.coef_, rtol=1e-4, atol=1e-4)
    assert ball.intercept_ == pytest.approx(net.intercept_, abs=1e-3)
    np.testing.assert_allclose(ball.predict(X), net.predict(X), atol=1e-3)


def test_it_is_the_solution_of_an_interior_point_method(diabetes):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    ball = ElasticNetBall(50.0, 3.0, tol=1e-10).fit(X, y, weight)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    J = cp.sum(cp.multiply(weight, cp.square(X @ w + b - y))) / weight.sum()
    program = cp.Problem(cp.Minimize(J), [3.0 * cp.norm1(w) + cp.sum_squares(w) / 2 <= 50.0])
    assert ball.certificate_.primal == pytest.approx(program.solve(solver=cp.CLARABEL), rel=1e-6)
    np.testing.assert_allclose(ball.coef_, w.value, atol=1e-2)


def test_a_large_ball_does_not_bind(diabetes):
    X, y = diabetes
    ball = ElasticNetBall(1e6, 1.0, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ball.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-3, atol=1e-2)
    assert ball.multiplier_ <= 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_the_certificate_is_confirmed(diabetes, gamma, storage, dtype):
    X, y = diabetes
    X = X.astype(dtype)
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    model = ElasticNetBall(100.0, gamma).fit(storage(X), y, weight)
    assert model.certificate_.status is Status.CERTIFIED
    assert model.coef_.dtype == dtype
    assert size(model) <= 100.0 * (1 + 1e-9)  # also after rounding
    assert 0 <= model.certificate_.verify(X, y).relative_gap <= 1e-3
    squares = np.average((X @ model.coef_.astype(np.float64) + model.intercept_ - y) ** 2, weights=weight)
    assert model.certificate_.primal == pytest.approx(squares, rel=1e-7)
    with pytest.raises(InputError, match="does not hold"):
        model.certificate_.verify(X, y + 1.0 * (np.arange(y.size) % 2))


def test_rounding_to_float32_does_not_leave_the_ball(diabetes):
    X, y = diabetes
    for radius in np.geomspace(1.0, 300.0, 20):
        model = ElasticNetBall(radius, 2.0).fit(X.astype(np.float32), y)
        assert model.certificate_.status is Status.CERTIFIED
        assert size(model) <= radius * (1 + 1e-9)


def test_warm_start(diabetes):
    X, y = diabetes
    model = ElasticNetBall(50.0, warm_start=True, tol=1e-6).fit(X, y)
    model.fit(X, y)
    assert model.n_iter_ == 0
    model.set_params(radius=1.0).fit(X, y)  # the old solution is outside of the new ball
    assert size(model) <= 1.0 + 1e-9


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1"])
def test_a_radius_is_positive(diabetes, value):
    with pytest.raises(ValueError, match="radius"):
        ElasticNetBall(value).fit(*diabetes)


@pytest.mark.parametrize("value", [-1e-3, np.nan, np.inf])
def test_gamma_is_not_negative(diabetes, value):
    with pytest.raises(ValueError, match="gamma"):
        ElasticNetBall(1.0, value).fit(*diabetes)

"""The laws of a loss: Fenchel-Young, gradients, the stable divergence, the projection."""

from __future__ import annotations

import numpy as np
import pytest

from minorant.losses import Loss

MUS = [1e-3, 0.2, 5.0]


def points(case, count, seed=0):
    rng = np.random.default_rng(seed)
    return [case.draw(rng) for _ in range(count)]


def dual_points(case, count, seed=1):
    """Points of Q, most of them on its boundary."""
    rng = np.random.default_rng(seed)
    loss = case.it
    return [loss.smoothed(case.draw(rng), rng.choice([1e-6, 0.1, 3.0])).alpha for _ in range(count)]


def test_fenchel_young(loss_case):
    """g*(u) + g(α) ≥ ⟨u, α⟩, and it is an equality at the maximizer."""
    loss = loss_case.it
    for u in points(loss_case, 30):
        value = loss.value(u)
        for alpha in dual_points(loss_case, 10):
            assert np.isfinite(loss.conjugate(alpha))
            assert value + loss.conjugate(alpha) >= float(u @ alpha) - 1e-12 * (1 + abs(value))
        # As mu → 0 the smoothed maximizer becomes an exact one: equality up to mu·radius.
        mu = 1e-10
        alpha = loss.smoothed(u, mu).alpha
        assert value + loss.conjugate(alpha) - float(u @ alpha) <= mu * loss.radius + 1e-12 * (1 + abs(value))


@pytest.mark.parametrize("mu", MUS)
def test_smoothed_value_is_attained_and_largest(loss_case, mu):
    """g*_mu(u) = ⟨u, α⟩ - g(α) - mu d(α) at its maximizer, which beats every other α by mu Δ(α', α)."""
    loss = loss_case.it

    def gain(u, alpha):
        return float(u @ alpha) - loss.conjugate(alpha) - mu * loss.prox(alpha)

    for u in points(loss_case, 30):
        at = loss.smoothed(u, mu)
        rounding = 1e-12 * (1 + abs(at.value))
        assert gain(u, at.alpha) == pytest.approx(at.value, abs=rounding)
        for other in dual_points(loss_case, 10):
            # α is known to rounding only, and the entropy of a P = 1 + α/c close to 0 tells the difference.
            known = (at.alpha, at.alpha * (1 - 4 * np.finfo(float).eps))
            margin = mu * min(loss.geometry.divergence(other, alpha) for alpha in known)
            assert gain(u, other) <= at.value - margin + rounding


@pytest.mark.parametrize("mu", [30.0, 1e3, 1e5])
def test_smoothed_much_around_a_center(loss_case, mu):
    """At u + mu ∇d(α_c) the maximizer is close to α_c, in Q, and no other α gains more: the first steps of a run."""
    loss = loss_case.it
    centers = [0.999 * alpha + 0.001 * loss.start() for alpha in dual_points(loss_case, 12, seed=3)]
    for u, center in zip(points(loss_case, 12), centers, strict=True):
        shifted = u + mu * loss.geometry.gradient(center)
        alpha = loss.smoothed(shifted, mu).alpha
        assert np.isfinite(loss.conjugate(alpha))

        def gain(a, u=u, center=center):
            return float(u @ a) - loss.conjugate(a) - mu * loss.geometry.divergence(a, center)

        noise = 1e-11 * (1 + mu + float(np.abs(u).max()))
        for other in [center, *dual_points(loss_case, 6)]:
            assert gain(other) <= gain(alpha) + noise


@pytest.mark.parametrize("mu", [0.2, 5.0])
def test_gradient_is_the_maximizer(loss_case, mu):
    loss, rng, h = loss_case.it, np.random.default_rng(2), 1e-6
    for u in points(loss_case, 20):
        v = rng.standard_normal(u.size)
        slope = (loss.smoothed(u + h * v, mu).value - loss.smoothed(u - h * v, mu).value) / (2 * h)
        assert slope == pytest.approx(float(loss.smoothed(u, mu).alpha @ v), abs=2e-5)


def exact_divergence(loss, p, q, mu):
    """∫ over the segment of the rise of the gradient: g*_mu(p) - g*_mu(q) - ⟨α_q, p - q⟩ without cancellation."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    start, direction = loss.smoothed(q, mu).alpha.astype(np.longdouble), (p - q).astype(np.longdouble)
    total = np.longdouble(0)
    pieces = 64  # the gradient is piecewise linear: most pieces are exact
    for i in range(pieces):
        for x, w in zip(nodes, weights, strict=True):
            t = (i + 0.5 * (x + 1)) / pieces
            rise = loss.smoothed(q + t * (p - q), mu).alpha.astype(np.longdouble) - start
            total += 0.5 * w / pieces * (rise @ direction)
    return float(total)


@pytest.mark.parametrize("distance", [3.0, 1e-2, 1e-4, 1e-6, 1e-8])
def test_stable_divergence(loss_case, distance):
    """Never more than the true value plus a rounding that vanishes with p - q; far from it never much less."""
    loss, rng, mu = loss_case.it, np.random.default_rng(3), 0.5
    for q in [rng.standard_normal(loss.size) for _ in range(3)]:
        p = q + distance * rng.standard_normal(loss.size)
        at_p, at_q = loss.smoothed(p, mu), loss.smoothed(q, mu)
        stable = loss.smoothed_divergence(p, at_p, q, at_q, mu)
        true = exact_divergence(loss, p, q, mu)
        rounding = 30 * np.finfo(float).eps * (distance + np.abs(at_p.alpha - at_q.alpha).sum())
        off_plane = np.finfo(float).eps if loss.bias else 0.0  # ⟨y, α⟩ = 0 holds to rounding only
        assert abs(stable - true) <= rounding + off_plane + 2e-5 * true
        naive = at_p.value - at_q.value - float(at_q.alpha @ (p - q))
        assert naive == pytest.approx(true, abs=1e-13 + 2e-5 * true)


def test_divergence_of_equal_points_is_not_positive(loss_case):
    """So that a step that rounding has stopped is accepted."""
    loss = loss_case.it
    for u in points(loss_case, 10):
        at = loss.smoothed(u, 0.3)
        assert loss.smoothed_divergence(u, at, u, at, 0.3) <= 0.0


def test_projection(loss_case):
    """Into Q, the identity on Q, and not farther from any point of Q than before."""
    loss, rng = loss_case.it, np.random.default_rng(4)
    for alpha in dual_points(loss_case, 10):
        assert np.abs(loss.project(alpha) - alpha).max() <= 1e-15
        moved = alpha + 0.05 * rng.standard_normal(alpha.size)
        near = loss.project(moved)
        assert np.isfinite(loss.conjugate(near))
        assert np.linalg.norm(near - alpha) <= np.linalg.norm(moved - alpha) * (1 + 1e-12)
        assert loss.radius == np.inf or loss.conjugate(alpha + 10.0) == np.inf


def test_start_is_the_center(loss_case):
    """d ≥ 0 with d(start) = 0: else g*_mu ≤ g* fails."""
    loss = loss_case.it
    assert loss.prox(loss.start()) == pytest.approx(0.0, abs=1e-15)
    assert np.isfinite(loss.conjugate(loss.start()))
    for alpha in dual_points(loss_case, 10):
        assert 0 <= loss.prox(alpha) <= loss.radius * (1 + 1e-12)


def test_intercept_attains_the_loss(loss_case):
    loss = loss_case.it
    for u in points(loss_case, 20):
        b = loss.intercept(u)
        assert loss.value_at(u, b) == pytest.approx(loss.value(u), rel=1e-12, abs=1e-14)
        rng = np.random.default_rng(5)
        for size in (-1.0, -1e-3, 1e-3, 1.0):
            shift = size * (rng.standard_normal(np.shape(b)) if np.ndim(b) else 1.0)  # any direction of several biases
            assert not loss.bias or loss.value_at(u, b + shift) >= loss.value(u) - 1e-12


def test_smooth_without_smoothing(loss_case):
    """Where g has curvature κ, mu = 0 gives the exact loss: equality in Fenchel-Young, the margin κ Δ, the gradient."""
    loss, rng, h = loss_case.it, np.random.default_rng(5), 1e-6
    if not loss.curvature:
        pytest.skip("the loss has corners: mu = 0 is not allowed")
    for u in points(loss_case, 20):
        at = loss.smoothed(u, 0.0)
        rounding = 1e-12 * (1 + abs(at.value))
        assert at.value == pytest.approx(loss.value(u), abs=rounding)
        assert float(u @ at.alpha) - loss.conjugate(at.alpha) == pytest.approx(at.value, abs=rounding)
        for other in dual_points(loss_case, 10):
            # P = 1 + α/c near 0 is known to rounding only: the margin counts as far as rounding leaves it standing.
            known = (at.alpha, at.alpha * (1 - 4 * np.finfo(np.float64).eps))
            margin = loss.curvature * min(loss.geometry.divergence(other, a) for a in known)
            assert float(u @ other) - loss.conjugate(other) <= at.value - margin + rounding
        v = rng.standard_normal(u.size)
        slope = (loss.value(u + h * v) - loss.value(u - h * v)) / (2 * h)
        assert slope == pytest.approx(float(at.alpha @ v), abs=1e-4)


def test_scale_is_the_best_multiple(loss_case):
    """Within [0, limit], in Q, and where a loss says so itself, no other multiple of α has a larger -g.

    Nothing to do where no limit is set, and nothing to be done where Q does not contain 0.
    """
    loss = loss_case.it
    shrinks = np.isfinite(loss.conjugate(np.zeros(loss.size)))
    for alpha in dual_points(loss_case, 10):
        assert loss.scale(alpha, np.inf) == 1.0
        for limit in (0.3, 1.0, 2.5):
            s = loss.scale(alpha, limit)
            best = loss.conjugate(s * alpha)
            assert np.isfinite(best)
            if not shrinks:
                assert s == 1.0
                continue
            assert 0.0 <= s <= limit
            for other in np.linspace(0.0, min(limit, 1.0), 21) if type(loss).scale is not Loss.scale else ():
                assert best <= loss.conjugate(other * alpha) + 1e-9 * (1 + abs(best))

"""The driver: every way a run can end, the trace, the certificate of any pair, and what it says of bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import InputError, Problem, Status, UnsupportedPair, certify, solve
from minorant.certificate import Certificate, relative
from minorant.geometry import Entropy, Euclidean, WeightedEuclidean
from minorant.losses import Hinge
from minorant.regularizers import L2
from minorant.regularizers import Entropy as KL
from minorant.solvers import SOLVERS, AgmInf, AgmOne, ExcessiveGap
from minorant.views import DualView, PrimalView

SMOOTHINGS = ["auto", "primal", "dual", "decreasing", "none"]
SCHEMES = [
    *itertools.product(["auto", "primal", "dual", "none"], ["auto", *SOLVERS]),
    ("decreasing", "auto"),
    ("decreasing", "excessive-gap"),
    ("auto", "excessive-gap"),
]


def draw(n=60, p=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.45, 1.0, -1.0)
    return rng.standard_normal((n, p)) + 0.5 * y[:, None], y


def problem(lam=0.1, bias=True, **options):
    X, y = draw()
    return Problem(Hinge(y, bias=bias), X, L2(lam), **options)


class TestStatuses:
    @pytest.mark.parametrize(("smoothing", "solver"), SCHEMES)
    def test_certified(self, smoothing, solver):
        p = problem()
        r = solve(p, tol=1e-3, smoothing=smoothing, solver=solver)
        c = r.certificate
        assert c.status is Status.CERTIFIED
        assert 0 <= c.relative_gap <= 1e-3
        assert c.primal == pytest.approx(p.primal(r.w), rel=1e-12)
        assert c.dual == pytest.approx(p.dual(c.alpha), rel=1e-12)
        assert r.n_iter == len(r.trace)

    def test_max_iter(self):
        r = solve(problem(), tol=1e-9, max_iter=2, solver="agm-inf")
        assert r.certificate.status is Status.MAX_ITER
        assert r.n_iter == 2
        assert 1e-9 < r.certificate.relative_gap < np.inf

    def test_max_time(self):
        r = solve(problem(), tol=0.0, max_time=1e-9, solver="agm-inf")
        assert r.certificate.status is Status.MAX_TIME
        assert r.n_iter == 1

    @pytest.mark.parametrize("smoothing", ["primal", "none"])
    def test_stalled(self, smoothing):
        """tol = 0 asks for more than rounding allows: the run ends by itself, and the gap it reached is tiny."""
        X, y = draw(20, 2)
        r = solve(Problem(Hinge(y), X, L2(1.0)), tol=0.0, smoothing=smoothing, max_iter=200_000)
        assert r.certificate.status in (Status.STALLED, Status.CERTIFIED)
        assert abs(r.certificate.relative_gap) < 1e-8
        if r.certificate.status is Status.STALLED:
            assert r.certificate.gap > 0

    def test_stalled_at_tol_zero(self):
        X, y = draw(40, 3, seed=2)
        r = solve(Problem(Hinge(y), X, L2(1.0)), tol=0.0, max_iter=200_000)
        assert r.certificate.status is Status.STALLED
        assert 0 <= r.certificate.relative_gap < 1e-8

    def test_interrupted(self):
        seen = []
        r = solve(problem(), tol=1e-9, solver="agm-inf", callback=lambda row: seen.append(row) or len(seen) == 5)
        assert r.certificate.status is Status.INTERRUPTED
        assert r.n_iter == 5
        assert tuple(seen) == r.trace

    def test_a_callback_that_stops_a_finished_run_does_not_hide_it(self):
        r = solve(problem(), tol=1e-2, callback=lambda row: (row.primal - row.dual) <= 1e-2 * row.primal)
        assert r.certificate.status is Status.CERTIFIED

    def test_each_has_its_sentence(self):
        for status in Status:
            c = Certificate(2.0, 1.5, np.zeros(1), status, 3)
            assert status.value in str(c)
            assert "2.50e-01" in str(c)
        assert len({s.value for s in Status}) == len(Status)


class TestTrace:
    @pytest.mark.parametrize(("smoothing", "solver"), SCHEMES)
    def test_bounds_never_get_worse(self, smoothing, solver):
        r = solve(problem(0.02), tol=1e-4, smoothing=smoothing, solver=solver)
        t = r.trace
        assert [row.iteration for row in t] == list(range(1, len(t) + 1))
        for old, new in itertools.pairwise(t):
            assert new.primal <= old.primal
            assert new.dual >= old.dual
            assert new.seconds >= old.seconds
            assert new.products > old.products
            # decreasing smoothing begins anew, at a larger mu; dual coordinates, with which "auto" begins, have none
            if smoothing not in ("auto", "decreasing") and solver != "excessive-gap":
                assert new.mu <= old.mu
        assert all(row.dual <= row.primal for row in t)
        assert all(row.L > 0 for row in t) or solver == smoothing == "auto"  # Newton's method has no L
        assert (t[-1].primal, t[-1].dual) == (r.certificate.primal, r.certificate.dual)
        assert t[-1].products == r.certificate.n_products

    def test_smoothing_follows_the_gap_down(self):
        r = solve(problem(0.02), tol=1e-4, smoothing="primal")
        levels = sorted({row.mu for row in r.trace}, reverse=True)
        assert len(levels) > 3
        assert levels[-1] >= 1e-4 * r.certificate.primal / 2
        assert {row.mu for row in solve(problem(), smoothing="none").trace} == {0.0}


class TestFixedSmoothing:
    @pytest.mark.parametrize("smoothing", ["auto", "primal", "dual"])
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_mu_stays_and_the_gap_is_what_it_allows(self, smoothing, solver):
        p, eps = problem(), 1e-3
        mu = eps / p.loss.radius
        r = solve(p, tol=2 * eps, smoothing=smoothing, solver=solver, mu=mu)
        assert r.certificate.status is Status.CERTIFIED
        assert {row.mu for row in r.trace} == {mu}

    def test_a_gap_out_of_reach_is_not_blamed_on_rounding(self):
        r = solve(problem(), tol=1e-9, mu=0.1, max_iter=4000)
        assert r.certificate.status is Status.MAX_ITER
        assert 1e-9 < r.certificate.gap <= 2 * 0.1 * problem().loss.radius


class TestCertify:
    def test_any_pair(self):
        p = problem()
        r = solve(p, tol=1e-5)
        c = certify(p, r.w, r.certificate.alpha, tol=1e-5)
        assert c.status is Status.CERTIFIED
        assert (c.primal, c.dual) == pytest.approx((r.certificate.primal, r.certificate.dual), rel=1e-12)
        assert c.n_products == 2
        far = certify(p, r.w + 1.0, r.certificate.alpha, tol=1e-5)
        assert far.status is Status.OPEN
        assert far.gap >= c.gap

    def test_an_alpha_outside_the_domain_is_projected(self):
        """It proves what its projection proves; it never proves too much."""
        p = problem()
        r = solve(p, tol=1e-6)
        rng = np.random.default_rng(1)
        for _ in range(20):
            c = certify(p, r.w, r.certificate.alpha + 0.01 * rng.standard_normal(60))
            assert c.dual <= r.certificate.primal
            assert np.isfinite(p.loss.conjugate(c.alpha))

    def test_relative(self):
        assert relative(0.0, 0.0) == 0.0
        assert relative(1e-9, 0.0) == np.inf
        assert relative(1.0, -4.0) == 0.25


class TestInput:
    @pytest.mark.parametrize("tol", [-1e-3, np.nan, np.inf])
    def test_tol(self, tol):
        with pytest.raises(InputError, match="tol must be"):
            solve(problem(), tol=tol)

    @pytest.mark.parametrize("max_iter", [0, -5])
    def test_max_iter(self, max_iter):
        with pytest.raises(InputError, match="max_iter must be"):
            solve(problem(), max_iter=max_iter)

    @pytest.mark.parametrize("max_time", [0.0, -1.0])
    def test_max_time(self, max_time):
        with pytest.raises(InputError, match="max_time must be"):
            solve(problem(), max_time=max_time)

    @pytest.mark.parametrize(
        ("option", "name", "meant"),
        [
            ("solver", "agm-2", "agm-1"),
            ("solver", "agminf", "agm-inf"),
            ("solver", "excesive-gap", "excessive-gap"),
            ("smoothing", "primla", "primal"),
            ("smoothing", "non", "none"),
            ("smoothing", "decresing", "decreasing"),
        ],
    )
    def test_misspelled_options(self, option, name, meant):
        with pytest.raises(InputError, match=f"did you mean '{meant}'\\? Allowed: ") as caught:
            solve(problem(), **{option: name})
        assert f"unknown {option} {name!r}" in str(caught.value)

    @pytest.mark.parametrize("option", ["solver", "smoothing"])
    def test_unknown_options(self, option):
        with pytest.raises(InputError, match=r"unknown \w+ 'xyz'\. Allowed: "):
            solve(problem(), **{option: "xyz"})

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (
                {"smoothing": "decreasing", "solver": "agm-1"},
                "a solver of its own, 'excessive-gap'; got solver='agm-1'",
            ),
            ({"smoothing": "decreasing", "solver": AgmInf()}, "a solver of its own"),
            ({"smoothing": "dual", "solver": "excessive-gap"}, "for decreasing smoothing; got smoothing='dual'"),
            ({"smoothing": "primal", "solver": ExcessiveGap()}, "for decreasing smoothing; got smoothing='primal'"),
            ({"smoothing": "decreasing", "mu": 0.1}, "no mu to fix"),
            ({"solver": "excessive-gap", "mu": 0.1}, "no mu to fix"),
            ({"smoothing": "none", "mu": 0.1}, "no mu to fix"),
            ({"mu": np.nan}, "mu must be a finite number"),
            ({"smoothing": "dual", "mu": -1.0}, "mu must be a finite number"),
            ({"smoothing": "primal", "mu": 0.0}, "mu > 0 to smooth Hinge"),
        ],
    )
    def test_options_that_do_not_go_together(self, options, says):
        with pytest.raises(InputError, match=says):
            solve(problem(), **options)

    def test_rows(self):
        X, y = draw()
        with pytest.raises(InputError, match=r"59 rows.*60 examples"):
            Problem(Hinge(y), X[:59], L2(1.0))
        with pytest.raises(InputError, match="no columns"):
            Problem(Hinge(y), X[:, :0], L2(1.0))

    @pytest.mark.parametrize("start", [(np.zeros(5), np.zeros(60)), (np.zeros(6), np.zeros(61)), (np.zeros(6), 0.0)])
    def test_start_shapes(self, start):
        with pytest.raises(InputError, match=r"start must be .*\(6,\), \(60,\)"):
            solve(problem(), start=start)

    def test_start_not_finite(self):
        with pytest.raises(InputError, match="NaN or infinite"):
            solve(problem(), start=(np.full(6, np.nan), np.zeros(60)))

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_data_not_finite(self, value, form):
        X, y = draw()
        X[3, 2] = value
        with pytest.raises(InputError, match="NaN or infinite"):
            Problem(Hinge(y), form(X), L2(1.0))

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("size", [1e155, 1e300])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_data_too_large(self, form, size, smoothing):
        X, y = draw()
        with pytest.raises(InputError, match="too large"):
            solve(Problem(Hinge(y), form(size * X), L2(1.0)), smoothing=smoothing)

    @pytest.mark.parametrize(
        ("weight", "says"),
        [
            (np.zeros(60), "all sample weights are zero"),
            (np.full(60, -1.0), "weight 0 is -1"),
            (np.r_[np.ones(59), np.nan], "weight 59 is nan"),
            (np.r_[np.ones(59), np.inf], "weight 59 is inf"),
            (np.ones(59), r"shape \(60,\); got \(59,\)"),
        ],
    )
    def test_weights(self, weight, says):
        with pytest.raises(InputError, match=says):
            Hinge(draw()[1], sample_weight=weight)

    def test_one_class(self):
        with pytest.raises(InputError, match=r"both classes.*class -1 has none"):
            Hinge(np.ones(4))
        with pytest.raises(InputError, match=r"both classes.*class 1 has none"):
            Hinge(-np.ones(4))
        with pytest.raises(InputError, match=r"both classes.*class 1 has none"):
            Hinge([1, -1, -1], sample_weight=[0, 1, 1])
        assert Hinge(np.ones(4), bias=False).radius == 0.5

    @pytest.mark.parametrize("y", [[0, 1], [1, 2, -1], [[1, -1]], [np.nan, 1.0]])
    def test_labels(self, y):
        with pytest.raises(InputError, match="labels -1 and 1"):
            Hinge(y)

    def test_no_examples(self):
        with pytest.raises(InputError, match="no examples"):
            Hinge([])

    @pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
    def test_lambda(self, lam):
        with pytest.raises(InputError, match="L2 needs a finite lam > 0"):
            L2(lam)

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_unsupported_pairs(self, smoothing):
        X, y = draw()
        with pytest.raises(UnsupportedPair, match=r"Entropy .*geometry Euclidean; it works with Entropy"):
            solve(Problem(Hinge(y), X, KL(1.0), geometry=Euclidean()), smoothing=smoothing)
        with pytest.raises(UnsupportedPair, match=r"L2 .*geometry Entropy; it works with Euclidean, WeightedEuclidean"):
            solve(Problem(Hinge(y), X, L2(1.0), geometry=Entropy()), smoothing=smoothing)

    def test_views(self):
        X, y = draw()
        with pytest.raises(InputError, match="mu > 0"):
            PrimalView(problem(), 0.0)
        with pytest.raises(InputError, match="strongly convex"):
            DualView(Problem(Hinge(y), X, KL(0.0), geometry=Entropy()))

    @pytest.mark.parametrize("method", [AgmInf, AgmOne, ExcessiveGap])
    @pytest.mark.parametrize("options", [{"grow": 1.0}, {"shrink": 0.9}])
    def test_solver_settings(self, method, options):
        with pytest.raises(InputError, match="grow > 1"):
            method(**options)


def test_other_geometries():
    """Whatever the geometry, the certificate is of the same problem."""
    X, y = draw()
    flat = solve(problem(), tol=1e-5).certificate
    b = np.geomspace(0.3, 4.0, 6)
    skew = solve(problem(geometry=WeightedEuclidean(b)), tol=1e-5).certificate
    assert flat.status is skew.status is Status.CERTIFIED
    assert flat.primal == pytest.approx(skew.primal, rel=2e-5)
    for lam in (0.0, 0.3):
        simplex = solve(Problem(Hinge(y), X, KL(lam), geometry=Entropy()), tol=1e-3)
        assert simplex.certificate.status is Status.CERTIFIED
        assert simplex.w.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-310, 1e-160, 1e-120])
@pytest.mark.parametrize(("smoothing", "solver"), SCHEMES)
def test_data_that_cannot_be_learned(size, smoothing, solver):
    """X = 0 or nearly: the best is w = 0 with the bias of the majority, and the certificate says so."""
    y = np.array([1.0, 1, 1, -1])
    X = size * np.random.default_rng(0).standard_normal((4, 3))
    r = solve(Problem(Hinge(y), X, L2(1.0)), tol=1e-6, smoothing=smoothing, solver=solver)
    assert r.certificate.status is Status.CERTIFIED
    assert r.certificate.primal == pytest.approx(0.5)
    assert r.intercept == pytest.approx(1.0)
    assert np.abs(r.w).max() < 1e-100


@pytest.mark.parametrize("lam", [1e8, 1e14, 1e30])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_regularized_to_nothing(lam, smoothing):
    r = solve(problem(lam), tol=1e-6, smoothing=smoothing)
    assert r.certificate.status is Status.CERTIFIED
    y = draw()[1]
    assert r.certificate.primal == pytest.approx(2 * min((y > 0).mean(), (y < 0).mean()), rel=1e-6)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_an_optimum_far_below_the_start(smoothing):
    """tol is relative to J at the solution: a smoothing chosen for J at the start would end far above it."""
    y = np.repeat([1.0, -1.0], 20)
    X = np.random.default_rng(3).standard_normal((40, 4)) + np.outer(y, [6.0, 0, 0, 0])
    r = solve(Problem(Hinge(y), X, L2(1e-2)), tol=1e-3, smoothing=smoothing)
    assert r.certificate.status is Status.CERTIFIED
    assert r.certificate.primal < 1e-2

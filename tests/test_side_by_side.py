"""Several classes, several threads: the same bits, one callback at a time, and one stop for all."""

import threading
from time import sleep

import numpy as np
import pytest
import scipy.sparse as sp

from minorant import InputError, LinearSVC, Status
from minorant.linear import Run, fit_classifier
from minorant.side_by_side import side_by_side


@pytest.fixture(scope="module")
def classes():
    """1500 x 60 with five classes: enough values for threads of their own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = np.argmax(X[:, :5] + 0.8 * rng.normal(size=(1500, 5)), axis=1)
    return X, y


def threads_of(monkeypatch):
    """The threads that fits of the core begin on."""
    import minorant.linear as module  # noqa: PLC0415

    seen, plain = [], module.whole_fit

    def noted(*arguments):
        seen.append(threading.get_ident())
        sleep(0.01)  # as long as that, the next row is taken by another thread
        return plain(*arguments)

    monkeypatch.setattr(module, "whole_fit", noted)
    return seen


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_classes_side_by_side_have_the_bits_of_one_after_the_other(classes, loss, as_sparse, dtype):
    X, y = classes
    X = sp.csr_matrix(np.where(np.abs(X) > 0.3, X, 0)) if as_sparse else X
    models = [LinearSVC(loss=loss, tol=1e-5, n_jobs=k).fit(X.astype(dtype), y) for k in (1, 2, 3, 16)]
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_)
        assert np.array_equal(model.intercept_, models[0].intercept_)
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
    assert all(c.status is Status.CERTIFIED for c in models[1].certificate_)


def test_large_data_go_by_several_threads_and_small_ones_do_not(classes, monkeypatch):
    X, y = classes
    seen = threads_of(monkeypatch)
    fit_classifier(X, y, run=Run(threads=2))
    assert len(set(seen)) == 2
    assert len(seen) == 5
    seen.clear()
    fit_classifier(X[:100], y[:100], run=Run(threads=2))
    assert set(seen) == {threading.get_ident()}
    assert len(seen) == 5


def test_every_row_is_told_to_the_callback_one_at_a_time(classes):
    X, y = classes
    rows, inside = set(), threading.Semaphore(1)

    def callback(row, progress):
        assert inside.acquire(blocking=False)  # nobody else is here
        sleep(0.001)
        rows.add(row)
        inside.release()

    fit_classifier(X, y, run=Run(threads=3, solver="agm-inf", max_iter=5, callback=callback))
    assert rows == set(range(5))


def test_a_true_answer_stops_all_rows(classes):
    X, y = classes
    run = Run(threads=2, tol=1e-12, solver="agm-inf", max_iter=10**6, callback=lambda row, progress: row == 0)
    fit = fit_classifier(X, y, run=run)
    assert [c.status for c in fit.certificates] == [Status.INTERRUPTED] * 5
    assert max(fit.n_iter) < 10**6


def test_an_error_stops_the_others(classes):
    X, y = classes
    ended = []

    def callback(row, progress):
        ended.append(row)
        if row == 1:
            raise RuntimeError("no more")

    run = Run(threads=2, tol=1e-12, solver="agm-inf", max_iter=10**6, callback=callback)
    with pytest.raises(RuntimeError, match="no more"):
        fit_classifier(X, y, run=run)  # returns at all: row 0 would take 10^6 iterations
    assert 4 not in ended  # nor was it begun


def test_values_that_are_not_finite_are_refused_before_any_fit(classes):
    X, y = classes
    X = X.copy()
    X[7, 3] = np.nan
    with pytest.raises(InputError, match="NaN or infinite"):
        fit_classifier(X, y, run=Run(threads=2))


def test_results_come_in_the_order_of_the_rows():
    def fit(row, callback):
        sleep(0.02 / (1 + row))
        return row

    assert side_by_side(fit, 6, 3, None) == list(range(6))
    assert side_by_side(fit, 2, 1, None) == [0, 1]

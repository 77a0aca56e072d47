"""Fits that do not depend on each other, each on a thread of its own: the core works without Python's lock.

A fit has the same bits for any number of threads, so it does not matter how they are shared.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import count as count_up
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from minorant.driver import Progress

    Callback = Callable[[int, Progress], object]

__all__ = ["side_by_side"]

T = TypeVar("T")


def side_by_side(
    fit: Callable[[int, Callback | None], T], count: int, workers: int, callback: Callback | None
) -> list[T]:
    """fit(row, callback) for the rows 0, ..., count - 1, so many at a time.

    The callback is never in two calls at once. Its true answer stops all fits, and so does an error or an interrupt:
    each at its next iteration.
    """
    if workers <= 1:
        return [fit(row, callback) for row in range(count)]
    lock, stop = Lock(), Event()

    def told(row: int, progress: Progress) -> bool:
        with lock:
            if callback is not None and callback(row, progress):
                stop.set()
        return stop.is_set()

    with ThreadPoolExecutor(workers, initializer=_spread, initargs=(count_up(),)) as pool:
        try:
            futures = [pool.submit(fit, row, told) for row in range(count)]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    for future in futures:
        if not future.cancelled() and (error := future.exception()) is not None:
            raise error
    return [future.result() for future in futures]


def _spread(numbers: Iterator[int]) -> None:
    """Begin on a core of one's own: systems may leave new threads on that of their maker for as long as a fit takes."""
    if sys.platform != "linux":
        return
    with suppress(OSError):  # it is for speed alone
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[next(numbers) % len(cores)]})
        os.sched_setaffinity(0, cores)

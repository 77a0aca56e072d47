"""What a user sees of a fit while it runs: a line on the terminal, a log of JSON lines, and Ctrl-C."""

from __future__ import annotations

import json
import signal
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from minorant.certificate import relative

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from minorant.driver import Progress

_SECONDS = 0.2  # between two updates of the line


class Log:
    """JSON lines, each on disk before the next is computed; without a path, nothing.

    The file is opened at once: what cannot be written is found out before the fit, not after it. A disk that is full
    later ends the log and not the fit: `error` says so.
    """

    def __init__(self, path: str | None) -> None:
        self._file = None if path is None else open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed by __exit__
        self.error: OSError | None = None

    def write(self, entry: Mapping[str, Any]) -> None:
        """Append one object."""
        if self._file is None or self.error is not None:
            return
        try:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
        except OSError as error:
            self.error = error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self.write({"error": f"{type(error).__name__}: {error}"})
        if self._file is not None:
            try:
                self._file.close()
            except OSError as failed:
                self.error = self.error or failed


class Watch:
    """The callback of a fit: logs, shows progress on a terminal, and stops the fit after Ctrl-C.

    A second Ctrl-C is the usual one, for who does not want to wait for the end of an iteration.
    """

    def __init__(self, names: list[str], log: Log, quiet: bool) -> None:
        self._names, self._log = names, log
        self._show = not quiet and sys.stderr.isatty()
        self._shown = 0.0
        self._width = 0
        self._stop = False

    def __call__(self, row: int, progress: Progress) -> bool:
        self._log.write({"class": row, **progress._asdict()})
        now = monotonic()
        if self._show and now - self._shown >= _SECONDS:
            self._shown = now
            gap = relative(progress.primal - progress.dual, progress.primal)
            which = f"{self._names[row]}: " if len(self._names) > 1 else ""
            self._line(
                f"{which}iteration {progress.iteration}, {progress.products} products, "
                f"J {progress.primal:.6g}, lower bound {progress.dual:.6g}, gap {gap:.1e}"
            )
        return self._stop

    def _line(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        self._stop = True
        signal.signal(signal.SIGINT, self._before)

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        try:
            signal.signal(signal.SIGINT, self._interrupt)
            self._caught = True
        except ValueError:  # signals belong to the main thread
            self._caught = False
        return self

    def __exit__(self, *_: object) -> None:
        if self._caught:
            signal.signal(signal.SIGINT, self._before)
        if self._width:
            self._line("")
            sys.stderr.write("\r")

"""
A bar with the time that is left, for people; a plain line now and then, for logs.
"""

import shutil
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from adapters.cli.terminal.output import note
from adapters.cli.terminal.progress import for_people
from adapters.machine.clock import monotonic

OFTEN = 0.5
SELDOM = 30.0
_WIDTH = 24
_ENOUGH = 0.01
"""
No time is foretold before this part is done.
"""


class Bar:
    """
    Shows which part of some work is done, on standard error.
    """

    def __init__(self, what: str, part: Callable[[], float]) -> None:
        self._what = what
        self._part = part
        self._start = monotonic()
        self._first: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._for_people = for_people()

    def __enter__(self) -> Self:
        self._first = self._part()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()
        if self._for_people:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _watch(self) -> None:
        while not self._done.wait(OFTEN if self._for_people else SELDOM):
            self._show()

    def _show(self) -> None:
        line = self.line(self._part(), monotonic() - self._start)
        if self._for_people:
            room = max(0, shutil.get_terminal_size().columns - 1)
            sys.stderr.write(f"\r\033[K{line[:room]}")
            sys.stderr.flush()
        else:
            note(line)

    def line(self, part: float, seconds: float) -> str:
        """
        Say which part is done, for how long, and how much longer it may take.

        What was done before we began, by a run that was interrupted, took no time.
        """
        first = self._first or 0.0
        full = round(part * _WIDTH)
        drawn = f" [{'#' * full}{'.' * (_WIDTH - full)}]" if self._for_people else ""
        text = f"{self._what}{drawn} {100 * part:.0f} % in {clock(seconds)}"
        if part - first < _ENOUGH:
            return text
        return f"{text}, {clock(seconds * (1 - part) / (part - first))} left"


def clock(seconds: float) -> str:
    """
    Write a time as a person would say it.
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"

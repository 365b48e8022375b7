"""
A line on standard error while a person waits longer than a second.
"""

import os
import shutil
import sys
import threading
from types import TracebackType
from typing import Self

from adapters.machine.clock import monotonic

PATIENCE = 1.0
BEAT = 0.2


def for_people() -> bool:
    """
    Tell whether a line may be written over: on a terminal that can do that.
    """
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """
    Shows what the round is doing; silent in pipes and for short rounds.
    """

    def __init__(self) -> None:
        self._phase = "reading"
        self._start = monotonic()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def say(self, phase: str) -> None:
        """
        Take the name of the phase that has begun.
        """
        self._phase = phase

    def __enter__(self) -> Self:
        if for_people():
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _watch(self) -> None:
        if self._done.wait(PATIENCE):
            return
        while not self._done.wait(BEAT):
            tail = f" … {monotonic() - self._start:.1f} s"
            room = max(0, shutil.get_terminal_size().columns - 1 - len(tail))
            sys.stderr.write(f"\r\033[K{self._phase[:room]}{tail}")
            sys.stderr.flush()
            self._shown = True

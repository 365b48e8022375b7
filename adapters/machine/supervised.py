"""
Threads that go on: what ends one by mistake is told and counted, and it begins again.

A thread that ended once used to be gone for good while all looked well: its kind was
never read again, its replica never led again.
"""

import logging
import threading
from collections.abc import Callable, Iterable

from adapters.machine.backoff import Backoff
from adapters.machine.clock import monotonic

_log = logging.getLogger(__name__)
_BACKOFF = Backoff(first=0.5, longest=30.0, jitter=True)
_WELL_AFTER = 60.0
_BROKEN_AFTER = 120.0


class SupervisedThread:
    """
    Runs ``work`` in a thread from ``start`` until it returns after ``stop``.

    Work that raises, or returns before it was told to stop, is run again, later each
    time, and counted in ``restarts``.  A run of a minute ends a series of failures.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        *,
        backoff: Backoff = _BACKOFF,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = name
        self.restarts = 0
        self._work = work
        self._backoff = backoff
        self._clock = clock
        self._stopped = threading.Event()
        self._began = 0.0
        self._failures = 0
        self._failing_since: float | None = None
        self._last = ""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        """
        Tell whether the thread runs, or waits to run the work again.
        """
        return self._thread.is_alive()

    def start(self) -> None:
        """
        Begin.
        """
        self._thread.start()

    def stop(self) -> None:
        """
        Run the work no more once it has ended; whoever calls this tells it to end.
        """
        self._stopped.set()

    def join(self, seconds: float) -> bool:
        """
        Wait for the end, and tell whether it came; one never begun has ended.
        """
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def problem(self) -> str | None:
        """
        Say why the thread does not do its work, and beginning again has not helped.
        """
        if self._thread.ident is None or self._stopped.is_set():
            return None
        if not self._thread.is_alive():
            return f"the thread {self.name} has ended, and was not started again"
        now, since = self._clock(), self._failing_since
        if since is None or now - self._began >= _WELL_AFTER:
            return None
        if now - since < _BROKEN_AFTER:
            return None
        return (
            f"the thread {self.name} broke {self._failures} times in "
            f"{now - since:.0f} s, last by {self._last}"
        )

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._began = self._clock()
            error: BaseException | None = None
            try:
                self._work()
            except BaseException as broken:  # noqa: BLE001 - whatever ends a thread
                error = broken
            if self._stopped.is_set() and error is None:
                return
            self._broke(error)

    def _broke(self, error: BaseException | None) -> None:
        """
        Tell and count an end by mistake, and wait.
        """
        now = self._clock()
        if self._failing_since is None or now - self._began >= _WELL_AFTER:
            self._failing_since, self._failures = now, 0
        self._failures += 1
        self.restarts += 1
        self._last = (
            "returning" if error is None else f"{type(error).__name__}: {error}"
        )
        pause = self._backoff.after(self._failures)
        fields = {"thread": self.name, "error": self._last, "seconds": round(pause, 2)}
        _log.error("thread_broke", extra={"fields": fields}, exc_info=error)
        self._stopped.wait(pause)


def problems(threads: Iterable[SupervisedThread]) -> list[str]:
    """
    Say which threads do not do their work.
    """
    return [what for thread in threads if (what := thread.problem()) is not None]


def restarts(threads: Iterable[SupervisedThread]) -> dict[str, int]:
    """
    Count by name how often each thread was begun again.
    """
    return {thread.name: thread.restarts for thread in threads}

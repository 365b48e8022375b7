"""
How status is written: at a bounded rate, leaving alone what we may not write.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from adapters.kube.api.api_resources import Place
from adapters.kube.api.client import Transport
from adapters.kube.status.patches import PatchOutcome, Written
from adapters.machine.backoff import Backoff

_log = logging.getLogger(__name__)
RATE = 300.0
"""
Requests a second that are told by default, while nothing binds.

One is under way at a time, where eight binds are; so a server that stands the 500 to
1,000 binds a second of a burst has less than half of that to do, and takes no more of
its seats for requests than one.  A tenth of it is at most 6 % beside such binds.
"""
_BESIDE_BINDS = 0.1


class BusyError(Exception):
    """
    The server is busy or away: the rest is written later.

    ``seconds`` is how long it asked us to wait.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the server is busy for {seconds} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePace:
    """
    How fast is written, and the seconds between tries.

    At most ``rate`` requests a second, one after the other, and a tenth of that while
    binds are under way; ``first`` to ``longest`` are waited where the
    server is busy or away; ``muted`` is how long a kind is left alone that our role
    may not write, by ``refusals`` in a row, since a server that was just started knows
    no roles for a moment; ``refresh`` is how often a sentence is written anew in which
    only numbers have changed.
    """

    rate: float = RATE
    first: float = 0.5
    longest: float = 30.0
    muted: float = 300.0
    refusals: int = 4
    refresh: float = 60.0

    def delay(self, failures: int) -> float:
        """
        Give the seconds to wait after some failures.
        """
        return Backoff(first=self.first, longest=self.longest).after(failures)


class Wire:
    """
    Counts and judges writes.

    ``counted`` is told of every request: what it was about (``group``, ``pod``,
    ``event``) and its outcome; ``pause`` waits between two requests.  ``gives_way`` is
    set while binds are under way.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Callable[[], float],
        pace: WritePace,
        counted: Callable[[str, str], None],
        pause: Callable[[float], None],
    ) -> None:
        self.transport = transport
        self.clock = clock
        self.pace = pace
        self._counted = counted
        self._pause = pause
        self._muted: dict[tuple[str, str], float] = {}
        self._refusals: dict[tuple[str, str], int] = {}
        self._free_at = 0.0
        self.gives_way = False

    def is_muted(self, place: Place) -> bool:
        """
        Tell whether a kind is left alone for now.
        """
        until = self._muted.get((place[0], place[2]))
        return until is not None and self.clock() < until

    def sent(self, what: str, place: Place, written: Written) -> PatchOutcome:
        """
        Count a request that was made, and take the time that it may take.

        Raises
        ------
        BusyError
            When nothing more should be asked of the server for now.
        """
        self._counted(what, written.outcome.value)
        if written.outcome is PatchOutcome.LATER:
            raise BusyError(written.seconds)
        kind = place[0], place[2]
        if written.outcome is PatchOutcome.FORBIDDEN:
            self._forbid(kind, written)
        else:
            self._refusals.pop(kind, None)
        if written.outcome is PatchOutcome.INVALID:
            where = "/".join(filter(None, place))
            fields = {"object": where, "error": str(written.error)}
            _log.warning("status_refused", extra={"fields": fields})
        self._rest()
        return written.outcome

    def _forbid(self, kind: tuple[str, str], written: Written) -> None:
        """
        Leave a kind alone that we may not write, once we were refused often enough.
        """
        number = self._refusals.pop(kind, 0) + 1
        if number < self.pace.refusals:
            self._refusals[kind] = number
            raise BusyError(0.0)
        self._muted[kind] = self.clock() + self.pace.muted
        rule = getattr(written.error, "rule", "")
        fields = {"rule": rule, "seconds": self.pace.muted}
        _log.warning("status_forbidden", extra={"fields": fields})

    def _rest(self) -> None:
        """
        Wait until the next request may be made; the time that this one took counts.
        """
        rate = self.pace.rate * (_BESIDE_BINDS if self.gives_way else 1.0)
        now = self.clock()
        self._free_at = max(now, self._free_at + 1.0 / rate)
        if self._free_at > now:
            self._pause(self._free_at - now)

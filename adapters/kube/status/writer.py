"""
Tells the cluster what was decided: groups in their own words, pods, events.

A thread of its own writes what the newest round says, and nothing that is said
already: first of gangs that stand otherwise than before, then of those never told of,
the most important and oldest first.  It never holds up who binds, and while binds are
under way it leaves them the server; what fails is tried again or let go.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from adapters.kube.status.debounce import Steady
from adapters.kube.status.gang_status import GangStatus, stands
from adapters.kube.status.rate_limit import BusyError, Wire, WritePace
from adapters.kube.status.sayings import Saying, Told, sayings
from adapters.kube.status.unsaid import Unsaid
from adapters.kube.status.voice import Voice
from adapters.machine.supervised import SupervisedThread

_log = logging.getLogger(__name__)


class StatusWriter:
    """
    Writes what rounds say, from ``start`` to ``stop``.
    """

    def __init__(
        self,
        voice: Voice,
        *,
        clock: Callable[[], float],
        pace: WritePace | None = None,
    ) -> None:
        self._pace = pace or WritePace()
        self._wire = Wire(
            voice.transport,
            clock=clock,
            pace=self._pace,
            counted=voice.counted,
            pause=self._pause,
        )
        steady = Steady(clock, self._pace.refresh)
        self._gangs = GangStatus(voice, self._wire, steady, self._is_outdated)
        self._proofs = voice.proofs
        self._settled: dict[str, Saying] = {}
        self._stood: dict[str, tuple[str, str | None]] = {}
        self._wake = threading.Condition()
        self._next: Told | None = None
        self._unsaid = Unsaid()
        self._stopped = False
        self._hushed = False
        self.thread = SupervisedThread("status", self._run)

    def start(self) -> None:
        """
        Begin to write.
        """
        self.thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """
        Let the request under way end, and write nothing more.
        """
        self.thread.stop()
        with self._wake:
            self._stopped = True
            self._next = None
            self._wake.notify_all()
        self.thread.join(seconds)

    def tell(self, told: Told) -> None:
        """
        Hand in what a round says; it takes the place of what is not written yet.

        Who started or was refused in a round that is passed over is still told of it.
        """
        with self._wake:
            if self._next is not None:
                self._unsaid.missed(self._next)
            self._next = told
            self._wake.notify_all()

    def tell_end(self, told: Told) -> None:
        """
        Hand in what came of gangs of a round before; it is told with the next round.
        """
        self._unsaid.ended(told)

    def hush(self) -> None:
        """
        Write nothing of what was handed in: somebody else leads.
        """
        with self._wake:
            self._unsaid.clear()
            self._next = None
            self._hushed = True
            self._wake.notify_all()

    def give_way(self, *, is_binding: bool) -> None:
        """
        Write slower from now on, while binds are under way, or at full rate again.
        """
        self._wire.gives_way = is_binding

    def write(self, told: Told) -> bool:
        """
        Write what a round says; tell whether all of it is said now.

        It ends early when a newer round was handed in: that one says it all.

        Raises
        ------
        BusyError
            When the server is busy or away.
        """
        for saying in self._unsaid.taken():
            self._tell_what_happened(saying)
        whole, every = True, sorted(sayings(told), key=self._urgency)
        self._forget(every)  # now, for where rounds never cease none is told to its end
        proofs = self._proofs
        if proofs is not None:
            proofs.begin(told)
        said = every if proofs is None else map(proofs.of, every)
        for at, saying in enumerate(said, start=1):
            key = saying.standing.key
            if _is_same(self._settled.get(key), saying):
                continue
            self._settled.pop(key, None)
            if self._told_or_left(saying):
                self._settled[key] = saying
                self._stood[key] = stands(saying)
            else:
                whole = False
            if self._is_outdated():
                self._unsaid.left(every[at:])
                return True
        if proofs is None:
            return whole
        proofs.end()
        return whole and not proofs.is_open

    def _run(self) -> None:
        told: Told | None = None
        failures, wait = 0, 0.0
        while True:
            with self._wake:
                if self._next is None and not self._stopped:
                    # What failed is tried again, also where no round follows.
                    self._wake.wait(wait if told is not None else None)
                if self._stopped:
                    return
                told, self._next = self._next or (None if self._hushed else told), None
                self._hushed = False
            if told is None:
                continue
            try:
                whole, asked = self.write(told), 0.0
            except BusyError as error:
                whole, asked = False, error.seconds
            except Exception:  # noqa: BLE001 - what is told must not end the teller
                _log.exception("status_failed", extra={"fields": {"round": told.round}})
                whole, asked = True, 0.0
            told, failures = (None, 0) if whole else (told, failures + 1)
            wait = max(asked, self._pace.delay(failures))

    def _urgency(self, saying: Saying) -> tuple[int, int, int]:
        """
        Order gangs: those that changed, those never told of, those said in other words.
        """
        before = self._stood.get(saying.standing.key)
        if saying.events or (before is not None and before != stands(saying)):
            rank = 0
        else:
            rank = 1 if before is None else 2
        priority, age = saying.weight
        return rank, -priority, -age

    def _tell_what_happened(self, saying: Saying) -> None:
        """
        Tell of a round that is passed over who started in it, and who was refused.
        """
        if saying.bound and not saying.open:
            self._told_or_left(saying)
        else:
            self._gangs.tell_events(saying)

    def _told_or_left(self, saying: Saying) -> bool:
        """
        Say what there is to say of one gang; one that is odd keeps nobody silent.
        """
        try:
            return self._gangs.write(saying)
        except BusyError:
            raise
        except Exception:  # noqa: BLE001 - the next one is told all the same
            fields = {"gang": saying.standing.key}
            _log.exception("status_failed", extra={"fields": fields})
            return True  # until there is something else to say

    def _pause(self, seconds: float) -> None:
        """
        Wait, unless there is something newer to say.
        """
        with self._wake:
            if self.thread.is_alive and not self._is_outdated():
                self._wake.wait(seconds)

    def _is_outdated(self) -> bool:
        return self._next is not None or self._hushed or self._stopped

    def _forget(self, every: Sequence[Saying]) -> None:
        """
        Keep nothing of gangs and pods that are gone.
        """
        keys = {saying.standing.key for saying in every}
        if self._proofs is not None:
            self._proofs.keep(keys)
        self._settled = {k: said for k, said in self._settled.items() if k in keys}
        self._stood = {k: stood for k, stood in self._stood.items() if k in keys}
        self._gangs.keep(every)


def _is_same(before: Saying | None, now: Saying) -> bool:
    """
    Tell whether a gang stands as it did when all of it was said.

    Claims keep their objects while nothing in them changes.
    """
    if before is None or before.claim.source is not now.claim.source:
        return False
    timeless = replace(now.standing, round=before.standing.round)
    return (
        timeless == replace(before.standing, now=now.standing.now)
        and before.pods == now.pods
        and before.events == now.events
        and before.open == now.open
        and [*map(id, before.claim.others)] == [*map(id, now.claim.others)]
    )

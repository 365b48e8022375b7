"""
Tells the cluster what was decided: groups in their own words, pods, events.

A thread of its own writes what the newest round says, and nothing that is said
already: first of gangs that stand otherwise than before, then of those never told of,
the most important and oldest first.  It never holds up who binds, and while binds are
under way it leaves them the server; what fails is tried again or let go.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adapters.kube.api.api_resources import Place
from adapters.kube.api.client import Transport
from adapters.kube.dialects.protocol import Dialect
from adapters.kube.status.debounce import Steady
from adapters.kube.status.groups import GroupStatus, Writing, regarding, unheard
from adapters.kube.status.k8s_events import EVENTS, Notice, Notices, Regarding
from adapters.kube.status.pods import Lookup, PodStatus
from adapters.kube.status.proofs import Proofs
from adapters.kube.status.rate_limit import BusyError, Wire, WritePace
from adapters.kube.status.sayings import Saying, Told, sayings
from adapters.machine.supervised import SupervisedThread
from models.reasons import counted

_log = logging.getLogger(__name__)
_MOST_MISSED = 8
Counted = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """
    What a status writer speaks with: who reads and writes, and who counts.

    ``lookup`` gives the pods that the API server shows; ``counted`` is told of every
    request: what it was about (``group``, ``pod``, ``event``) and its outcome.
    ``writing`` hears of each write to a group, and which version came of it.
    ``proofs`` say why gangs wait; without them it is the reason of the round.
    """

    transport: Transport
    dialects: Sequence[Dialect]
    lookup: Lookup
    notices: Notices
    counted: Counted = lambda _what, _outcome: None
    writing: Writing = unheard
    proofs: Proofs | None = None


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
        self._groups = GroupStatus(
            self._wire, voice.dialects, self._event, voice.writing
        )
        self._pods = PodStatus(self._wire, voice.lookup)
        self._notices = voice.notices
        self._proofs = voice.proofs
        self._steady = Steady(clock, self._pace.refresh)
        self._settled: dict[str, Saying] = {}
        self._stood: dict[str, tuple[str, str | None]] = {}
        self._alone: dict[str, tuple[str, str | None]] = {}
        self._wake = threading.Condition()
        self._next: Told | None = None
        self._missed: deque[Told] = deque(maxlen=_MOST_MISSED)
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

        What was refused in a round that is passed over is still told.
        """
        with self._wake:
            if self._next is not None and self._next.receipts:
                self._missed.append(self._next)
            self._next = told
            self._wake.notify_all()

    def hush(self) -> None:
        """
        Write nothing of what was handed in: somebody else leads.
        """
        with self._wake:
            self._missed.clear()
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
        while self._missed:
            for saying in sayings(self._missed.popleft()):
                self._tell_events(saying)
        whole, every = True, sorted(sayings(told), key=self._urgency)
        proofs = self._proofs
        if proofs is not None:
            proofs.begin(told)
        for saying in every if proofs is None else map(proofs.of, every):
            key = saying.standing.key
            if _is_same(self._settled.get(key), saying):
                continue
            self._settled.pop(key, None)
            if self._told_or_left(saying):
                self._settled[key] = saying
                self._stood[key] = _stands(saying)
            else:
                whole = False
            if self._is_outdated():
                return True
        self._forget(every)
        return whole and not (proofs is not None and proofs.is_open)

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
        if saying.events or (before is not None and before != _stands(saying)):
            rank = 0
        else:
            rank = 1 if before is None else 2
        priority, age = saying.weight
        return rank, -priority, -age

    def _told_or_left(self, saying: Saying) -> bool:
        """
        Say what there is to say of one gang; one that is odd keeps nobody silent.
        """
        try:
            return self._gang(saying)
        except BusyError:
            raise
        except Exception:  # noqa: BLE001 - the next one is told all the same
            fields = {"gang": saying.standing.key}
            _log.exception("status_failed", extra={"fields": fields})
            return True  # until there is something else to say

    def _gang(self, saying: Saying) -> bool:
        """
        Say what there is to say of one gang; tell whether it is said.
        """
        self._tell_events(saying)
        if saying.open:
            return True  # what becomes of it, the next round says
        steady = self._steady.of(saying)
        whole = self._groups.write(steady.claim, steady.standing)
        if steady.claim.source is None:
            self._tell_of_it(steady)
        # Numbers that are not said yet are, as soon as they may.
        whole &= steady.message == saying.message
        return self._pods.write(steady, self._is_outdated) and whole

    def _tell_events(self, saying: Saying) -> None:
        for event in saying.events:
            self._event(self._about(saying), event)

    def _tell_of_it(self, saying: Saying) -> None:
        """
        Tell of a gang without an object of its own, once for each of its reasons.
        """
        standing, now = saying.standing, _stands(saying)
        if self._alone.get(standing.key) == now:
            return
        self._alone[standing.key] = now
        if standing.binding:
            bound = counted(standing.binding, "pod")
            note = f"{bound} bound, {standing.minimum} needed"
            self._event(self._about(saying), ("Normal", "Scheduled", note))
        elif standing.reason is not None:
            said = {p.said.partition(":")[0] for p in self._pods.waiting(saying)}
            if said != {standing.reason}:  # else as before we were started
                event = ("Warning", "FailedScheduling", saying.message)
                self._event(self._about(saying), event)

    def _about(self, saying: Saying) -> Regarding | None:
        """
        Give the object that stands for a gang: its own, else its first pod.
        """
        if saying.claim.source is not None:
            return regarding(saying.claim.source)
        first = min((*saying.pods, *saying.bound), default=None)
        if first is None:
            return None
        namespace, _, name = first[0].partition("/")
        return Regarding(
            api_version="v1", kind="Pod", namespace=namespace, name=name, uid=first[1]
        )

    def _event(self, about: Regarding | None, event: tuple[str, str, str]) -> None:
        if about is None or not about.name:
            return
        place: Place = (EVENTS.group, EVENTS.version, EVENTS.plural, "", "")
        if self._wire.is_muted(place):
            return
        kind, reason, note = event
        notice = Notice(regarding=about, type=kind, reason=reason, note=note)
        written = self._notices.say(notice)
        if written is not None:
            place = (*place[:3], about.namespace, notice.name)
            self._wire.sent("event", place, written)

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
            self._proofs.end(keys)
        self._steady.keep(keys)
        self._settled = {k: said for k, said in self._settled.items() if k in keys}
        self._stood = {k: stood for k, stood in self._stood.items() if k in keys}
        self._alone = {k: said for k, said in self._alone.items() if k in keys}
        self._pods.keep({uid for saying in every for _, uid in saying.pods})
        self._groups.keep([saying.claim for saying in every])


def _stands(saying: Saying) -> tuple[str, str | None]:
    """
    Give what people look for first: the state of a gang, and why it waits.
    """
    return saying.standing.state, saying.standing.reason


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
        and all(
            one is other
            for one, other in zip(before.claim.others, now.claim.others, strict=False)
        )
    )

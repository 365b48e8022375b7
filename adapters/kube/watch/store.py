"""
The records of one resource: written by its reflector, read by the cache.

Nothing is decided here.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase

T = TypeVar("T")
_MOST_OWN = 1000


@dataclass(frozen=True, slots=True)
class Assumed:
    """
    A pod that we bound or told to leave: which, where, and how long we believe it.
    """

    uid: str
    node: str
    until: float
    leaves: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    def told(
        self, notes: Mapping[str, str] | None, before: "Assumed | None"
    ) -> "Assumed":
        """
        Say what annotations tell the pod; those of before where none are said.
        """
        if notes is None and before is not None and before.node == self.node:
            notes = before.notes
        return replace(self, notes=notes or {})

    def is_confirmed(self, record: PodRecord) -> bool:
        """
        Tell whether what the API server shows is what we assume.
        """
        phase = PodPhase.TERMINATING if self.leaves else PodPhase.RUNNING
        return (
            record.uid == self.uid
            and record.node == self.node
            and record.phase is phase
        )

    def is_over(self, record: PodRecord) -> bool:
        """
        Tell whether what the API server shows ends what we assume.
        """
        if record.uid != self.uid:
            return True
        if self.leaves:
            return record.phase is not PodPhase.RUNNING
        return record.node is not None or record.phase is not PodPhase.PENDING


def _no_one() -> None:
    return


class Shelf(Generic[T]):
    """
    The records of one resource by name, each with the number of its version.

    ``touch`` is told of every change that may matter for planning; what we wrote
    ourselves, between ``begin_write`` and ``end_write``, is none.
    """

    def __init__(
        self, lock: threading.Lock, touch: Callable[[], None] = _no_one
    ) -> None:
        self.records: dict[str, T] = {}
        self.version = ""
        self._own: set[int] = set()
        self._writing: dict[str, list[int]] = {}
        self._numbers: dict[str, int] = {}
        self._lock = lock
        self._touch = touch

    def replace(self, listed: dict[str, tuple[int, T]], version: str) -> None:
        """
        Take a whole list; a record that did not change stays the same object.
        """
        with self._lock:
            for key in [key for key in self.records if key not in listed]:
                self._drop(key)
            for key, (number, record) in listed.items():
                if self.records.get(key) != record:
                    self._put(key, record)
                self._numbers[key] = number
            self.version = version

    def put(self, key: str, number: int, record: T, version: str) -> None:
        """
        Take one record.
        """
        with self._lock:
            if self._is_ours(key, number):
                self.records[key] = record
            elif self.records.get(key) != record:
                self._put(key, record)
            self._numbers[key] = number
            self.version = version

    def begin_write(self, key: str) -> None:
        """
        Hear that we write an object: what comes of it may be heard before the answer.
        """
        with self._lock:
            self._writing[key] = []

    def end_write(self, key: str, number: int) -> None:
        """
        Hear which version we made, 0 where none; others that came are changes.
        """
        with self._lock:
            came = self._writing.pop(key, [])
            if any(each != number for each in came):
                self._touch()
            if number and number not in came:
                while len(self._own) >= _MOST_OWN:
                    self._own.pop()
                self._own.add(number)

    def drop(self, key: str, version: str) -> None:
        """
        Forget one record.
        """
        with self._lock:
            self._drop(key)
            self.version = version

    def mark(self, version: str) -> None:
        """
        Note that nothing else happened up to a version.
        """
        with self._lock:
            self.version = version

    def number(self, key: str) -> int | None:
        """
        Give the version of the record held, none where there is none.
        """
        return self._numbers.get(key)

    def _is_ours(self, key: str, number: int) -> bool:
        """
        Tell whether a version is one that we wrote, or may be.
        """
        if number in self._own:
            self._own.discard(number)
            return True
        if key not in self._writing:
            return False
        self._writing[key].append(number)
        return True

    def _put(self, key: str, record: T) -> None:
        self.records[key] = record
        self._touch()

    def _drop(self, key: str) -> None:
        if self.records.pop(key, None) is not None:
            self._touch()
        self._numbers.pop(key, None)


class PodShelf(Shelf[PodRecord]):
    """
    The pods, by name and by node; what is heard of a pod ends what we assumed of it.
    """

    def __init__(
        self,
        lock: threading.Lock,
        assumed: dict[str, Assumed],
        touch: Callable[[], None] = _no_one,
    ) -> None:
        super().__init__(lock, touch)
        self.by_node: dict[str, dict[str, PodRecord]] = {}
        self._assumed = assumed

    def _put(self, key: str, record: PodRecord) -> None:
        old, held = self.records.get(key), self._assumed.get(key)
        self._leave(key)
        self.records[key] = record
        if record.node is not None:
            self.by_node.setdefault(record.node, {})[key] = record
        confirmed = held is not None and held.is_confirmed(record)
        if held is not None and held.is_over(record):
            del self._assumed[key]
        if not confirmed and not _merely_started(old, record):
            self._touch()

    def _drop(self, key: str) -> None:
        self._leave(key)
        self._assumed.pop(key, None)
        super()._drop(key)

    def _leave(self, key: str) -> None:
        old = self.records.get(key)
        if old is None or old.node is None:
            return
        there = self.by_node[old.node]
        del there[key]
        if not there:
            del self.by_node[old.node]


def _merely_started(old: PodRecord | None, record: PodRecord) -> bool:
    """
    Tell whether all that is new is when a pod started, which decides nothing yet.
    """
    if old is None or old.started == record.started:
        return False
    return replace(old, started=record.started) == record

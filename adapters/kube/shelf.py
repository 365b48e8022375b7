"""
The records of one resource: written by its reflector, read by the cache.

Nothing is decided here.
"""

import threading
from dataclasses import dataclass
from typing import Generic, TypeVar

from adapters.kube.pods import PodRecord
from models.gangs import PodPhase

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Assumed:
    """
    A pod that we bound: which, where, and until when we believe it unheard.
    """

    uid: str
    node: str
    until: float


class Shelf(Generic[T]):
    """
    The records of one resource by name, each with the number of its version.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self.records: dict[str, T] = {}
        self.version = ""
        self._numbers: dict[str, int] = {}
        self._lock = lock

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
            self._put(key, record)
            self._numbers[key] = number
            self.version = version

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

    def _put(self, key: str, record: T) -> None:
        self.records[key] = record

    def _drop(self, key: str) -> None:
        self.records.pop(key, None)
        self._numbers.pop(key, None)


class PodShelf(Shelf[PodRecord]):
    """
    The pods, by name and by node; what is heard of a pod ends what we assumed of it.
    """

    def __init__(self, lock: threading.Lock, assumed: dict[str, Assumed]) -> None:
        super().__init__(lock)
        self.by_node: dict[str, dict[str, PodRecord]] = {}
        self._assumed = assumed

    def _put(self, key: str, record: PodRecord) -> None:
        self._leave(key)
        self.records[key] = record
        if record.node is not None:
            self.by_node.setdefault(record.node, {})[key] = record
        held = self._assumed.get(key)
        if held is not None and (
            record.uid != held.uid
            or record.node is not None
            or record.phase is not PodPhase.PENDING
        ):
            del self._assumed[key]

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

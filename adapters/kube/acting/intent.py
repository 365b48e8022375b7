"""
The durable intent of a shard: what a round is about to bind, and what is remembered.

One ConfigMap, written once per round before its first bind, with the version that we
wrote last as precondition.  A new leader writes it first of all; so whoever led before
and does not know yet that he no longer does cannot begin another round.

What does not fit stands in further ConfigMaps, which the first one lists with digests:
one that is not what the list says is not read.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adapters.kube.acting import intent_format as form
from adapters.kube.acting.intent_format import Intent, Part
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    NotFoundError,
)
from adapters.machine.clock import monotonic
from models.errors import printable

_log = logging.getLogger(__name__)
_RULE = '{{apiGroups: [""], resources: ["configmaps"], verbs: ["{}"]}}'
_HOLDER = "phalanx.dev/holder"
_TOO_LARGE = frozenset({413, 422})
_SMALLEST = 64 * 1024
_REMEMBER_EVERY = 60.0
_LIST = 4096
MOST_OBJECTS = 16
"""
The ConfigMaps of one shard.
"""
_DOWNWARDS = range(MOST_OBJECTS - 1, 0, -1)
MOST_BINDS = 50_000
MOST_TEXT = 8 * 2**20
"""
The binds of one round, and the letters of their names, nodes and uids.
"""


class FencedError(ClusterError):
    """
    Somebody else has written the intent since we did: he leads now.

    Unless ``is_lost``, the object is looked at again before the next write, for it may
    be ours all the same.  If it is lost, nothing can be stored until it is claimed.
    """

    def __init__(self, name: str, *, is_lost: bool = False) -> None:
        self.is_lost = is_lost
        super().__init__(f"the intent {name} is no longer ours")


def names_of(name: str) -> list[str]:
    """
    Name every object that the intent of that name may stand in.
    """
    return [*(_numbered(name, number) for number in range(MOST_OBJECTS)), _unread(name)]


def place_of(namespace: str, shard: str) -> tuple[str, str]:
    """
    Say where the intent of a shard stands.
    """
    return namespace, f"phalanx-{shard}-intent"


def looked_at(transport: Transport, place: tuple[str, str]) -> Intent:
    """
    Read what the first object of an intent holds, and leave it as it is.

    What concerns no single gang stands there.
    """
    raw = _ConfigMap(transport, place, "").read()
    return Intent() if raw is None else form.read([form.decoded(raw)], [])


class IntentStore:
    """
    The objects of one shard, as far as this process has written them.

    ``size`` counts the bytes that were written last, and ``left_out`` the gangs of
    which nothing is kept, since there is no room.  ``is_lost`` says that the intent is
    gone or somebody else's: whoever leads must claim it again.
    """

    def __init__(
        self,
        transport: Transport,
        place: tuple[str, str],
        identity: str,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.size = 0
        self.left_out = 0
        self.is_lost = False
        self._clock = clock
        self._limit = form.LIMIT
        self._name = place[1]
        self._objects = [
            _ConfigMap(transport, (place[0], _numbered(self._name, number)), identity)
            for number in range(MOST_OBJECTS)
        ]
        self._aside = _ConfigMap(transport, (place[0], _unread(self._name)), identity)
        self._remembered: list[tuple[int, str]] = []
        self._remembered_at = 0.0
        self._lost = 0

    def claim(self) -> Intent:
        """
        Read what the last leader left, and make the objects ours.

        What cannot be read is set aside and said, and the rest is what is found.
        """
        first, *_ = self._objects
        raw = first.read()
        self.is_lost = False
        if raw is None:
            first.create({})
            return Intent()
        faults: list[str] = []
        part = form.decoded(raw)
        others = list(self._others(part, faults))
        found = form.read([part, *(other for _, other in others)], faults)
        if faults:
            self._set_aside(raw, faults)
        first.write(raw)
        for own, other in others:
            own.put(other)
        gangs = len(found.memory.get("gangs", ()))
        fields = {"round": found.round, "binds": len(found.binds), "gangs": gangs}
        _log.info("intent_found", extra={"fields": fields})
        return found

    def write(self, intent: Intent) -> None:
        """
        Store an intent in place of the one before.

        Raises
        ------
        FencedError
            When somebody else has written since.
        """
        while True:
            try:
                self._write(intent)
            except FencedError as error:
                self.is_lost = error.is_lost
                raise
            except AnswerError as error:
                if error.status not in _TOO_LARGE:
                    raise
                if self._limit <= _SMALLEST:
                    self._limit = form.LIMIT  # it is not the size that is refused
                    raise
                self._limit //= 2  # a server may take less than it does by default
                _log.warning(
                    "intent_too_large", extra={"fields": {"error": str(error)}}
                )
            else:
                return

    def _write(self, intent: Intent) -> None:
        first = self._objects[0]
        part = form.whole(intent, self._limit)
        entries: list[tuple[int, str]] = []
        left_out = 0
        if part is None:
            bounded = form.under_way(intent, self._limit - _LIST).most(MOST_OBJECTS)
            (part, _), *rest = bounded.parts
            gangs = intent.memory.get("gangs", {})
            entries = self._gangs(gangs, MOST_OBJECTS - len(rest))
            left_out = bounded.left_out + self._lost
            for number, (more, _) in zip(_DOWNWARDS, rest, strict=False):
                self._objects[number].put(more)
                entries.append((number, form.digest(more)))
            part = {**part, form.MORE: form.listed(entries)}
        else:
            self._remembered = []
        first.put(part, is_fence=True)
        self.left_out = left_out
        self.size = form.size(part) + sum(self._objects[n].size for n, _ in entries)

    def _gangs(self, gangs: Mapping[str, Any], free: int) -> list[tuple[int, str]]:
        """
        Store what is remembered of gangs beside the first object, once in a minute.

        It is a cache of many megabytes, and each round changes a little of it.
        """
        now = self._clock()
        kept = self._remembered
        is_young = now < self._remembered_at + _REMEMBER_EVERY
        if kept and is_young and kept[-1][0] < free:
            return list(kept)
        bounded = form.remembered(gangs, self._limit).most(free - 1)
        self._remembered = []
        for number, (part, _) in enumerate(bounded.parts, start=1):
            self._objects[number].put(part)
            self._remembered.append((number, form.digest(part)))
        self._remembered_at, self._lost = now, bounded.left_out
        return list(self._remembered)

    def _others(
        self, part: Part, faults: list[str]
    ) -> Iterator[tuple["_ConfigMap", Part]]:
        """
        Read the further objects that the first one lists.
        """
        for number, said in form.entries_of(part, faults):
            if not 0 < number < MOST_OBJECTS:
                faults.append(f"there is no object {number}")
                continue
            own = self._objects[number]
            found = form.decoded(own.read())
            if form.digest(found) == said:
                yield own, found
            else:
                faults.append(f"{own.name} is not what was written with it")

    def _set_aside(self, data: Mapping[str, str], faults: list[str]) -> None:
        """
        Keep what cannot be read under another name, and say so.
        """
        where = self._aside.name
        try:
            self._aside.read()
            self._aside.write(data)
        except ClusterError as error:
            where = f"nowhere ({error})"
        fields = {
            "object": self._objects[0].name,
            "kept_in": where,
            "problems": [printable(fault) for fault in faults[:10]],
        }
        _log.error("intent_set_aside", extra={"fields": fields})


class _ConfigMap:
    """
    One ConfigMap, and the version and content that we know it to have.
    """

    def __init__(
        self, transport: Transport, place: tuple[str, str], identity: str
    ) -> None:
        self.name = "/".join(place)
        self.size = 0
        self._transport = transport
        self._namespace, self._own = place
        self._identity = identity
        self._version = ""
        self._digest = ""

    def read(self) -> dict[str, str] | None:
        """
        Give what the object holds; none where it is not there.
        """
        raw = self._read()
        data = None if raw is None else raw.get("binaryData")
        return None if raw is None else data if isinstance(data, dict) else {}

    def put(self, part: Part, *, is_fence: bool = False) -> None:
        """
        Write a part; the one that is the fence must still be ours.

        Raises
        ------
        FencedError
            When somebody else has written since.
        """
        digest = form.digest(part)
        if not is_fence and self._version and digest == self._digest:
            return
        if not self._version:
            raw = self._read()
            if is_fence and (raw is None or _holder(raw) != self._identity):
                raise FencedError(self.name, is_lost=True)
        try:
            self.write(form.encoded(part))
        except (ConflictError, NotFoundError) as error:
            raise FencedError(self.name) from error
        self._digest, self.size = digest, form.size(part)

    def write(self, data: Mapping[str, str]) -> None:
        """
        Write data where the object is as we know it; make it where it is not there.
        """
        version, self._version, self._digest = self._version, "", ""
        if not version:
            self.create(data)
            return
        path = f"{self._path}/{self._own}"
        self._version = _version(self._call("PUT", path, self._body(data, version)))

    def create(self, data: Mapping[str, str]) -> None:
        """
        Make the object.
        """
        self._version = _version(self._call("POST", self._path, self._body(data)))

    def _read(self) -> dict[str, Any] | None:
        try:
            raw = self._call("GET", f"{self._path}/{self._own}")
        except NotFoundError:
            self._version = ""
            return None
        self._version = _version(raw)
        return raw

    def _call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        verb = {"GET": "get", "POST": "create", "PUT": "update"}[method]
        return self._transport.call(method, path, body, rule=_RULE.format(verb))

    def _body(self, data: Mapping[str, str], version: str = "") -> dict[str, Any]:
        meta: dict[str, Any] = {
            "name": self._own,
            "namespace": self._namespace,
            "annotations": {_HOLDER: self._identity},
        }
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta | ({"resourceVersion": version} if version else {}),
            "binaryData": dict(data),
        }

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self._namespace}/configmaps"


def _numbered(name: str, number: int) -> str:
    return f"{name}-{number}" if number else name


def _unread(name: str) -> str:
    return f"{name}-unread"


def _meta(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = raw.get("metadata")
    return meta if isinstance(meta, dict) else {}


def _version(raw: Mapping[str, Any]) -> str:
    return str(_meta(raw).get("resourceVersion") or "")


def _holder(raw: Mapping[str, Any]) -> object:
    notes = _meta(raw).get("annotations")
    return notes.get(_HOLDER) if isinstance(notes, dict) else None

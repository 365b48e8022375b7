"""
Events for people: one per thing that is said of a gang, repeated as a series.

An event's name is made of what it says, so that two replicas, or one that was started
again, go on with the same series.  Who says too much at once is cut short.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.status.patches import PatchOutcome, Written, send
from models.errors import escaped

EVENTS = Resource(
    group="events.k8s.io", version="v1", plural="events", kind="Event", namespaced=True
)
CONTROLLER = "phalanx"
ACTION = "Scheduling"
MOST_NOTE = 1024
"""
The most bytes that the API server takes as a note.
"""
_MOST_NAME = 200
_MOST_SEEN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Regarding:
    """
    The object that an event is about.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""

    def reference(self) -> dict[str, str]:
        """
        Write it as events do.
        """
        written = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {**written, "uid": self.uid} if self.uid else written


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """
    What is said of an object: its type (``Normal``, ``Warning``), reason and note.
    """

    regarding: Regarding
    type: str
    reason: str
    note: str

    @property
    def name(self) -> str:
        """
        The name of its event: equal notices have one name.
        """
        said = "\n".join(
            (*self.regarding.reference().values(), self.type, self.reason, self.note)
        )
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        return f"{self.regarding.name[:_MOST_NAME].rstrip('-.')}.{digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLimits:
    """
    How much may be said.

    About one object ``burst`` notices, and one more every ``every`` seconds; the same
    notice once in ``again`` seconds.  At most ``known`` objects are remembered.
    """

    burst: int = 5
    every: float = 60.0
    again: float = 300.0
    known: int = 20_000


@dataclass(slots=True)
class _Object:
    """
    What was said of one object: when it may speak again, and when it said what.
    """

    credit: float
    at: float
    said: dict[str, float] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)


class Notices:
    """
    Says notices as events; ``instance`` is who says them, ``now`` the time of day.
    """

    def __init__(
        self,
        transport: Transport,
        instance: str,
        *,
        clock: Callable[[], float],
        now: Callable[[], float],
        bounds: EventLimits | None = None,
    ) -> None:
        self._transport = transport
        self._instance = instance[:128]
        self._clock = clock
        self._now = now
        self._bounds = bounds or EventLimits()
        self._objects: dict[Regarding, _Object] = {}
        self.held_back = 0

    def say(self, notice: Notice) -> Written | None:
        """
        Say something; none where it was said lately, or too much was.

        What was held back is counted into its series, once it is said again.
        """
        notice = _fit(notice)
        name, at = notice.name, self._clock()
        about = self._about(notice.regarding, at)
        about.seen[name] = about.seen.get(name, 0) + 1
        last = about.said.get(name)
        if (last is not None and at - last < self._bounds.again) or about.credit < 1.0:
            self.held_back += 1
            return None
        about.credit -= 1.0
        written = self._put(notice, name, about.seen[name], known=last is not None)
        if written.outcome is PatchOutcome.DONE:
            about.said[name] = at
            about.seen[name] = 0
        return written

    def _about(self, regarding: Regarding, at: float) -> _Object:
        """
        Give what is known of an object, with the credit that time has given it.
        """
        bounds = self._bounds
        about = self._objects.pop(regarding, None)
        if about is None:
            about = _Object(credit=float(bounds.burst), at=at)
            self._forget(at)
        self._objects[regarding] = about  # the one heard of last is the last to go
        gained = (at - about.at) / bounds.every
        about.credit = min(float(bounds.burst), about.credit + gained)
        about.at = at
        about.said = {
            name: said for name, said in about.said.items() if at - said < 3600.0
        }
        for name in list(about.seen)[:-_MOST_SEEN]:
            del about.seen[name]
        return about

    def _forget(self, at: float) -> None:
        """
        Forget objects of which all that is known has run out, and those too many.

        One that was not heard of for so long may speak and repeat as if it were new.
        """
        bounds = self._bounds
        until = at - max(bounds.again, bounds.burst * bounds.every)
        while self._objects:
            oldest = next(iter(self._objects))
            is_over = self._objects[oldest].at < until
            if not is_over and len(self._objects) < bounds.known:
                return
            del self._objects[oldest]

    def _put(self, notice: Notice, name: str, times: int, *, known: bool) -> Written:
        """
        Make an event, or go on with its series where it is there.
        """
        if not known:
            written = self._made(notice, name)
            if written.outcome is not PatchOutcome.CONFLICT:
                return written
        written = self._counted(notice, name, times)
        if written.outcome is PatchOutcome.GONE:  # events are forgotten after an hour
            return self._made(notice, name)
        return written

    def _made(self, notice: Notice, name: str) -> Written:
        path = path_of(EVENTS, notice.regarding.namespace)
        body = event_of(notice, name, self._instance, micro(self._now()))
        rule = rule_of(EVENTS, "create")
        return send(self._transport, "POST", path, body, rule=rule)

    def _counted(self, notice: Notice, name: str, times: int) -> Written:
        """
        Add to the series of an event, as often as it was seen since.
        """
        path = path_of(EVENTS, notice.regarding.namespace, name)
        rule = rule_of(EVENTS, "patch")
        found = send(self._transport, "GET", path, rule=rule_of(EVENTS, "get"))
        if found.outcome is not PatchOutcome.DONE:
            return found
        count = max(1, _count(found.answer)) + max(1, times)
        series = {"count": count, "lastObservedTime": micro(self._now())}
        return send(self._transport, "PATCH", path, {"series": series}, rule=rule)


def event_of(notice: Notice, name: str, instance: str, moment: str) -> Raw:
    """
    Write a notice as an event.
    """
    space = notice.regarding.namespace
    return {
        "apiVersion": f"{EVENTS.group}/{EVENTS.version}",
        "kind": "Event",
        "metadata": {"name": name, "namespace": space},
        "eventTime": moment,
        "reportingController": CONTROLLER,
        "reportingInstance": instance,
        "action": ACTION,
        "type": notice.type,
        "reason": notice.reason,
        "note": notice.note,
        "regarding": notice.regarding.reference(),
    }


def micro(now: float) -> str:
    """
    Write a time as events do, with microseconds.
    """
    return datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _fit(notice: Notice) -> Notice:
    """
    Cut a note that is too long; what cannot be seen in it is spelled out.
    """
    shown = escaped(notice.note)
    note = shown.encode()
    if len(note) > MOST_NOTE:
        shown = f"{note[: MOST_NOTE - 3].decode(errors='ignore')}…"
    return notice if shown == notice.note else replace(notice, note=shown)


def _count(answer: Mapping[str, Any] | None) -> int:
    series = (answer or {}).get("series") or {}
    count = series.get("count") if isinstance(series, Mapping) else None
    return count if isinstance(count, int) else 1

"""
One resource of the API server, followed: listed in pages, then watched.

What is seen is reduced at once and handed to a shelf.  Nothing is decided here.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.error_answers import status_error
from adapters.kube.api.errors import (
    ClusterError,
    DisorderError,
    ExpiredError,
    ForbiddenError,
    NotFoundError,
    ObjectUnreadError,
    ThrottledError,
    UnreachableError,
    UnreadableError,
    is_lasting,
)
from adapters.kube.api.list_pages import Pass, Take
from adapters.kube.api.paths import called, version_of
from adapters.kube.api.unread import DEEPEST, Unread, too_deep
from adapters.kube.api.watch_events import identity, number_of, parsed
from adapters.kube.api.watch_stream import Stream
from adapters.kube.objects.fields import FieldError, mapping, shown
from adapters.kube.watch.pace import Pace, State
from adapters.kube.watch.store import Shelf
from adapters.machine.clock import monotonic
from adapters.machine.supervised import SupervisedThread
from models.errors import printable

T = TypeVar("T")
_MOST_PASSED = 1000
_log = logging.getLogger(__name__)


class Reflector(Generic[T]):
    """
    Follows one resource in a thread of its own, from ``start`` to ``stop``.

    ``settled`` is set once the resource was read or found missing.  An object that
    cannot be read is passed by, and named in ``passed_by`` until it can be or is gone:
    what was last read of it stands.
    """

    def __init__(
        self,
        resource: Resource,
        transport: Transport,
        shelf: Shelf[T],
        reduce: Callable[[Raw], T],
        *,
        pace: Pace | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.resource = resource
        self.state = State.UNSYNCED
        self.error: ClusterError | None = None
        self.passed_by: dict[str, str] = {}
        self._transport = transport
        self._shelf = shelf
        self._reduce = reduce
        self._pace = pace or Pace()
        self._clock = clock
        self._fresh: float | None = None
        self._version = ""
        self._failures = 0
        self.settled = threading.Event()
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self.thread = SupervisedThread(f"reflect-{called(resource)}", self._run)

    @property
    def synced(self) -> bool:
        """
        Tell whether all of the resource was read once.
        """
        return self.state is State.SYNCED

    @property
    def is_refused(self) -> bool:
        """
        Tell whether nothing was read, more than once, for a reason that lasts.
        """
        unread = self.state is State.UNSYNCED
        return unread and self._failures > 1 and is_lasting(self.error)

    def staleness(self) -> float | None:
        """
        Give the seconds since we last knew to be up to date; none before the first.
        """
        fresh = self._fresh
        return None if fresh is None else max(0.0, self._clock() - fresh)

    def start(self) -> None:
        """
        Begin to follow.
        """
        self.thread.start()

    def stop(self) -> None:
        """
        End at once; what still arrives is thrown away.
        """
        self.thread.stop()
        self._stopped.set()
        if (stream := self._stream) is not None:
            stream.wake()

    def join(self, seconds: float) -> bool:
        """
        Wait for the thread, and tell whether it has ended.
        """
        return self.thread.join(seconds)

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                delay = self._round()
                if delay:
                    self._stopped.wait(delay)
        except BaseException as error:
            self._version = ""  # whoever begins again reads all of it
            what = f"{called(self.resource)}: {type(error).__name__}: {error}"
            self.error = UnreadableError(printable(what))
            raise

    def _round(self) -> float:
        """
        List where we must, then watch once; give the seconds until the next round.
        """
        try:
            if not self._version:
                self._list()
            self._watch()
        except NotFoundError:
            return self._lacks()
        except ForbiddenError as error:
            if self._is_served():
                return self._failed(error)
            return self._lacks()
        except (ExpiredError, DisorderError) as error:
            self._version = ""
            return self._failed(error)
        except ClusterError as error:
            return self._failed(error)
        return 0.0

    def _list(self) -> None:
        """
        Read all pages; of each object its record is all that is kept.
        """
        began = self._clock()
        listed: dict[str, tuple[int, T]] = {}
        passed: dict[str, str] = {}

        def skip(found: Unread) -> None:
            self._pass_by(found.key, found.why, passed)
            if (held := self._shelf.records.get(found.key)) is not None:
                listed[found.key] = number_of(found.version), held

        def take(raw: dict[str, Any]) -> None:
            try:
                key, number = identity(raw, called(self.resource))
                listed[key] = number, self._reduced(key, raw)
            except UnreadableError as error:
                skip(_unread(raw, error))

        version = self._pages(take, skip)
        if version is None:
            return
        self._shelf.replace(listed, version)
        self.passed_by = passed
        self._version = version
        self._fresh = began
        if self.state is not State.SYNCED:
            self._say("resource_synced", count=len(listed))
        self.state = State.SYNCED
        self.settled.set()
        self._healthy()

    def _pages(self, take: Take, skip: Pass) -> str | None:
        """
        Read one page after the other, and give their version; none once we stop.
        """
        token, limit = "", self._pace.limit
        while True:
            page = self._transport.page(self.resource, limit, token, take, skip)
            if self._stopped.is_set():
                return None
            token = page.token
            if not token:
                break
        if not page.version:
            raise UnreadableError(f"{called(self.resource)}: a list without a version")
        return page.version

    def _watch(self) -> None:
        """
        Follow until the server ends the stream; a plain end is no failure.
        """
        began = self._clock()
        stream = self._transport.watch(self.resource, self._version, self._pace.watch)
        self._stream = stream
        heard = False
        try:
            if self._stopped.is_set():  # before there was a stream to wake
                return
            for line in stream:
                if self._stopped.is_set():
                    return
                self._take(line)
                heard = True
        finally:
            self._stream = None
            stream.close()
        if heard or self._clock() - began >= self._pace.short:
            self._fresh = self._clock()  # the server had said all when it ended it
            self._healthy()
        elif not self._stopped.is_set():
            raise UnreachableError(
                f"watch {called(self.resource)}", "the server ended it at once"
            )

    def _take(self, line: bytes) -> None:
        """
        Take one event.
        """
        try:
            event, raw = parsed(line, called(self.resource))
        except ObjectUnreadError as error:
            if error.is_gone:
                self._shelf.drop(error.key, error.version)
                self.passed_by.pop(error.key, None)
            else:
                self._pass_by(error.key, error.why, self.passed_by)
            self._advance(error.version)
            return
        if event == "ERROR":
            raise status_error(f"watch {called(self.resource)}", raw)
        version = raw["metadata"]["resourceVersion"]
        if event == "BOOKMARK":
            self._shelf.mark(version)
        elif not self._applied(event, raw, version):
            return
        self._advance(version)

    def _advance(self, version: str) -> None:
        self._version = version
        self._fresh = self._clock()
        self._healthy()

    def _applied(self, event: str, raw: dict[str, Any], version: str) -> bool:
        """
        Apply an event that is newer than all before; one seen already is passed by.
        """
        key, number = identity(raw, called(self.resource))
        if number and number <= number_of(self._version):
            held = self._shelf.number(key)
            if event == "DELETED" if held is None else number <= held:
                return False
            raise DisorderError(
                f"{called(self.resource)} {key}: version {number} came after "
                f"{self._version}"
            )
        if event == "DELETED":
            self._shelf.drop(key, version)
            self.passed_by.pop(key, None)
            return True
        try:
            self._shelf.put(key, number, self._reduced(key, raw), version)
        except ObjectUnreadError as error:
            self._pass_by(key, error.why, self.passed_by)
        else:
            self.passed_by.pop(key, None)
        return True

    def _reduced(self, key: str, raw: Raw) -> T:
        """
        Keep of an object what is needed; whatever is odd in it is its own fault.
        """
        where = called(self.resource)
        try:
            self._check_kind(raw)
            return self._reduce(raw)
        except FieldError as error:
            raise ObjectUnreadError(where, key, "", str(error)) from error
        except MemoryError:
            raise
        except Exception as error:
            deep = too_deep(raw)
            why = f"{type(error).__name__}: {error}"
            if deep is not None:
                why = f"{deep}: it is nested deeper than {DEEPEST} levels"
            raise ObjectUnreadError(where, key, "", why) from error

    def _check_kind(self, raw: Raw) -> None:
        """
        Refuse an object that says it is of another kind: its answer would go astray.

        One without a namespace, or with one that its kind has not, would be known
        under two names, and be there twice.
        """
        ours = {"kind": self.resource.kind, "apiVersion": version_of(self.resource)}
        for word, wanted in ours.items():
            if raw.get(word, wanted) != wanted:
                raise FieldError(word, f"{shown(raw[word])} is not {wanted}")
        space = mapping(raw, "metadata").get("namespace")
        if bool(space) != self.resource.namespaced:
            what = f"{shown(space)}, and {self.resource.plural} have "
            what += "a namespace" if self.resource.namespaced else "none"
            raise FieldError("metadata.namespace", what)

    def _pass_by(self, key: str, why: str, passed: dict[str, str]) -> None:
        """
        Note an object that is passed by, and say so, once for each cause.
        """
        key, why = key or "without a name", printable(why)
        if self.passed_by.get(key) != why and passed.get(key) != why:
            about = {"resource": called(self.resource), "object": printable(key)}
            _log.warning("object_passed_by", extra={"fields": {**about, "error": why}})
        if len(passed) < _MOST_PASSED:
            passed[key] = why

    def _is_served(self) -> bool:
        """
        Tell an object that we may not read from one that is not there.
        """
        try:
            return self._transport.serves(self.resource)
        except ClusterError:
            return True

    def _lacks(self) -> float:
        """
        Note that the kind is not installed, and say so once.
        """
        if self.state is not State.MISSING:
            self._say("resource_missing")
            self._shelf.replace({}, "")
        self.state = State.MISSING
        self.settled.set()
        self._version = ""
        self._fresh = self._clock()
        self.error = None
        self._failures = 0
        return self._pace.until_next_look()

    def _failed(self, error: ClusterError) -> float:
        """
        Note a failure and give the seconds to wait: twice as long each time, jittered.
        """
        if self._stopped.is_set():
            return 0.0
        self.error = error
        self._failures += 1
        told = not isinstance(error, UnreachableError | ThrottledError)
        if told and self._failures >= self._pace.tries:
            self._version = ""  # the version that we resume from may be the trouble
        delay = self._pace.delay(self._failures)
        if isinstance(error, ThrottledError):
            delay += error.seconds
        self._say("resource_failed", error=str(error), seconds=round(delay, 2))
        return delay

    def _healthy(self) -> None:
        self._failures = 0
        self.error = None

    def _say(self, event: str, **fields: object) -> None:
        about = {"resource": called(self.resource), **fields}
        _log.info(event, extra={"fields": about})


def _unread(raw: Raw, error: UnreadableError) -> Unread:
    """
    Name an object that was parsed and cannot be read, as far as it has a name.
    """
    why = error.why if isinstance(error, ObjectUnreadError) else str(error)
    meta = raw.get("metadata")
    words = {
        word: value
        for word in ("name", "namespace")
        if isinstance(meta, Mapping) and isinstance(value := meta.get(word), str)
    }
    return Unread(why=why, **words)

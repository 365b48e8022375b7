"""
One resource of the API server, followed: listed in pages, then watched.

What is seen is reduced at once and handed to a shelf.  Nothing is decided here.
"""

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    ClusterError,
    DisorderError,
    ExpiredError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
    UnreachableError,
    UnreadableError,
    is_lasting,
)
from adapters.kube.api.paths import called
from adapters.kube.api.watch_stream import Stream
from adapters.kube.watch.pace import Pace, State
from adapters.kube.watch.read_resource import ReadResource
from adapters.kube.watch.store import Shelf
from adapters.machine.clock import monotonic
from adapters.machine.supervised import SupervisedThread
from models.errors import printable

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Reflector(Generic[T]):
    """
    Follows one resource in a thread of its own, from ``start`` to ``stop``.

    ``settled`` is set once the resource was read or found missing.
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
        self._transport = transport
        self._read = ReadResource(resource, shelf, reduce)
        self._pace = pace or Pace()
        self._clock = clock
        self._fresh: float | None = None
        self._failures = 0
        self.settled = threading.Event()
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self.thread = SupervisedThread(f"reflect-{called(resource)}", self._run)

    @property
    def passed_by(self) -> dict[str, str]:
        """
        Name the objects that cannot be read, and why.
        """
        return self._read.passed_by

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
        tried = self.state is State.UNSYNCED and self._failures > 1
        return tried and is_lasting(self.error)

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
            self._read.begin_anew()  # whoever begins again reads all of it
            what = f"{called(self.resource)}: {type(error).__name__}: {error}"
            self.error = UnreadableError(printable(what))
            raise

    def _round(self) -> float:
        """
        List where we must, then watch once; give the seconds until the next round.
        """
        try:
            if not self._read.version:
                self._list()
            elif self._failures:
                self._read.check(self._transport)
            self._watch()
        except NotFoundError as error:
            return self._lacks(error)
        except ForbiddenError as error:
            served = _is_served(self._transport, self.resource)
            return self._failed(error) if served else self._lacks(error)
        except (ExpiredError, DisorderError) as error:
            self._read.begin_anew()
            return self._failed(error)
        except ClusterError as error:
            return self._failed(error)
        return 0.0

    def _list(self) -> None:
        """
        Read all pages; of each object its record is all that is kept.
        """
        listing = self._read.listing(self._clock())
        limit, stops = self._pace.limit, self._stopped.is_set
        if not listing.read(self._transport, limit, stops):
            return
        if self.state is not State.SYNCED:
            self._say("resource_synced", count=len(listing))
        self.state = State.SYNCED
        self.settled.set()
        self._healthy()
        self._fresh = listing.began

    def _watch(self) -> None:
        """
        Follow until the server ends the stream; a plain end is no failure.
        """
        began = self._clock()
        version = self._read.version
        stream = self._transport.watch(self.resource, version, self._pace.watch)
        self._stream = stream
        heard = False
        try:
            if self._stopped.is_set():  # before there was a stream to wake
                return
            for line in stream:
                if self._stopped.is_set():
                    return
                if self._read.take(line):
                    self._healthy()
                heard = True
        finally:
            self._stream = None
            stream.close()
        if heard or self._clock() - began >= self._pace.short:
            self._healthy()  # the server had said all when it ended it
        elif not self._stopped.is_set():
            raise UnreachableError(
                f"watch {called(self.resource)}", "the server ended it at once"
            )

    def _lacks(self, error: ClusterError) -> float:
        """
        Note that the kind is not installed, and say so once.
        """
        if self.synced and not self._read.is_gone(self._pace.gone):
            return self._failed(error)
        if self.state is not State.MISSING:
            self._say("resource_missing")
            self._read.empty()
        self.state = State.MISSING
        self.settled.set()
        self._read.begin_anew()
        self._healthy()
        return self._pace.until_next_look()

    def _failed(self, error: ClusterError) -> float:
        """
        Note a failure and give the seconds to wait: twice as long each time, jittered.
        """
        if self._stopped.is_set():
            return 0.0
        self.error = error
        self._failures = 1 if self._read.has_moved() else self._failures + 1
        told = not isinstance(error, UnreachableError | ThrottledError)
        if told and self._failures >= self._pace.tries:
            self._read.begin_anew()  # to resume from there may be the trouble
        delay = self._pace.delay(self._failures)
        if isinstance(error, ThrottledError):
            delay += error.seconds
        self._say("resource_failed", error=str(error), seconds=round(delay, 2))
        return delay

    def _healthy(self) -> None:
        self._fresh = self._clock()
        self._failures = 0
        self.error = None

    def _say(self, event: str, **fields: object) -> None:
        about = {"resource": called(self.resource), **fields}
        _log.info(event, extra={"fields": about})


def _is_served(transport: Transport, resource: Resource) -> bool:
    """
    Tell an object that we may not read from one that is not there.
    """
    try:
        return transport.serves(resource)
    except ClusterError:
        return True

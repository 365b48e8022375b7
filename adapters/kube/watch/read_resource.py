"""
What was read of one resource: listed whole, then brought up to date event by event.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.error_answers import status_error
from adapters.kube.api.errors import (
    DisorderError,
    ObjectUnreadError,
    UnreadableError,
)
from adapters.kube.api.paths import called, version_of
from adapters.kube.api.unread import DEEPEST, Unread, too_deep
from adapters.kube.api.watch_events import identity, number_of, parsed
from adapters.kube.objects.fields import FieldError, mapping, shown
from adapters.kube.watch.store import Shelf
from models.errors import printable

T = TypeVar("T")
_MOST_PASSED = 1000
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ReadResource(Generic[T]):
    """
    The records of a resource as of ``version``; none was read where that is empty.

    An object that cannot be read is passed by, and named in ``passed_by`` until it can
    be or is gone: what was last read of it stands.  A list that is read in part is
    ``unfinished``; ``lacked`` counts how often in a row there was no such kind.
    """

    resource: Resource
    shelf: Shelf[T]
    reduce: Callable[[Raw], T]
    version: str = ""
    passed_by: dict[str, str] = field(default_factory=dict)
    unfinished: "ResourceListing[T] | None" = None
    lacked: int = 0

    def listing(self, now: float) -> "ResourceListing[T]":
        """
        Begin to read all of it, or go on after the last page that was read.
        """
        if self.unfinished is None or not self.unfinished.token:
            self.unfinished = ResourceListing(self, now)
        return self.unfinished

    def begin_anew(self) -> None:
        """
        Let all of it be read again, from the first page on.
        """
        self.version, self.unfinished = "", None

    def has_moved(self) -> bool:
        """
        Tell whether a page was read since this was asked last.
        """
        listing = self.unfinished
        moved = listing is not None and listing.has_moved
        if listing is not None:
            listing.has_moved = False
        return moved

    def is_gone(self, most: int) -> bool:
        """
        Count that there is no such kind, and tell whether ``most`` times were too few.
        """
        self.lacked += 1
        return self.lacked > most

    def empty(self) -> None:
        """
        Forget all of it: there is no such kind.
        """
        self.shelf.replace({}, "")
        self.begin_anew()

    def check(self, transport: Transport) -> None:
        """
        Ask for the present version: a server does not refuse to watch from a later one.

        Raises
        ------
        DisorderError
            Where we are ahead: the server's store was put back to what it was before.
        """
        page = transport.page(self.resource, 1, "", lambda _: None)
        self.lacked = 0
        if number_of(page.version) < number_of(self.version):
            raise DisorderError(
                f"{called(self.resource)}: the server is at version {page.version}, "
                f"before {self.version}"
            )

    def take(self, line: bytes) -> bool:
        """
        Take one event, and tell whether it says anything new.
        """
        try:
            event, raw = parsed(line, called(self.resource))
        except ObjectUnreadError as error:
            if error.is_gone:
                self.shelf.drop(error.key, error.version)
                self.passed_by.pop(error.key, None)
            else:
                self.pass_by(error.key, error.why, self.passed_by)
            self.version = error.version
            return True
        if event == "ERROR":
            raise status_error(f"watch {called(self.resource)}", raw)
        version = raw["metadata"]["resourceVersion"]
        if event == "BOOKMARK":
            self.shelf.mark(version)
        elif not self._applied(event, raw, version):
            return False
        self.version = version
        return True

    def _applied(self, event: str, raw: dict[str, Any], version: str) -> bool:
        """
        Apply an event that is newer than all before; one seen already is passed by.
        """
        key, number = identity(raw, called(self.resource))
        if number and number <= number_of(self.version):
            held = self.shelf.number(key)
            if event == "DELETED" if held is None else number <= held:
                return False
            raise DisorderError(
                f"{called(self.resource)} {key}: version {number} came after "
                f"{self.version}"
            )
        if event == "DELETED":
            self.shelf.drop(key, version)
            self.passed_by.pop(key, None)
            return True
        try:
            self.shelf.put(key, number, self.reduced(key, raw), version)
        except ObjectUnreadError as error:
            self.pass_by(key, error.why, self.passed_by)
        else:
            self.passed_by.pop(key, None)
        return True

    def reduced(self, key: str, raw: Raw) -> T:
        """
        Keep of an object what is needed; whatever is odd in it is its own fault.
        """
        where = called(self.resource)
        try:
            _check_kind(self.resource, raw)
            return self.reduce(raw)
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

    def pass_by(self, key: str, why: str, passed: dict[str, str]) -> None:
        """
        Note an object that is passed by, and say so, once for each cause.
        """
        key, why = key or "without a name", printable(why)
        if self.passed_by.get(key) != why and passed.get(key) != why:
            about = {"resource": called(self.resource), "object": printable(key)}
            _log.warning("object_passed_by", extra={"fields": {**about, "error": why}})
        if len(passed) < _MOST_PASSED:
            passed[key] = why


class ResourceListing(Generic[T]):
    """
    A list that is being read; of each object its record is all that is kept.

    It ``began`` at some moment; ``token`` is that of the page that comes next.
    """

    def __init__(self, of: ReadResource[T], began: float) -> None:
        self.began = began
        self.token = ""
        self.has_moved = False
        self._of = of
        self._records: dict[str, tuple[int, T]] = {}
        self._passed: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._records)

    def skip(self, found: Unread) -> None:
        """
        Pass an object by; what was last read of it stands.
        """
        self._of.pass_by(found.key, found.why, self._passed)
        held = self._of.shelf.records.get(found.key)
        if held is not None:
            self._records[found.key] = number_of(found.version), held

    def take(self, raw: dict[str, Any]) -> None:
        """
        Keep the record of an object.
        """
        try:
            key, number = identity(raw, called(self._of.resource))
            self._records[key] = number, self._of.reduced(key, raw)
        except UnreadableError as error:
            self.skip(_unread(raw, error))

    def read(self, transport: Transport, limit: int, stops: Callable[[], bool]) -> bool:
        """
        Read one page after the other, until one ``stops``; tell whether it is all.

        Where that fails it goes on from there the next time: a server that refuses one
        request in ten would else never get through a list of forty pages.
        """
        resource = self._of.resource
        while True:
            page = transport.page(resource, limit, self.token, self.take, self.skip)
            if stops():
                return False
            self.token, self.has_moved = page.token, True
            if not page.token:
                break
        if not page.version:
            raise UnreadableError(f"{called(resource)}: a list without a version")
        self._end(page.version)
        return True

    def _end(self, version: str) -> None:
        """
        Put what was read in the place of all before.
        """
        self._of.shelf.replace(self._records, version)
        self._of.passed_by = self._passed
        self._of.version, self._of.unfinished, self._of.lacked = version, None, 0


def _check_kind(resource: Resource, raw: Raw) -> None:
    """
    Refuse an object that says it is of another kind: its answer would go astray.

    One without a namespace, or with one that its kind has not, would be known under
    two names, and be there twice.
    """
    ours = {"kind": resource.kind, "apiVersion": version_of(resource)}
    for word, wanted in ours.items():
        if raw.get(word, wanted) != wanted:
            raise FieldError(word, f"{shown(raw[word])} is not {wanted}")
    space = mapping(raw, "metadata").get("namespace")
    if bool(space) != resource.namespaced:
        what = f"{shown(space)}, and {resource.plural} have "
        what += "a namespace" if resource.namespaced else "none"
        raise FieldError("metadata.namespace", what)


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

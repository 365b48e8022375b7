"""
The queues and topologies of all dialects together, and the queue of who names none.
"""

from collections.abc import Iterable, Sequence

from adapters.kube.dialects.defaults import Defaults
from adapters.kube.dialects.protocol import Dialect, Objects
from adapters.kube.objects.fields import shown
from adapters.kube.objects.names import is_subdomain
from models.queues import Queue
from models.topology import Topology

_PLAIN = ("default", "default-queue")
_MADE_UP = (*_PLAIN, "phalanx-default")


def queues_of(
    dialects: Iterable[Dialect], objects: Objects, warnings: list[str]
) -> list[Queue]:
    """
    Read the queues; of two of one name the one of the dialect heard first holds.

    Those whose parents lead round in a circle are left out, and those above which one
    is missing.
    """
    found: dict[str, Queue] = {}
    said_by: dict[str, str] = {}
    for dialect in dialects:
        for queue in dialect.queues(objects, warnings):
            if not is_subdomain(queue.name):
                what = "is no name that Kubernetes takes"
                warnings.append(f"queue {shown(queue.name)} is left out: it {what}")
                continue
            heard = said_by.setdefault(queue.name, dialect.name)
            if heard == dialect.name:
                found[queue.name] = queue
            else:
                what = f"said by {heard} and {dialect.name}: {heard} is heard"
                warnings.append(f"queue {queue.name} is {what}")
    for name in [name for name in found if _is_in_a_circle(name, found)]:
        what = "its parents lead round in a circle"
        warnings.append(f"queue {name} is left out: {what}")
        del found[name]
    for name, lost in [(name, _lost_above(name, found)) for name in sorted(found)]:
        if lost is not None:
            what = f"above it, {lost} does not exist"
            warnings.append(f"queue {name} is left out: {what}")
            del found[name]
    return [found[name] for name in sorted(found)]


def _is_in_a_circle(name: str, queues: dict[str, Queue]) -> bool:
    at, seen = queues[name].parent, {name}
    while at in queues:
        if at in seen:
            return True
        seen.add(at)
        at = queues[at].parent
    return False


def _lost_above(name: str, queues: dict[str, Queue]) -> str | None:
    """
    Name the parent that is missing above a queue; none where all are there.
    """
    at = queues[name].parent
    while at in queues:
        at = queues[at].parent
    return at


def topologies_of(
    dialects: Iterable[Dialect], objects: Objects, warnings: list[str]
) -> list[Topology]:
    """
    Read the topologies; of two of one name the one of the dialect heard first holds.
    """
    found: dict[str, Topology] = {}
    for dialect in dialects:
        for topology in dialect.topologies(objects, warnings):
            first = found.setdefault(topology.name, topology)
            if first.levels != topology.levels:
                what = f"has other levels in the words of {dialect.name}"
                warnings.append(f"topology {topology.name} {what}: they are unread")
    return [found[name] for name in sorted(found)]


class Homes:
    """
    Finds the queue of gangs that name none; makes one where there must be one.
    """

    def __init__(self, queues: Sequence[Queue]) -> None:
        parents = {queue.parent for queue in queues}
        self._names = {queue.name for queue in queues}
        self._leaves = self._names - parents
        self._lowest = min((q.priority for q in queues if not q.parent), default=100)
        self._guests = 0
        self._made: Queue | None = None

    def of(self, plain: Defaults) -> str:
        """
        Give the queue that a dialect means by saying none.

        Where its system knows no queues, and no queue is called ``default``, others
        must not keep it from running: it gets one without quota and without limit.
        """
        wanted = (plain.queue, *_PLAIN)
        there = next((name for name in wanted if name in self._leaves), None)
        if there is not None:
            return there
        if plain.has_queues or not self._names:
            return plain.queue
        if self._made is None:
            free = next(name for name in _MADE_UP if name not in self._names)
            self._made = Queue(name=free, priority=self._lowest)
        self._guests += 1
        return self._made.name

    def made(self, warnings: list[str]) -> list[Queue]:
        """
        Give the queue that was made, if one was, and say so.
        """
        if self._made is None:
            return []
        gangs = "1 gang names" if self._guests == 1 else f"{self._guests:,} gangs name"
        warnings.append(
            f"{gangs} no queue and none is called default, so the queue "
            f"{self._made.name} is made up, without quota and limit; "
            "the label phalanx/queue names another"
        )
        return [self._made]

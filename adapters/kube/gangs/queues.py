"""
The queues and topologies of all dialects together, and the queue of who names none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from adapters.kube.dialects.defaults import Defaults
from adapters.kube.dialects.protocol import Dialect, Objects
from adapters.kube.objects.fields import shown
from adapters.kube.objects.object_names import is_subdomain
from models.queues import MOST_KEEPING, MOST_LEVELS, Queue
from models.resources import GPU
from models.topology import Topology
from models.why.reasons import Reason, Waiting, counted, listed

_PLAIN = ("default", "default-queue")
_MADE_UP = (*_PLAIN, "phalanx-default")


@dataclass(frozen=True, slots=True)
class Queues:
    """
    The queues that can be used, and why gangs of each of the others wait.
    """

    usable: list[Queue]
    lost: Mapping[str, Waiting]

    @property
    def are_said(self) -> bool:
        """
        Tell whether there are rules at all, be it that none can be used.
        """
        return bool(self.usable or self.lost)


def queues_of(
    dialects: Iterable[Dialect], objects: Objects, warnings: list[str]
) -> Queues:
    """
    Read the queues; of two of one name the one of the dialect heard first holds.

    Those whose parents form a cycle are left out, those above which one is missing,
    and those below too many.
    """
    found = _said(dialects, objects, warnings)
    lost: dict[str, Waiting] = {}
    for name in sorted(found):
        path, last = _path(name, found)
        if last is None:
            continue
        if last in path:
            ring = " → ".join([*path[path.index(last) :], last])
            detail = f"the parents of queue {name} form a cycle: {ring}"
            lost[name] = Waiting(Reason.CONFIG_CONFLICT, {"detail": detail})
            what = "its parents form a cycle"
        elif last in found:
            what = f"more than {MOST_LEVELS} queues are above one another"
            detail = f"queue {name}: {what}"
            lost[name] = Waiting(Reason.CONFIG_CONFLICT, {"detail": detail})
        else:
            lost[name] = _not_there(last)
            what = f"above it, {last} does not exist"
        warnings.append(f"queue {name} is left out: {what}")
    usable = [found[name] for name in sorted(found) if name not in lost]
    return Queues(_lending(usable, warnings), lost)


def _lending(queues: list[Queue], warnings: list[str]) -> list[Queue]:
    """
    Let the queues that keep the most GPUs keep room, as many as may; the others lend.
    """
    keeping = [queue for queue in queues if queue.keeps]
    keeping.sort(key=lambda queue: (-queue.rule(GPU).kept, queue.name))
    lends = {queue.name for queue in keeping[MOST_KEEPING:]}
    if lends:
        one = "lends all it has" if len(lends) == 1 else "lend all they have"
        warnings.append(
            f"{counted(len(keeping), 'queue')} keep room for themselves, and at most "
            f"{MOST_KEEPING} can: {listed(sorted(lends), 'queue')} {one}"
        )
    return [_lent(queue) if queue.name in lends else queue for queue in queues]


def _lent(queue: Queue) -> Queue:
    rules = queue.resources.items()
    return replace(
        queue, resources={name: replace(rule, lend=None) for name, rule in rules}
    )


def _not_there(queue: str) -> Waiting:
    return Waiting(Reason.QUEUE_NOT_FOUND, {"queue": queue})


def _path(name: str, queues: Mapping[str, Queue]) -> tuple[list[str], str | None]:
    """
    List a queue with those above it, and what stops there, if anything does.

    That is one twice, one missing, or one too many.
    """
    path = [name]
    while True:
        at = queues[path[-1]].parent
        if at is None or at in path or at not in queues or len(path) == MOST_LEVELS:
            return path, at
        path.append(at)


def _said(
    dialects: Iterable[Dialect], objects: Objects, warnings: list[str]
) -> dict[str, Queue]:
    """
    Read the queues as they are said.
    """
    found: dict[str, Queue] = {}
    said_by: dict[str, str] = {}
    for dialect in dialects:
        for queue in dialect.queues(objects, warnings):
            if not is_subdomain(queue.name):
                what = "is not a valid Kubernetes name"
                warnings.append(f"queue {shown(queue.name)} is left out: it {what}")
                continue
            heard = said_by.setdefault(queue.name, dialect.name)
            if heard == dialect.name:
                found[queue.name] = queue
            else:
                what = f"described by {heard} and {dialect.name}: {heard} is used"
                warnings.append(f"queue {queue.name} is {what}")
    return found


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
                warnings.append(f"topology {topology.name} {what}: they are ignored")
    return [found[name] for name in sorted(found)]


class Homes:
    """
    Finds the queue of gangs that name none; makes one where there must be one.
    """

    def __init__(self, said: Queues) -> None:
        queues = said.usable
        self._said = said
        parents = {queue.parent for queue in queues}
        self._names = {queue.name for queue in queues}
        self._leaves = self._names - parents
        self._lowest = min((q.priority for q in queues if not q.parent), default=100)
        free = next(name for name in _MADE_UP if name not in self._names)
        self._spare = Queue(name=free, priority=self._lowest)

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
        is_guest = self.is_guest(plain)
        return self._spare.name if is_guest else plain.queue

    def is_guest(self, plain: Defaults) -> bool:
        """
        Tell whether a gang that names none is in the queue that is made up.
        """
        there = any(name in self._leaves for name in (plain.queue, *_PLAIN))
        return not there and not plain.has_queues and self._said.are_said

    def lost(self, queue: str) -> Waiting | None:
        """
        Say why gangs of a queue wait that cannot be used as it is said.

        Where none can be used there are rules all the same, so that who names another
        one waits as well.
        """
        known = self._said.lost.get(queue)
        if known is None and not self._names and self._said.are_said:
            return _not_there(queue)
        return known

    def made(self, guests: int, warnings: list[str]) -> list[Queue]:
        """
        Give the queue that is made up for some gangs, if there are any, and say so.
        """
        if not guests:
            return []
        gangs = "1 gang names" if guests == 1 else f"{guests:,} gangs name"
        warnings.append(
            f"{gangs} no queue and none is called default, so the queue "
            f"{self._spare.name} is made up, without quota and limit; "
            "the label phalanx/queue names another"
        )
        return [self._spare]

"""
A cluster as a source of snapshots: reflectors fill a cache, the assembly reads a view.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.paths import called
from adapters.kube.api.unread import DEEPEST, too_deep
from adapters.kube.dialects.protocol import Dialect
from adapters.kube.gangs.assemble import SCHEDULERS, Assembled, Assembler
from adapters.kube.gangs.kinds import CLAIMS, VOLUMES, resources_of
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.node_pool import WHOLE, NodePool
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import Reducer
from adapters.kube.objects.volume_records import reduced
from adapters.kube.watch.cache import NODES, PODS, Cache, View
from adapters.kube.watch.pace import Pace, State
from adapters.kube.watch.reflector import Reflector
from adapters.machine.clock import monotonic
from adapters.machine.supervised import SupervisedThread
from models.errors import printable
from models.snapshot import Snapshot

_MOST_TOLD = 20
_LOOK = 0.1
"""
The seconds after which we look again whether waiting is still of use.
"""


class ClusterSource:
    """
    Follows a cluster from ``start`` to ``stop`` and gives snapshots of it.

    ``cache`` takes the pods that we bind; ``now`` is the time of day.
    """

    def __init__(  # noqa: PLR0913 - the last three differ in tests only
        self,
        transport: Transport,
        dialects: Sequence[Dialect],
        schedulers: Sequence[str] = SCHEDULERS,
        *,
        pool: NodePool = WHOLE,
        pace: Pace | None = None,
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        resources = resources_of(dialects)
        self.cache = Cache(resources, clock=clock)
        self.reflectors: tuple[Reflector[Any], ...] = tuple(
            Reflector(
                resource,
                transport,
                self.cache.shelf(resource),
                reducer_of(resource),
                pace=pace,
                clock=clock,
            )
            for resource in resources
        )
        self.view: View | None = None
        self.made: Assembled | None = None
        self._transport = transport
        self._assembler = Assembler(dialects, schedulers, pool)
        self._clock = clock
        self._now = now

    @property
    def threads(self) -> list[SupervisedThread]:
        """
        List the threads that follow the cluster.
        """
        return [followed.thread for followed in self.reflectors]

    @property
    def changed(self) -> threading.Event:
        """
        Give the event that every change sets that may matter.
        """
        return self.cache.changed

    @property
    def revision(self) -> int:
        """
        Count the changes that may matter.
        """
        return self.cache.revision

    def start(self) -> None:
        """
        Begin to follow every resource.
        """
        for reflector in self.reflectors:
            reflector.start()

    def stop(self) -> None:
        """
        End at once.
        """
        for reflector in self.reflectors:
            reflector.stop()
        self._transport.close()

    def wait(self, seconds: float) -> bool:
        """
        Wait until every resource was read or found missing; tell whether it was.

        It ends early where no more can come: all that we need, or all that is left,
        is refused for a reason that lasts.
        """
        until = self._clock() + seconds
        for reflector in self.reflectors:
            while not reflector.settled.wait(_LOOK):
                if self._clock() >= until or self._is_refused():
                    return False
        return True

    def _is_refused(self) -> bool:
        needed = [r for r in self.reflectors if r.resource.needed]
        left = [r for r in self.reflectors if not r.settled.is_set()]
        if not left:  # the last was read while we waited for it
            return False
        return all(r.is_refused for r in needed) or all(r.is_refused for r in left)

    def snapshot(self) -> Snapshot:
        """
        Give what the cluster is now.

        Raises
        ------
        SnapshotRefusedError
            When a resource is not read yet or too far behind.
        """
        return self.assembled().snapshot

    def assembled(self) -> Assembled:
        """
        Give what the cluster is now, and what was left out of it.

        ``view`` is what it was made of, with the versions that were read, and ``made``
        what was made of it last.
        """
        self.view = view = self.cache.view(self.reflectors)
        self.made = self._assembler.assembled(
            view.pods, view.nodes, view.objects, self._now(), self.passed_by()
        )
        return self.made

    def problems(self) -> list[str]:
        """
        Say why there can be no snapshot now; nothing where there can.
        """
        return self.cache.problems(self.reflectors)

    def staleness(self) -> dict[str, float | None]:
        """
        Give the age of each kind that is installed; none of those not read yet.
        """
        return {
            called(followed.resource): followed.staleness()
            for followed in self.reflectors
            if followed.state is not State.MISSING
        }

    def passed_by(self) -> list[str]:
        """
        Say which objects cannot be read, and why.
        """
        return [
            f"{followed.resource.kind} {printable(key)} cannot be read, so it is left "
            f"out, or kept as it was: {why}"
            for followed in self.reflectors
            for key, why in sorted(followed.passed_by.copy().items())[:_MOST_TOLD]
        ]

    def num_passed_by(self) -> dict[str, int]:
        """
        Count the objects of each kind that cannot be read.
        """
        return {
            called(followed.resource): len(followed.passed_by)
            for followed in self.reflectors
            if followed.state is not State.MISSING
        }

    def missing(self) -> list[Resource]:
        """
        List the resources that are not installed.
        """
        return [r.resource for r in self.reflectors if r.state is State.MISSING]


def reducer_of(resource: Resource) -> Callable[[Raw], Any]:
    """
    Give what is kept of a resource's objects.
    """
    place = resource.group, resource.plural
    if place == PODS:
        return Reducer().pod
    if place == NODES:
        return node_record
    if resource in {CLAIMS, VOLUMES}:
        return lambda raw: reduced(slim(raw))
    return slim


def slim(raw: Raw) -> Raw:
    """
    Keep an object without what nobody reads: who wrote which field, and when.
    """
    if (place := too_deep(raw)) is not None:
        raise FieldError(place, f"it is nested deeper than {DEEPEST} levels")
    meta: Any = raw["metadata"]
    meta.pop("managedFields", None)
    return raw

"""
All that was read of a cluster, held as records, and one consistent view of it.

Reflectors write, the loop reads; one lock guards both.  Pods that we bound count as
bound before the API server has told us so, and those told to leave as leaving.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from adapters.kube.api.api_resources import Place, Raw, Resource
from adapters.kube.api.errors import SnapshotRefusedError
from adapters.kube.api.paths import called
from adapters.kube.api.watch_events import number_of
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.node_record import NodeRecord
from adapters.kube.objects.parts.device_parts import SharedGpus
from adapters.kube.objects.parts.part_keys import KAI
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.pace import State
from adapters.kube.watch.reflector import Reflector
from adapters.kube.watch.store import Assumed, PodShelf, Shelf
from adapters.machine.clock import monotonic
from models.gangs import PodPhase

PODS = ("", "pods")
NODES = ("", "nodes")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """
    The cluster at one moment, with the resource version of each kind it was read from.

    ``objects`` are those of all kinds but pods and nodes.  Assumed pods are bound here,
    or leave; ``assumed`` names them.
    """

    pods: tuple[PodRecord, ...]
    nodes: tuple[NodeRecord, ...]
    objects: Objects
    versions: Mapping[str, str]
    assumed: tuple[str, ...] = ()


class Cache:
    """
    A shelf per resource, the pods of each node, and the pods we bound ourselves.

    ``confirm`` is how many seconds we take a pod for bound without hearing of it, and
    longer while we hear of no pods at all;
    ``oldest`` is how many seconds a resource may be behind before a view is refused.
    ``revision`` counts the changes that may matter for planning, and ``changed`` is set
    by each of them, for a loop to wait on and clear.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        *,
        clock: Callable[[], float] = monotonic,
        confirm: float = 30.0,
        oldest: float = 90.0,
    ) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._confirm = confirm
        self._oldest = oldest
        self.revision = 0
        self.changed = threading.Event()
        self._assumed: dict[str, Assumed] = {}
        self._pods = PodShelf(self._lock, self._assumed, self._touch)
        self._nodes: Shelf[NodeRecord] = Shelf(self._lock, self._touch)
        self._others: dict[Resource, Shelf[Raw]] = {}
        self._shelves: dict[Resource, Shelf[Any]] = {}
        for resource in resources:
            self._shelves[resource] = self._made(resource)

    def shelf(self, resource: Resource) -> Shelf[Any]:
        """
        Give the shelf that the reflector of a resource writes.
        """
        return self._shelves[resource]

    def assume(
        self,
        pod: str,
        uid: str,
        node: str,
        seconds: float | None = None,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        """
        Take a pod for bound until the API server says what became of it, or time is up.

        ``notes`` are the annotations that say which devices it gets; those of before
        stand where none are said.
        """
        with self._lock:
            held = self._pods.records.get(pod)
            if held is None or held.uid != uid or held.node is not None:
                return  # it is gone, another, or bound already
            until = self._clock() + (seconds or self._confirm)
            before = self._assumed.get(pod)
            self._assumed[pod] = Assumed(uid, node, until).told(notes, before)

    def assume_leaving(self, pod: str, uid: str, seconds: float | None = None) -> None:
        """
        Take a pod for one that leaves from now on, until the API server says so.
        """
        with self._lock:
            held = self._pods.records.get(pod)
            if held is None or held.uid != uid or held.phase is not PodPhase.RUNNING:
                return  # it is gone, another, or leaves already
            until = self._clock() + (seconds or self._confirm)
            self._assumed[pod] = Assumed(uid, held.node or "", until, leaves=True)

    def forget(self, pod: str) -> None:
        """
        Take a pod for what the API server says of it: our binding failed.
        """
        with self._lock:
            if self._assumed.pop(pod, None) is not None:
                self._touch()

    @contextmanager
    def writing(self, place: Place) -> Iterator[Callable[[str], None]]:
        """
        While we write what we decided, in a group or a claim; give whom to tell.

        The version that we made is told to it; that one is no change.
        """
        group, _, plural, space, name = place
        key = f"{space}/{name}" if space else name
        mine = [
            shelf
            for resource, shelf in self._others.items()
            if (resource.group, resource.plural) == (group, plural)
        ]
        made: list[int] = []
        for shelf in mine:
            shelf.begin_write(key)
        try:
            yield lambda version: made.append(number_of(version))
        finally:
            for shelf in mine:
                shelf.end_write(key, made[-1] if made else 0)

    def node(self, name: str) -> NodeRecord | None:
        """
        Give a node as it is now; none where it is gone.
        """
        with self._lock:
            return self._nodes.records.get(name)

    def pods_named(self, keys: Iterable[str]) -> list[PodRecord]:
        """
        List the pods that the API server shows under some keys.
        """
        with self._lock:
            found = (self._pods.records.get(key) for key in keys)
            return [pod for pod in found if pod is not None]

    def pods_that(self, test: Callable[[PodRecord], object]) -> list[PodRecord]:
        """
        List the pods that pass a test; those that we bound are on their nodes.
        """
        with self._lock:
            held, pods = self._assumed, filter(test, self._pods.records.values())
            return [_assumed(p, held[p.key]) if p.key in held else p for p in pods]

    def pods_on(self, node: str) -> tuple[PodRecord, ...]:
        """
        List the pods that the API server shows on a node.
        """
        with self._lock:
            return tuple(self._pods.by_node.get(node, {}).values())

    def view(self, followed: Sequence[Reflector[Any]]) -> View:
        """
        Give all that is held, as it was at one moment.

        Raises
        ------
        SnapshotRefusedError
            When a resource is not read yet or too far behind.
        """
        if problems := self.problems(followed):
            raise SnapshotRefusedError(problems)
        heard = self._clock() - _age_of_pods(followed)
        with self._lock:
            self._expire(heard)
            assumed = tuple(sorted(self._assumed))
            pods = dict(self._pods.records) if assumed else self._pods.records
            for key in assumed:
                pods[key] = _assumed(pods[key], self._assumed[key])
            return View(
                pods=tuple(pods.values()),
                nodes=tuple(self._nodes.records.values()),
                objects=_objects(self._others),
                versions={
                    called(resource): shelf.version
                    for resource, shelf in self._shelves.items()
                    if shelf.version
                },
                assumed=assumed,
            )

    def problems(self, followed: Sequence[Reflector[Any]]) -> list[str]:
        """
        Say which resources do not do for planning, and why.
        """
        return [problem for f in followed for problem in _problems(f, self._oldest)]

    def _made(self, resource: Resource) -> Shelf[Any]:
        if (resource.group, resource.plural) == PODS:
            return self._pods
        if (resource.group, resource.plural) == NODES:
            return self._nodes
        return self._others.setdefault(resource, Shelf(self._lock, self._touch))

    def _expire(self, heard: float) -> None:
        """
        End what we assume until before we ``heard`` of pods last.

        A watch may hang while writes go through: what it does not show is no news.
        """
        for key in [k for k, held in self._assumed.items() if held.until <= heard]:
            del self._assumed[key]
            self._touch()

    def _touch(self) -> None:
        """
        Note a change that may matter; whoever calls this holds the lock.
        """
        self.revision += 1
        self.changed.set()


def _age_of_pods(followed: Sequence[Reflector[Any]]) -> float:
    """
    Give the seconds since we last knew to be up to date with the pods.
    """
    kinds = ((f.resource.group, f.resource.plural, f) for f in followed)
    ages = (f.staleness() for group, plural, f in kinds if (group, plural) == PODS)
    return next(ages, None) or 0.0


def _objects(others: Mapping[Resource, Shelf[Any]]) -> Objects:
    """
    Give the objects by kind; one that is served in two versions is there once.
    """
    by_kind: dict[tuple[str, str], dict[str, Raw]] = {}
    for resource, shelf in others.items():
        if shelf.version:  # else it is not installed
            held = by_kind.setdefault((resource.group, resource.kind), {})
            for key, raw in shelf.records.items():
                held.setdefault(key, raw)
    return Objects(
        by_kind={kind: tuple(held.values()) for kind, held in by_kind.items()}
    )


def _assumed(pod: PodRecord, held: Assumed) -> PodRecord:
    phase = PodPhase.TERMINATING if held.leaves else PodPhase.RUNNING
    said, shared = pod.annotations, pod.shared
    if held.notes and not held.leaves:
        said = {**said, **held.notes}
    if pod.part is not None and not held.leaves:
        is_kept = pod.part.part.contract == KAI
        shared = SharedGpus(frozenset(), 0 if is_kept else pod.part.part.count)
    return replace(pod, node=held.node, phase=phase, annotations=said, shared=shared)


def _problems(followed: Reflector[Any], oldest: float) -> Iterable[str]:
    """
    Say why a resource does not do for planning.
    """
    name = called(followed.resource)
    why = f" ({followed.error})" if followed.error else ""
    if followed.state is State.MISSING:
        if followed.resource.needed:
            yield f"{name} are not served"
        return
    age = followed.staleness()
    if followed.state is State.UNSYNCED or age is None:
        yield f"{name} were not read yet{why}"
    elif age > oldest:
        yield f"{name} are {age:.0f} s old, more than {oldest:.0f} s{why}"

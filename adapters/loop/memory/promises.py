"""
Places that an earlier round promised to pods: reserved, moved, or begun and not ended.

They reach planning as reserved pods; planning binds them, keeps them, or lets them go.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

from adapters.loop.memory.gang_memory import as_number
from models.devices.gpu_parts import GpuDevice
from models.gangs import Gang, Group, Pod, PodPhase, PodSet, Tree, pod_sets
from models.memory.aged_gangs import places_of, replaced
from models.nodes import Node
from models.plan import Operation, Plan
from models.resources import Resources, add
from models.snapshot import Snapshot

T = TypeVar("T")
MOVE_WITHIN: Final = 120.0
"""
The seconds for which a place is held for a moved pod that is not made anew yet.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """
    A node for a pod of a gang; of a moved one, for the pod that comes in its place.

    ``requests`` and ``until`` are of moved pods: what is held, and how long.
    ``devices`` are those of which the pod gets parts, each with where it begins.
    """

    gang: str
    pod: str
    node: str
    uid: str | None = None
    requests: tuple[tuple[str, int], ...] = ()
    until: float = 0.0
    devices: tuple[tuple[int, int], ...] = ()

    def is_moving(self, now: float) -> bool:
        """
        Tell whether its pod is still to be made anew.

        A clock that was set back ends that; those of two leaders differ by less.
        """
        return now < self.until <= now + 2 * MOVE_WITHIN

    @classmethod
    def of(cls, step: Operation) -> "Promise":
        """
        Promise what an operation was to give.
        """
        devices = tuple((one.device, one.start) for one in step.devices)
        return cls(
            gang=step.gang,
            pod=step.pod,
            node=step.node,
            uid=step.uid,
            devices=devices,
        )


class Promises:
    """
    All promises, by the pod that they were made to.
    """

    def __init__(self) -> None:
        self._held: dict[str, Promise] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, promise: Promise) -> None:
        """
        Hold a promise until a plan does not repeat it.
        """
        self._held[promise.pod] = promise

    def void(self, gangs: Collection[str]) -> None:
        """
        Let go what was promised to some gangs.
        """
        for pod in [p for p, held in self._held.items() if held.gang in gangs]:
            del self._held[pod]

    def repeats(self, plan: Plan) -> bool:
        """
        Tell whether a plan does nothing but hold what is promised already.
        """
        return all(
            step.op == "Reserve"
            and (held := self._held.get(step.pod)) is not None
            and (held.node, held.uid) == (step.node, step.uid)
            for step in plan.operations
        )

    def planned(self, snapshot: Snapshot, plan: Plan, now: float) -> None:
        """
        Hold what a plan promises, and of what it does not repeat only moves under way.
        """
        under_way = dict(self._under_way(plan, now))
        made = {
            step.pod: Promise.of(step)
            for step in plan.operations
            if step.op == "Reserve"
        }
        moves = {step.pod: step for step in plan.operations if step.op == "Move"}
        wanted = dict(_requests(snapshot, moves)) if moves else {}
        moved = {
            pod: Promise(
                gang=step.gang,
                pod=pod,
                node=step.node,
                requests=tuple(sorted(wanted.get(pod, {}).items())),
                until=now + MOVE_WITHIN,
                devices=Promise.of(step).devices,
            )
            for pod, step in moves.items()
        }
        self._held = {**under_way, **moved, **made}

    def _under_way(self, plan: Plan, now: float) -> Iterator[tuple[str, Promise]]:
        """
        Walk the moves that a plan gives nobody's place yet: one for each pod it places.
        """
        places = {
            step.pod: (step.gang, step.node)
            for step in plan.operations
            if step.op in {"Bind", "Reserve"}
        }
        taken = Counter(places.values())
        for pod, held in sorted(self._held.items(), key=lambda it: it[0] not in places):
            at = places.get(pod, (held.gang, held.node))
            if not held.is_moving(now):
                continue
            if not taken[at]:
                yield pod, held
            else:
                taken[at] -= 1

    def applied(self, snapshot: Snapshot, now: float) -> Snapshot:
        """
        Give the snapshot with promised pods reserved, and room held for moved ones.
        """
        if not self._held:
            return snapshot
        nodes = {node.name for node in snapshot.nodes}
        mine: dict[str, list[Promise]] = {}
        for held in self._held.values():
            if held.node in nodes:
                mine.setdefault(held.gang, []).append(held)
        load: dict[str, dict[str, int]] = {}
        there = places_of(snapshot.gangs)
        gangs = {
            there[key]: _reserved(snapshot.gangs[there[key]], promised, load, now)
            for key, promised in mine.items()
            if key in there
        }
        return replace(
            snapshot,
            gangs=replaced(snapshot.gangs, gangs),
            nodes=tuple(_loaded(node, load) for node in snapshot.nodes),
        )

    def document(self) -> list[dict[str, Any]]:
        """
        Give the promises as plain values.
        """
        rows = [asdict(held) for _, held in sorted(self._held.items())]
        return [
            {word: value for word, value in row.items() if value or word != "devices"}
            for row in rows
        ]

    def restore(self, documents: Iterable[object]) -> int:
        """
        Take promises that were kept; count those that are not as we write them.
        """
        lost = 0
        for said in documents:
            promise = _read(said)
            if promise is None:
                lost += 1
            else:
                self.hold(promise)
        return lost


def _read(said: object) -> Promise | None:
    """
    Read a promise; what is said besides is passed by, what is not said has a default.
    """
    match said:
        case {"gang": str(gang), "pod": str(pod), "node": str(node), **more}:
            return _promise(gang, pod, node, more)
        case _:
            return None


def _promise(gang: str, pod: str, node: str, more: Mapping[Any, object]) -> Promise:
    uid, until, requests = (more.get(word) for word in ("uid", "until", "requests"))
    return Promise(
        gang=gang,
        pod=pod,
        node=node,
        uid=uid if isinstance(uid, str) else None,
        requests=pairs_in(requests, str),
        until=as_number(until) or 0.0,
        devices=pairs_in(more.get("devices"), int),
    )


def pairs_in(rows: object, first: type[T]) -> tuple[tuple[T, int], ...]:
    """
    Read pairs that end in a number, and pass by what is none.
    """
    return tuple(
        (row[0], row[1])
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, list) and [type(w) for w in row[:2]] == [first, int]
    )


def _requests(
    snapshot: Snapshot, pods: Collection[str]
) -> Iterator[tuple[str, Resources]]:
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                name = f"{gang.namespace}/{pod.name}"
                if name in pods:
                    yield name, leaf.requests


def _reserved(
    gang: Gang, promises: Sequence[Promise], load: dict[str, dict[str, int]], now: float
) -> Gang:
    """
    Reserve the places of a gang's pods that wait.

    What is held for moved pods that are not made anew yet is noted in ``load``.
    """
    waiting = {
        f"{gang.namespace}/{pod.name}": pod
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.PENDING
    }
    places: dict[str, Promise] = {}
    free = [name for name in waiting if all(name != p.pod for p in promises)]
    for promise in promises:
        pod = waiting.get(promise.pod)
        if pod is not None and promise.uid in {None, pod.uid}:
            places[promise.pod] = promise
        elif promise.is_moving(now):
            if free:
                places[free.pop(0)] = promise
            else:
                add(load.setdefault(promise.node, {}), dict(promise.requests))
    return replace(gang, tree=_with_places(gang.tree, gang.namespace, places))


def _with_places(tree: Tree, namespace: str, places: Mapping[str, Promise]) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_with_places(c, namespace, places) for c in tree.children)
        return replace(tree, children=children)
    return _leaf_with_places(tree, namespace, places)


def _leaf_with_places(
    leaf: PodSet, namespace: str, places: Mapping[str, Promise]
) -> PodSet:
    def placed(pod: Pod) -> Pod:
        promise = places.get(f"{namespace}/{pod.name}")
        if promise is None:
            return pod
        devices = tuple(GpuDevice(*one) for one in promise.devices)
        return replace(pod, phase=PodPhase.RESERVED, node=promise.node, devices=devices)

    return replace(leaf, pods=tuple(map(placed, leaf.pods)))


def _loaded(node: Node, load: Mapping[str, Mapping[str, int]]) -> Node:
    held = load.get(node.name)
    if held is None:
        return node
    used = dict(node.used)
    add(used, held)
    return replace(node, used=used)

"""
What the judge keeps of the snapshots before: sums over gangs and nodes that stayed.

It is the judge's own, and no plan is known to it: only immutable parts of snapshots,
by their identity.  After some plans it counts everything anew, so that no mistake of
its own stays, and what it would reject it judges again with nothing kept.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, TypeVar, cast

from models.gangs import Gang, PodPhase, pod_sets
from models.memory.aged_gangs import still
from models.memory.kept import Held, Kept
from models.nodes import Node
from models.resources import Resources, add
from models.snapshot import Snapshot

T = TypeVar("T")
Thing = TypeVar("Thing")
_ANEW_AFTER = 50
"""
How many plans are judged by the same sums.
"""
_MOST_OF_NODES = 100
Queued = dict[tuple[str, bool], Counter[str]]


@dataclass(frozen=True, slots=True)
class Sums:
    """
    What runs of gangs of which no pod leaves: by queue and whether it is preemptible.

    ``on_node`` lists what each pod on a node asks for, under its gang's identity; the
    gangs at the places ``rest`` are not in it.
    """

    queued: Queued = field(default_factory=dict)
    on_node: dict[str, dict[int, list[Resources]]] = field(default_factory=dict)
    rest: Sequence[int] = ()

    def loads(self, node: str) -> list[Resources]:
        """
        List what the pods on a node ask for.
        """
        return [each for some in self.on_node.get(node, {}).values() for each in some]


class JudgeMemo:
    """
    The sums, and what was made of the nodes; all of it may be dropped at any time.

    For one plan alone none are made: where it does not last, every gang is looked at.
    """

    def __init__(self, *, lasts: bool = False) -> None:
        self._lasts = lasts
        self._calm: Kept[Gang, bool] = Kept(_is_calm)
        self._of_each: dict[str, Kept[Any, Any]] = {}
        self._begin()

    def _begin(self) -> None:
        self._judged = 0
        self._held: Held[Gang] = Held()
        self._sums = Sums()
        self._nodes: tuple[Node, ...] = ()
        self._of_nodes: dict[Hashable, object] = {}

    def sums(self, snapshot: Snapshot) -> Sums:
        """
        Give the sums over a snapshot.
        """
        gangs = still(snapshot.gangs)
        if not self._lasts:
            return Sums(rest=range(len(gangs)))
        self._judged += 1
        if self._judged > _ANEW_AFTER:
            self._begin()
        calm = self._calm.of(gangs)
        gone, came = self._held.changed(compress(gangs, calm))
        for gang in gone:
            self._count(gang, -1)
        for gang in came:
            self._count(gang, 1)
        rest = [at for at, is_calm in enumerate(calm) if not is_calm]
        return Sums(self._sums.queued, self._sums.on_node, rest)

    def _count(self, gang: Gang, sign: int) -> None:
        """
        Add what runs of a gang, or take it away.
        """
        queued, on_node = self._sums.queued, self._sums.on_node
        for leaf in pod_sets(gang.tree):
            nodes = [p.node for p in leaf.pods if p.phase is PodPhase.RUNNING]
            here = [node for node in nodes if node is not None]
            if here:
                row = queued.setdefault((gang.queue, gang.preemptible), Counter())
                for name, amount in leaf.requests.items():
                    row[name] += sign * amount * len(here)
            for node in here:
                there = on_node.setdefault(node, {})
                if sign > 0:
                    there.setdefault(id(gang), []).append(leaf.requests)
                else:
                    there.pop(id(gang), None)

    def of_each(
        self, name: str, things: Sequence[Thing], make: Callable[[Thing], T]
    ) -> list[T]:
        """
        Give what is made of each of some immutable things, and of nothing else.
        """
        kept = self._of_each.get(name)
        if kept is None:
            kept = self._of_each[name] = Kept(make)
        return cast("list[T]", kept.of(things))

    def of_nodes(
        self, name: Hashable, nodes: tuple[Node, ...], make: Callable[[], T]
    ) -> T:
        """
        Give what is made of all nodes, and of what is said in the name.
        """
        if nodes != self._nodes or len(self._of_nodes) > _MOST_OF_NODES:
            self._nodes, self._of_nodes = nodes, {}
        if name not in self._of_nodes:
            self._of_nodes[name] = make()
        return cast("T", self._of_nodes[name])

    def offered(self, nodes: tuple[Node, ...]) -> Mapping[str, int]:
        """
        Add up what all nodes offer.
        """
        return self.of_nodes("offered", nodes, lambda: _offered(nodes))


def _offered(nodes: Sequence[Node]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in nodes:
        add(found, node.allocatable)
    return found


def _is_calm(gang: Gang) -> bool:
    """
    Tell whether no pod of a gang leaves, so that time changes no sum of it.
    """
    return not any(
        pod.phase is PodPhase.TERMINATING
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )

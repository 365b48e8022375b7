"""
Since when nothing but our own plans has changed what is wanted and what there is.

It is known from the plan that last made somebody leave for others, and only while no
gang came, ended or failed, and no node, queue or budget changed: planning asks for
nothing older.  What our own plans do is no change: pods that we bound run, those that
we told to leave go, and may be made anew.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from models.gangs import Gang, PodPhase, PodSet, Tree, pod_sets
from models.nodes import Node
from models.plan import Operation, Plan
from models.queues import Queue
from models.snapshot import Snapshot
from models.topology import Topology

_ENDED = frozenset({PodPhase.SUCCEEDED, PodPhase.FAILED})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """
    What a gang wants: all that time and our plans do not change, and so many pods.
    """

    gang: Gang
    pods: int
    ended: int

    def is_still(self, after: "_Wanted", told: int) -> bool:
        """
        Tell whether a gang wants the same, of which some pods were told to leave.
        """
        if not told:
            return self == after
        leaves = {leaf.name: leaf for leaf in pod_sets(self.gang.tree)}
        return (
            replace(after.gang, tree=self.gang.tree) == self.gang
            and all(leaf == leaves.get(leaf.name) for leaf in pod_sets(after.gang.tree))
            and self.pods - told <= after.pods <= self.pods
            and self.ended <= after.ended <= self.ended + told
        )


@dataclass(frozen=True, slots=True)
class _State:
    """
    What there is, and what is wanted of it.
    """

    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    topologies: tuple[Topology, ...]
    budgets: Mapping[str, tuple[tuple[str, ...], int]]
    gangs: Mapping[str, _Wanted]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "_State":
        """
        Take what matters of a snapshot.
        """
        return cls(
            snapshot.nodes,
            snapshot.queues,
            snapshot.topologies,
            {b.name: (b.gangs, b.allowed) for b in snapshot.budgets},
            dict(_wanted(snapshot)),
        )

    def is_still(self, after: "_State", told: Mapping[str, int]) -> bool:
        """
        Tell whether nothing has changed but what we did.

        A budget that lets fewer pods go than before is of our doing, or bars only.
        """
        return (
            self.nodes == after.nodes
            and self.queues == after.queues
            and self.topologies == after.topologies
            and self.budgets.keys() == after.budgets.keys()
            and all(
                gangs == after.budgets[name][0] and after.budgets[name][1] <= allowed
                for name, (gangs, allowed) in self.budgets.items()
            )
            and self._have_still(after, told)
        )

    def _have_still(self, after: "_State", told: Mapping[str, int]) -> bool:
        if not after.gangs.keys() <= self.gangs.keys():
            return False
        for key, before in self.gangs.items():
            now = after.gangs.get(key)
            left = told.get(key, 0)
            if now is None and left < before.pods:
                return False
            if now is not None and not before.is_still(now, left):
                return False
        return True


class Stillness:
    """
    Hears of every snapshot and every plan, and tells for how long nothing has changed.
    """

    def __init__(self) -> None:
        self._seen: Snapshot | None = None
        self._state: _State | None = None
        self._since = 0.0
        self._told: Counter[str] = Counter()

    def seconds(self, snapshot: Snapshot, now: float) -> int | None:
        """
        Hear what there is now; give for how long it is so, where that is known.
        """
        self._seen = snapshot
        if self._state is None:
            return None
        state = _State.of(snapshot)
        if not self._state.is_still(state, self._told):
            self.broken()
            return None
        for key in list(self._told):
            if state.gangs.get(key) == self._state.gangs.get(key):
                del self._told[key]  # all that had to leave are there again
        self._state = replace(self._state, budgets=state.budgets)
        return max(0, int(now - self._since))

    def planned(self, plan: Plan, now: float) -> None:
        """
        Hear of a plan for what was last there, which is carried out from now on.
        """
        leaving = list(leaving_for_others(plan))
        if any(step.rule == "stale" for step in plan.operations):
            self.broken()  # they want their places anew
        if not leaving or self._seen is None:
            return
        if self._state is None:
            self._state, self._since = _State.of(self._seen), now
        self._told.update(step.gang for step in leaving)

    def broken(self) -> None:
        """
        Hear that something has changed.
        """
        self._state = None
        self._told.clear()


def leaving_for_others(plan: Plan) -> Iterator[Operation]:
    """
    Walk the operations that make a pod leave for the sake of others.
    """
    for step in plan.operations:
        if step.op in {"Evict", "Move"} and step.rule != "stale":
            yield step


def _wanted(snapshot: Snapshot) -> Iterator[tuple[str, _Wanted]]:
    """
    Walk the gangs without what time and our plans change.
    """
    for gang in snapshot.gangs:
        phases = Counter(pod.phase for leaf in pod_sets(gang.tree) for pod in leaf.pods)
        ended = sum(phases[phase] for phase in _ENDED)
        timeless = replace(
            gang,
            tree=_shape(gang.tree),
            age=0,
            backoff=int(gang.backoff > 0),
            once_satisfied=False,
            stale_since=None,
            evicted_ago=None,
            passed_over=0,
        )
        here = phases.total() - ended - phases[PodPhase.TERMINATING]
        yield gang.key, _Wanted(timeless, here, ended)


def _shape(tree: Tree) -> Tree:
    """
    Give a tree without its pods, and without how many there are to be.
    """
    if isinstance(tree, PodSet):
        return replace(tree, pods=(), replicas=0)
    return replace(tree, children=tuple(map(_shape, tree.children)))

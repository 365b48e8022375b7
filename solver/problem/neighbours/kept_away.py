"""
Gangs that no node takes, since those that run there let none of their pods be.
"""

from collections.abc import Mapping, Sequence

from models.gangs import Gang, PodPhase, pod_sets
from models.memory.aged_gangs import still
from models.neighbours import Neighbours
from models.why.reasons import Facts, Reason, Waiting, listed
from solver.problem.eligibility import spread_to_groups
from solver.problem.gang_state import Standing, least_need
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Room
from solver.problem.pod_shapes import Shapes
from solver.problem.when_empty.possible_room import Possible


def with_kept_away(
    states: Mapping[str, Standing],
    blocked: Mapping[str, Waiting],
    possible: Possible,
    shapes: Shapes,
    around: PodsAround,
) -> dict[str, Waiting]:
    """
    Block gangs whose pods find no node that their neighbours would let them on.
    """
    found, may_be = dict(blocked), shapes.may_be
    for key, state in states.items():
        if key in blocked or state.satisfied:
            continue
        rows = [shapes.of_leaf[key, i] for i in range(len(state.leaves))]
        kept = [i for i, row in enumerate(rows) if not may_be[row].any()]
        if kept and _cannot_start(state, kept):
            leaf = min((i for i in kept if state.leaves[i].pending), default=kept[0])
            shape = rows[leaf]
            facts: Facts = {"nodes": int((possible.per_node(shape) > 0).sum())}
            facts["detail"] = told(around, shapes.items[shape].neighbours)
            found[key] = Waiting(Reason.NEIGHBOURS_IN_THE_WAY, facts)
    return spread_to_groups(states, found)


def firm_around(around: PodsAround, room: Room, gangs: Sequence[Gang]) -> PodsAround:
    """
    See pods around without those that leave, or that may have to.
    """
    found = around.afterwards()
    for gang in (gang for gang in still(gangs) if gang.preemptible):
        for at, leaf in enumerate(pod_sets(gang.tree)):
            for pod in leaf.pods if leaf.neighbours else ():
                if pod.phase is PodPhase.RUNNING:
                    found.leave(gang, at, room.index.get(pod.node or "", -1))
    return found


def told(around: PodsAround, said: Neighbours) -> str:
    """
    Say by which rules a pod may not be on some nodes.
    """
    words = [
        f"{rule.pods} by {rule.key}"
        for rule in said.apart
        if rule in around.members and around.members[rule].any()
    ]
    words += [
        f"others that are apart from {pods} by {key}"
        for (pods, key), row in sorted(around.holders.items())
        if pods in said.selected and row.any()
    ]
    if said.near is not None:
        words.append(f"no {said.near.pods} near by {', '.join(said.near.keys)}")
    words += [f"{rule.pods} spread by {rule.key}" for rule in said.spread]
    words = words or [f"{rule.pods} by {rule.key}" for rule in said.apart]
    words = words or [f"others that are apart from {name}" for name in said.selected]
    return listed(words, "rule")


def _cannot_start(state: Standing, kept: list[int]) -> bool:
    def places(leaf: int) -> int:
        return 0 if leaf in kept else len(state.leaves[leaf].pending)

    return least_need(state, lambda _: 1, places) is None

"""
Gangs that no node takes beside others, or whose pods find nobody to be near to.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from models.gangs import Gang, PodPhase, pod_sets
from models.memory.aged_gangs import still
from models.neighbours import Neighbours
from models.why.kept_off import APART, NEAR, SPREAD, asks
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

    Nor may they be where nobody is, or comes, that they must be near to.  Who is
    blocked does not come, so others may find nobody then.
    """
    found: dict[str, Waiting] = dict(blocked)
    is_open = [bool(row.any()) for row in shapes.may_be]
    while True:
        coming = {
            row
            for key, state in states.items()
            if key not in found
            for row in _rows(state, shapes)
            if is_open[row]
        }
        coming = _who_find_others(coming, shapes, around)
        more = {
            key: _in_the_way(state, coming, possible, around)
            for key, state in states.items()
            if key not in found and not state.satisfied
            if _cannot_start(state, _kept(state, coming, shapes))
        }
        if not more:
            return found
        found = spread_to_groups(states, found | more)


def _rows(state: Standing, shapes: Shapes) -> list[int]:
    return [shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]


def _who_find_others(
    rows: Iterable[int], shapes: Shapes, around: PodsAround
) -> set[int]:
    """
    Give the shapes whose pods can come in some order in which each finds its like.
    """
    left, found, names = set(rows), set[int](), set[str]()
    while True:
        more = {x for x in left if around.may_find(shapes.items[x].neighbours, names)}
        if not more:
            return found
        left -= more
        found |= more
        names.update(name for x in more for name in shapes.items[x].neighbours.selected)


def _kept(state: Standing, coming: Collection[int], shapes: Shapes) -> list[int]:
    """
    List the leaves of a gang whose pods do not come.
    """
    return [i for i, row in enumerate(_rows(state, shapes)) if row not in coming]


def _in_the_way(
    state: Standing, coming: Collection[int], possible: Possible, around: PodsAround
) -> Waiting:
    shapes = possible.shapes
    kept = _kept(state, coming, shapes)
    leaf = min((i for i in kept if state.leaves[i].pending), default=kept[0])
    row = _rows(state, shapes)[leaf]
    facts: Facts = {"nodes": int((possible.per_node(row) > 0).sum())}
    facts["detail"] = told(around, shapes.items[row].neighbours)
    return Waiting(Reason.NEIGHBOURS_IN_THE_WAY, facts)


def firm_around(around: PodsAround, room: Room, gangs: Sequence[Gang]) -> PodsAround:
    """
    See pods around without those that leave, or that may have to.
    """
    found = around.afterwards()
    for gang in (gang for gang in still(gangs) if gang.preemptible):
        for at, leaf in enumerate(pod_sets(gang.tree)):
            if leaf.neighbours:
                runs = (x for x in leaf.pods if x.phase is PodPhase.RUNNING)
                hosts = [room.index.get(pod.node or "", -1) for pod in runs]
                found.leave(gang, at, hosts)
    return found


def told(around: PodsAround, said: Neighbours) -> str:
    """
    Say by which rules a pod may not be on some nodes.
    """
    words = [
        asks(APART, f"{rule.pods} by {rule.key}")
        for rule in said.apart
        if rule in around.members and around.members[rule].any()
    ]
    words += [
        f"others {asks(APART, f'{pods} by {key}')}"
        for (pods, key), row in sorted(around.holders.items())
        if pods in said.selected and row.any()
    ]
    if said.near is not None:
        words.append(asks(NEAR, "{} by {}".format(*said.near.pair)))
    words += [asks(SPREAD, f"{rule.pods} by {rule.key}") for rule in said.spread]
    words += said.claims_in_words()
    words = words or [asks(APART, f"{r.pods} by {r.key}") for r in said.apart]
    words = words or [f"others {asks(APART, name)}" for name in said.selected]
    return listed(words, "rule")


def _cannot_start(state: Standing, kept: list[int]) -> bool:
    free = [0 if i in kept else len(x.pending) for i, x in enumerate(state.leaves)]
    return bool(kept) and least_need(state, lambda _: 1, free.__getitem__) is None

"""
Which gangs are equal: the one key of all that treat equal gangs alike.

Two gangs of one kind start in the same room, or neither does, whatever that room is.
So what stands above a leaf is part of a kind: minimums and topologies of inner nodes
and of the root.  Who asks about more (age, band, surplus, names in a sentence) puts it
beside the kind; who asks about less asks for the ``place`` of a gang of one leaf.
"""

from collections.abc import Sequence
from typing import NamedTuple

from models.topology import TopologyDemand
from solver.problem.gang_state import Standing
from solver.problem.pod_shapes import Shapes

_Tree = tuple[tuple[int, tuple[int, ...], int, int], ...]


class PlaceKind(NamedTuple):
    """
    Where the pods of a gang may be, and under which rules of queues.

    ``demands`` are topologies with the leaves below them.  Running pods pin those, and
    who has mates starts only beside them: ``pinned`` is then the gang's own name, else
    empty.
    """

    shapes: tuple[int, ...]
    demands: tuple[tuple[tuple[int, ...], TopologyDemand], ...]
    queue: str
    preemptible: bool
    pinned: str


class Kind(NamedTuple):
    """
    What decides whether a gang can start: its place, and what it needs there.

    Where nothing is left to choose, ``needs`` are the pods that each leaf misses and
    ``tree`` is empty.  Else ``needs`` has all numbers of each leaf, and ``tree`` the
    minimums of each node.  What runs counts against limits: ``running`` pods per leaf.
    """

    place: PlaceKind
    running: tuple[int, ...]
    needs: tuple[int, ...] | tuple[tuple[object, ...], ...]
    tree: _Tree


def place_of(shapes: Shapes, state: Standing) -> PlaceKind:
    """
    Name what gangs have in common whose pods may be in the same places.
    """
    return gang_kind(shapes, state).place


def gang_kind(shapes: Shapes, state: Standing) -> Kind:
    """
    Name what gangs have in common that can start in the same room.
    """
    known = shapes.kinds.get(id(state))
    if known is None:
        known = shapes.kinds[id(state)] = (state, _kind_of(shapes, state))
    return known[1]


def _place_of(shapes: Shapes, state: Standing) -> PlaceKind:
    demands = tuple(
        (node.leaves, node.topology)
        for node in state.nodes
        if node.topology is not None
    )
    runs = bool(demands) and any(leaf.running for leaf in state.leaves)
    pinned = runs or bool(state.gang.mates)
    return PlaceKind(
        shapes=tuple(shapes.of_leaf[state.key, i] for i in range(len(state.leaves))),
        demands=demands,
        queue=state.gang.queue,
        preemptible=state.gang.preemptible,
        pinned=state.key if pinned else "",
    )


def _kind_of(shapes: Shapes, state: Standing) -> Kind:
    place = _place_of(shapes, state)
    running = tuple(len(leaf.running) for leaf in state.leaves)
    if state.rigid:
        return Kind(place, running, tuple(leaf.need for leaf in state.leaves), ())
    needs = tuple(
        (leaf.minimum, leaf.counted, len(leaf.pending), leaf.after)
        for leaf in state.leaves
    )
    tree = tuple(
        (node.leaf, node.children, node.min_groups, node.min_pods)
        for node in state.nodes
    )
    return Kind(place, running, needs, tree)


def unit_kind(shapes: Shapes, states: Sequence[Standing]) -> Kind | str:
    """
    Name the kind of gangs that start together; several are like no others.
    """
    return gang_kind(shapes, states[0]) if len(states) == 1 else states[0].key


def names_of(state: Standing) -> tuple[str, ...]:
    """
    List what gangs of one kind may call by other names, as sentences about them do.
    """
    return tuple(leaf.path for leaf in state.leaves)

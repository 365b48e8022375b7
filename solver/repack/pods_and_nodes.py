"""
Rounds of single pods, as pods and nodes: where only room decides, they are a packing.
"""

from dataclasses import dataclass

import numpy as np

from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Floats, Ints, NodeRoom, Places
from solver.problem.problem import Problem, Step, Unit
from solver.problem.start_values import entitled_value

MOST_EXACT = 2**48
_EVEN = frozenset({"disruption", "topology", "surplus"})


def is_packing(problem: Problem) -> bool:
    """
    Tell whether a round is of single pods, whose worth is their sum, and of room only.
    """
    if problem.step is not Step.IDLE or problem.queues.named or not problem.units:
        return False
    if problem.room.parts or problem.around or problem.preferred:
        return False
    if _first_tier(problem) is None or problem.room.now.max(initial=0) > MOST_EXACT:
        return False
    return all(_is_single(problem, unit) for unit in problem.units)


def _first_tier(problem: Problem) -> str | None:
    """
    Name the first tier that single pods change, if it is a sum over the placed ones.
    """
    names = [tier.name for tier in problem.policy.tiers if tier.name not in _EVEN]
    name = names[0] if names else "order"
    if name in {"pods", "gangs", "gpus"}:
        return name
    return name if name == "entitled" and len(problem.bands.tiers) == 1 else None


def _is_single(problem: Problem, unit: Unit) -> bool:
    if not unit.starts or len(unit.states) != 1:
        return False
    state = unit.states[0]
    if len(state.nodes) != 1 or state.nodes[0].topology is not None:
        return False
    leaf = state.leaves[0]
    shape = problem.shapes.items[problem.shapes.of_leaf[state.key, 0]]
    return leaf.need == len(leaf.pending) == 1 and not shape.tag


def _weight(problem: Problem, state: Standing, tier: str | None) -> int:
    if tier == "gpus":
        return problem.gpus_of(state.leaves[0].pod_set.requests)
    return entitled_value(problem, [state]) if tier == "entitled" else 1


@dataclass(frozen=True, slots=True)
class SinglePods:
    """
    Pods and usable nodes as arrays; sizes are scaled by powers of two, so exact.

    ``allowed`` has a row for every pod and an empty place on every node, a column for
    every node and the outside; it is none where every pod may be anywhere.
    """

    keys: tuple[str, ...]
    shapes: Ints
    nodes: Ints
    sizes: Floats
    room: Floats
    weights: Ints
    allowed: Bools | None

    def bins_of(self, draft: Draft) -> Ints:
        """
        Give every pod's node, by position; the outside comes after the last.
        """
        index = {int(node): at for at, node in enumerate(self.nodes)}
        outside = len(self.nodes)
        return np.array(
            [
                index[draft.places[key][0][0]] if key in draft.places else outside
                for key in self.keys
            ],
            dtype=np.int64,
        )

    def draft_of(self, bins: Ints) -> Draft:
        """
        Write a packing as a draft.
        """
        inside = np.flatnonzero(bins < len(self.nodes))
        places = {
            self.keys[at]: Places(((int(self.nodes[bins[at]]),),))
            for at in inside.tolist()
        }
        return Draft(places=places, entitled=frozenset(places))

    def holds(self, problem: Problem, draft: Draft) -> bool:
        """
        Check in whole numbers that every pod fits.
        """
        room = NodeRoom(problem.room.now)
        for key, shape in zip(self.keys, self.shapes, strict=True):
            if key in draft.places:
                node = draft.places[key][0][0]
                if not problem.shapes.allowed[shape, node]:
                    return False
                room.take_one(problem.shapes.requests[shape], node)
        return room.holds(room.touched)


def single_pods(problem: Problem) -> SinglePods:
    """
    See a round as pods and nodes.
    """
    states = [unit.states[0] for unit in problem.units]
    tier = _first_tier(problem)
    fits = problem.shapes.fits
    shapes = np.array([problem.shapes.of_leaf[state.key, 0] for state in states])
    kept = np.flatnonzero(np.isin(shapes, np.flatnonzero(fits.any(axis=1))))
    states, shapes = [states[at] for at in kept.tolist()], shapes[kept]
    nodes = np.flatnonzero(fits[np.unique(shapes)].any(axis=0))
    requests = problem.shapes.requests[shapes].astype(np.float64)
    room = problem.room.now[nodes].clip(min=0).astype(np.float64)
    columns = _deciding(requests, room)
    scale = np.exp2(-np.round(np.log2(room[:, columns].max(axis=0, initial=1))))
    allowed = problem.shapes.allowed[np.ix_(shapes, nodes)]
    return SinglePods(
        keys=tuple(state.key for state in states),
        shapes=shapes,
        nodes=nodes,
        sizes=requests[:, columns] * scale,
        room=room[:, columns] * scale,
        weights=np.array([_weight(problem, state, tier) for state in states]),
        allowed=None if allowed.all() else _framed(allowed),
    )


def _framed(allowed: Bools) -> Bools:
    """
    Let empty places be everywhere, and every pod be outside.
    """
    pods, nodes = allowed.shape
    frame = np.ones((pods + nodes, nodes + 1), dtype=bool)
    frame[:pods, :nodes] = allowed
    return frame


def _deciding(requests: Floats, room: Floats) -> list[int]:
    """
    Drop resources that cannot run out before another one does.
    """
    columns = [r for r in range(requests.shape[1]) if requests[:, r].any()]
    for r in tuple(reversed(columns)):
        if any(_runs_out_first(s, r, requests, room) for s in columns if s != r):
            columns.remove(r)
    return columns


def _runs_out_first(first: int, later: int, requests: Floats, room: Floats) -> bool:
    if not (requests[:, first].all() and room[:, first].all()):
        return False
    most = (requests[:, later] / requests[:, first]).max(initial=0.0)
    least = (room[:, later] / room[:, first]).min(initial=np.inf)
    return bool(most * (1 + 1e-9) <= least)

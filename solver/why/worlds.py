"""
Worlds: the round as it would be if only some named rules held.

Each rule that does not hold is lifted: a limit is gone, a taint is tolerated, a drained
node is open, of every node there are as many empty ones like it as anybody could need.
"""

from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from models.gangs import PodSet
from models.neighbours import Neighbours
from models.nodes import HOSTNAME, NodeDemand, Toleration
from models.queues import Queue, QueueResource
from models.resources import GPU_SHARE
from models.why.kept_off import (
    ALONE,
    APART,
    FREE,
    NEAR,
    REACHED,
    SELECTOR,
    SPREAD,
    TAINT,
)
from models.why.verdicts import Verdict
from solver.explain.protected import without_protection
from solver.problem.gang_state import Leaf, TreeNode
from solver.problem.neighbours.pods_around import PodsAround, without_apart
from solver.problem.neighbours.spread_counts import Pair
from solver.problem.node_room import MANY, Empty, Ints, Now, Room
from solver.problem.pod_shapes import Shapes, shapes_of, where_neighbours_let
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import NamedRule, alone_on_hosts, is_drained

_BOUNDLESS = 2**60
_ALONE = NamedRule(word=Verdict.NEIGHBOURS, kind=ALONE)
Rules = frozenset[NamedRule]


def world_of(
    problem: Problem, unit: Unit, rules: Rules, every: Rules, offers: Ints
) -> tuple[Problem, Unit]:
    """
    See a round and a unit as if only some rules held, of all that there are.

    Those that do not hold are lifted.  ``offers`` is what its nodes offer.
    """
    has_room = any(rule.word is Verdict.ROOM for rule in rules)
    lifted = _lifted(rules, every, has_room=has_room)
    apart = _pairs(APART, lifted) | (
        alone_on_hosts(unit) if _ALONE in lifted else set()
    )
    freed = _unit(unit, lifted, apart)
    opened = _opened(problem.room, rules)
    room = opened if has_room else _boundless(opened, freed, offers)
    fitted = opened if has_room else _empty(opened, offers)
    around = problem.around and without_apart(problem.around, apart)
    seen = replace(
        problem,
        room=room,
        shapes=_shapes(fitted, freed, around, has_room=has_room),
        around=around,
        queues=replace(problem.queues, queues=_queues(problem, lifted)),
        units=(freed,),
        least_value={state.key: 1 for state in freed.states} | {**problem.least_value},
    )
    if any(rule.word is Verdict.SHARE for rule in lifted):
        seen = replace(seen, shares=_due(problem, freed))
    if any(rule.word is Verdict.PROTECTED for rule in lifted):
        seen = without_protection(seen)
    return seen, freed


def _lifted(rules: Rules, every: Rules, *, has_room: bool) -> Rules:
    """
    Give the rules that do not hold: where there is any room, there are other hosts too.
    """
    if has_room:
        return every - rules
    return frozenset(rule for rule in every if rule not in rules or _of_hosts(rule))


def _of_hosts(rule: NamedRule) -> bool:
    return rule == _ALONE or (
        rule.is_beside and rule.kind != NEAR and rule.resource == HOSTNAME
    )


def _shapes(
    room: Room, unit: Unit, around: PodsAround | None, *, has_room: bool
) -> Shapes:
    shapes = shapes_of(room, unit.states)
    if not has_room:
        shapes = replace(shapes, allowed=shapes.fits)
    return shapes if around is None else where_neighbours_let(shapes, around)


# --- the unit -------------------------------------------------------------------


def _unit(unit: Unit, lifted: Rules, apart: AbstractSet[Pair]) -> Unit:
    levels = {(x.kind, x.at) for x in lifted if x.word is Verdict.TOPOLOGY}
    states = tuple(
        replace(
            state,
            nodes=tuple(_free_node(node, levels) for node in state.nodes),
            leaves=tuple(_free_leaf(leaf, lifted, apart) for leaf in state.leaves),
        )
        for state in unit.states
    )
    return Unit(states=states, starts=True, band=unit.band)


def _free_node(node: TreeNode, levels: set[tuple[str, str]]) -> TreeNode:
    demand = node.topology
    if demand is None or (demand.topology, demand.required) not in levels:
        return node
    return replace(node, topology=None)


def _free_leaf(leaf: Leaf, lifted: Rules, apart: AbstractSet[Pair]) -> Leaf:
    pod_set = leaf.pod_set
    freed = replace(
        pod_set,
        demand=_free_demand(pod_set, lifted),
        exclusive=pod_set.exclusive and _ALONE not in lifted,
        neighbours=_free_neighbours(pod_set.neighbours, lifted, apart),
    )
    return leaf if freed == pod_set else replace(leaf, pod_set=freed)


def _free_neighbours(
    said: Neighbours, lifted: Rules, apart: AbstractSet[Pair]
) -> Neighbours:
    near, spread = _pairs(NEAR, lifted), _pairs(SPREAD, lifted)
    alone = said.near is None or said.near.pair in near
    free = any(rule.kind == FREE for rule in lifted if rule.word is Verdict.VOLUMES)
    return replace(
        said,
        near=None if alone else said.near,
        apart=tuple(x for x in said.apart if (x.pods, x.key) not in apart),
        spread=tuple(x for x in said.spread if (x.pods, x.key) not in spread),
        claims=() if free else said.claims,
        shared=() if free else said.shared,
    )


def _pairs(kind: str, rules: Rules) -> set[Pair]:
    """
    Give whom some rules of a kind are about, and by which key.
    """
    named = (rule for rule in rules if rule.is_beside)
    return {(rule.at, rule.resource) for rule in named if rule.kind == kind}


def _free_demand(pod_set: PodSet, lifted: Rules) -> NodeDemand:
    demand = pod_set.demand
    kinds = {rule.kind for rule in lifted if rule.word is Verdict.NODES}
    if SELECTOR in kinds:
        demand = replace(demand, selector=(), terms=None)
    if any(rule.kind == REACHED for rule in lifted):
        demand = replace(demand, volumes=())
    keys = sorted(rule.at for rule in lifted if rule.kind == TAINT)
    more = tuple(Toleration(key=key, operator="Exists") for key in keys)
    return replace(demand, tolerations=(*demand.tolerations, *more)) if more else demand


# --- nodes ----------------------------------------------------------------------


def _opened(room: Room, rules: Rules) -> Room:
    """
    Open the drained nodes that no rule keeps closed.
    """
    if not any(node.unschedulable for node in room.nodes):
        return room
    nodes = tuple(
        replace(node, unschedulable=False)
        if node.unschedulable and not is_drained(rules, node)
        else node
        for node in room.nodes
    )
    return replace(room, nodes=nodes)


def offered(room: Room) -> Ints:
    """
    Give what each node offers when it is quite empty, also of pods of others.
    """
    rows = [room.row(dict(node.allocatable)) for node in room.nodes]
    table = np.array(rows, dtype=np.int64).reshape(len(room.nodes), len(room.resources))
    if room.parts is None:
        return table
    table[:, room.resources.index(GPU_SHARE)] = MANY
    return room.parts.untouched(table)


def _empty(room: Room, offers: Ints) -> Room:
    rows = offers.copy()
    return replace(room.seen(rows, rows), empty=Empty(rows))


def _boundless(room: Room, unit: Unit, offers: Ints) -> Room:
    """
    Let each node have room for all pods of a unit of which one fits there when empty.
    """
    pods = max(1, sum(state.num_pending for state in unit.states))
    offers = np.maximum(offers, 0)
    rows = offers * pods
    if room.parts is not None:
        parts = room.parts.often(pods)
        rows[:, parts.devices.block] = offers[:, parts.devices.block]
        room, rows = replace(room, parts=parts), parts.filled(rows)
    return replace(room.seen(rows, rows), empty=Empty(rows), idle=Now(rows))


# --- queues ---------------------------------------------------------------------


def _queues(problem: Problem, lifted: Rules) -> dict[str, Queue]:
    queues = dict(problem.queues.queues)
    for rule in lifted:
        if rule.word in {Verdict.LIMIT, Verdict.QUOTA}:
            queue = queues[rule.at]
            had = queue.resources.get(rule.resource, QueueResource())
            limit = None if rule.word is Verdict.LIMIT else had.limit
            quota = None if rule.word is Verdict.QUOTA else had.quota
            freed = replace(had, limit=limit, quota=quota)
            resources = {**queue.resources, rule.resource: freed}
            queues[rule.at] = replace(queue, resources=resources)
    return queues


def _due(problem: Problem, unit: Unit) -> dict[str, dict[str, int]]:
    """
    Let a unit's queues have a share that is large enough for it.
    """
    shares = {name: dict(row) for name, row in problem.shares.items()}
    for state in unit.states:
        for name in problem.queues.path(state.gang.queue):
            shares[name] = dict.fromkeys(problem.queues.named, _BOUNDLESS)
    return shares

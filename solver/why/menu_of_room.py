"""
What room there could be for a unit: more nodes, others gone or moved, time.
"""

from collections.abc import Iterator

import numpy as np

from models.changes import (
    AddedNodes,
    ClosedNode,
    EvictedGangs,
    MoreMoves,
    PassedTime,
)
from models.changes.passed_time import ends_in
from models.devices.gpu_counts import shares_asked
from models.devices.tied_to import pieces_of
from models.gangs import PodPhase, pod_sets
from models.nodes import Node
from models.plan import Plan
from models.policy import Prices
from models.resources import SHARES_PER_GPU
from models.why.kept_off import DRAINED
from models.why.menu_line import OF_OTHERS, OF_ROOM, MenuLine
from models.why.verdicts import Verdict
from solver.explain.room_now import rows_of
from solver.next_round import protection
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import NamedRule
from solver.why.worlds import offered

MOST_KINDS = 4
MOST_EVICTED = 6
MOST_OF_A_CHANGE = 64
MOST_MOMENTS = 64
HOUR = 3600


def of_room(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    Offer more room.
    """
    yield from _of_closed(rules, prices)
    yield from _of_time(problem, unit, prices)
    yield from _of_moves(problem, prices)
    yield from _of_running(problem, unit, prices)
    yield from _of_more_nodes(problem, unit, prices)


def _of_closed(rules: tuple[NamedRule, ...], prices: Prices) -> Iterator[MenuLine]:
    for rule in rules:
        if rule.kind == DRAINED and rule.at:
            change = ClosedNode(node=rule.at, how="open")
            yield MenuLine.once(Verdict.NODES, change, prices.open, OF_ROOM)


def _of_time(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer to wait until something ends, or is protected no longer.
    """
    moments = sorted(set(_moments(problem, unit)))
    moments = moments[:: max(1, -(-len(moments) // MOST_MOMENTS))]
    if moments:
        yield MenuLine(
            rule=Verdict.ROOM,
            most=len(moments),
            change=lambda by: PassedTime(seconds=moments[by - 1]),
            price=lambda by: prices.wait * -(-moments[by - 1] // HOUR),
            weakens=OF_OTHERS | {Verdict.BACKOFF},
        )


def _moments(problem: Problem, unit: Unit) -> Iterator[int]:
    """
    Walk the seconds until gangs end for sure, or have run for as long as protects them.
    """
    queues, policy = problem.queues.queues, problem.policy
    own = {state.key for state in unit.states}
    for gang in problem.snapshot.gangs:
        if gang.key in own:
            if gang.backoff:
                yield gang.backoff
            continue
        left = ends_in(gang)
        if left is not None:
            yield max(1, left)
        if any(policy.makes_leave(borrowing=x) for x in (False, True)):
            clocks = protection(gang, queues, policy)
            yield from (moment for moment in clocks if moment > 0)


def _of_moves(problem: Problem, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer that 1, 2, 4 … more pods are moved, where the policy counts what that costs.
    """
    evict = problem.policy.evict
    is_bounded = not evict.consolidate or evict.max_moves is not None
    if problem.policy.has("disruption") and is_bounded:
        yield MenuLine(
            rule=Verdict.FRAGMENTS,
            most=MOST_OF_A_CHANGE.bit_length(),
            change=lambda by: MoreMoves(pods=1 << (by - 1)),
            price=lambda by: prices.move << (by - 1),
            weakens=OF_ROOM | {Verdict.SHARE, Verdict.PROTECTED},
            used=lambda plan: (_num_moved(plan) - 1).bit_length() + 1,
        )


def _num_moved(plan: Plan) -> int:
    return sum(op.op == "Move" for op in plan.operations)


def _of_running(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer to evict running gangs: those first that hold least where the unit may be.
    """
    nodes = [problem.room.nodes[at] for at in _allowed(problem, unit)]
    may = {node.name: node for node in nodes}
    held: dict[str, int] = {}
    own = {state.key for state in unit.states}
    for gang in problem.snapshot.gangs:
        there = [
            (leaf.requests, pod)
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING and pod.node in may
        ]
        holds = [requests for requests, _ in there]
        holds += pieces_of(may, [pod for _, pod in there])
        gpus = sum(map(shares_asked, holds))
        if gpus and gang.key not in own:
            held[gang.key] = gpus
    for name in sorted(held, key=lambda name: (held[name], name))[:MOST_EVICTED]:
        price = -(-prices.evict * held[name] // SHARES_PER_GPU)
        yield MenuLine.once(Verdict.ROOM, EvictedGangs(gangs=(name,)), price, OF_OTHERS)


def _allowed(problem: Problem, unit: Unit) -> Ints:
    """
    List the nodes where pods of a unit may be, in whatever domain.
    """
    rows = [row for row, _ in rows_of(problem, unit)]
    return np.flatnonzero(problem.shapes.allowed[rows].any(axis=0))


def _of_more_nodes(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer nodes like those that may hold some pod of a unit, one of each kind.

    Beside room that queues keep, all others may hold more where there are more nodes;
    where no node is left to them, first so many as what is kept takes.
    """
    there = offered(problem.room)
    rows = [row for row, _ in rows_of(problem, unit)]
    teams = problem.queues.outside.values()
    none = any(x.limit == 0 for team in teams for x in team.queue.resources.values())
    more = none or any(state.gang.min_resources for state in unit.states)
    pods = sum(state.num_pending for state in unit.states) + MOST_OF_A_CHANGE * more
    kinds: dict[object, Node] = {}
    known = {node.name for node in problem.room.nodes}

    def used(plan: Plan) -> int:
        return len({op.node for op in plan.operations if op.node} - known)

    for at in _allowed(problem, unit):
        node = problem.room.nodes[at]
        if any((there[at] >= problem.shapes.requests[row]).all() for row in rows):
            labels = tuple(node.labels.get(key) for key in _levels(problem, unit))
            kinds.setdefault((tuple(sorted(node.allocatable.items())), labels), node)
    for node in list(kinds.values())[:MOST_KINDS]:
        gpus = max(1, shares_asked(node.allocatable) // SHARES_PER_GPU)
        yield MenuLine(
            rule=Verdict.ROOM,
            most=pods,
            change=lambda by, like=node.name: AddedNodes(like=like, number=by),  # type: ignore[misc]
            price=lambda by, gpus=gpus: prices.nodes * gpus * by,  # type: ignore[misc]
            weakens=OF_ROOM | {Verdict.LIMIT} if teams else OF_ROOM,
            used=used,
        )


def _levels(problem: Problem, unit: Unit) -> list[str]:
    """
    List the labels that say in which domain a node is that a unit asks for.
    """
    names = {
        node.topology.topology
        for state in unit.states
        for node in state.nodes
        if node.topology is not None and node.topology.required is not None
    }
    return [
        level for name in sorted(names) for level in problem.topologies[name].levels
    ]

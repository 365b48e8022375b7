"""
What room there could be for a unit: more nodes, others gone or moved, time.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

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
from models.gangs import Pod, running_pods
from models.nodes import Node
from models.plan import Plan
from models.policy import Prices
from models.resources import SHARES_PER_GPU, Resources
from models.why.kept_off import DRAINED
from models.why.menu_line import OF_OTHERS, OF_ROOM, MenuLine, few_of
from models.why.verdicts import Verdict
from solver.explain.room_now import rows_of
from solver.next_round import protection
from solver.problem.node_room import Ints, NodeRoom, num_fitting
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import NamedRule, leaves_of
from solver.why.worlds import offered

MOST_OPENED = 6
MOST_KINDS = 4
MOST_EVICTED = 6
MOST_OF_A_CHANGE = 64
MOST_MOMENTS = 64
HOUR = 3600
Held = tuple[Resources, Pod, int]
"""
What a pod asks for, the pod, and on which node it is.
"""


def of_room(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    Offer more room.
    """
    yield from few_of(_of_closed(problem, unit, rules, prices), MOST_OPENED)
    yield from _of_time(problem, unit, prices)
    yield from _of_moves(problem, prices)
    yield from few_of(_of_running(problem, unit, prices), MOST_EVICTED)
    yield from few_of(_of_more_nodes(problem, unit, prices), MOST_KINDS)


def _of_closed(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    if any(rule.kind == DRAINED for rule in rules):
        for node in closed_to(problem, unit):
            change = ClosedNode(node=node.name, how="open")
            yield MenuLine.once(Verdict.NODES, change, prices.open, OF_ROOM)


def closed_to(problem: Problem, unit: Unit) -> list[Node]:
    """
    List the closed nodes that some pod of a unit could be on if they were open.
    """
    asked = {leaf.demand for leaf in leaves_of(unit)}
    return [
        node
        for node in problem.room.nodes
        if node.unschedulable
        and any(x.matches(node.labels) and x.tolerates(node.taints) for x in asked)
    ]


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
            used=lambda plan: (
                (sum(op.op == "Move" for op in plan.operations) - 1).bit_length() + 1
            ),
        )


def _of_running(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer to evict running gangs: those first that hold enough where the unit may be.

    Of these, as of the others, it is those that hold least.
    """
    at = {problem.room.nodes[n].name: n for n in _allowed(problem, unit).tolist()}
    may = {name: problem.room.nodes[n] for name, n in at.items()}
    held: list[tuple[int, str, list[Held]]] = []
    own, shortage = {state.key for state in unit.states}, _Shortage(problem, unit)
    for gang in problem.snapshot.gangs:
        there = [
            (leaf.requests, pod, at[pod.node])
            for _, leaf, pod in running_pods(gang)
            if pod.node in at
        ]
        holds = [requests for requests, *_ in there]
        holds += pieces_of(may, [pod for _, pod, _ in there])
        gpus = sum(map(shares_asked, holds))
        if gpus and gang.key not in own:
            held.append((gpus, gang.key, there))
    held.sort(key=lambda each: each[:2])
    enough = (one for one in held if not shortage.without(one[2]))
    least = [*islice(enough, MOST_EVICTED)]
    for gpus, name, _ in [*least, *(one for one in held if one not in least)]:
        price = -(-prices.evict * gpus // SHARES_PER_GPU)
        yield MenuLine.once(Verdict.ROOM, EvictedGangs(gangs=(name,)), price, OF_OTHERS)


class _Shortage:
    """
    Counts whether a unit finds too few places once some pods have left.

    Of several leaves each finds one.
    """

    def __init__(self, problem: Problem, unit: Unit) -> None:
        shapes, leaves = problem.shapes, list(leaves_of(unit))
        asked = [row for row, _ in rows_of(problem, unit)]
        self._room = NodeRoom(problem.room.now, problem.room.parts)
        self._held = problem.room.held
        self._columns = np.flatnonzero(shapes.requests[asked].any(axis=0))
        self._requests = shapes.requests[asked][:, self._columns]
        self._allowed = shapes.allowed[asked]
        every = sum(leaf.need for leaf in unit.states[0].leaves)
        self._needs = every if len(leaves) == 1 else 1
        nodes = [*range(len(self._room.rows))]
        self._now = self._places(self._room.rows[:, self._columns], nodes)
        self._all = self._now.sum(axis=1)
        empty = self._places(problem.room.empty[:, self._columns], nodes)
        self._more = np.maximum(0, empty - self._now)

    def without(self, gone: Sequence[Held]) -> bool:
        """
        Tell it of some pods.
        """
        nodes = sorted({node for *_, node in gone})
        most = self._all + self._more[:, nodes].sum(axis=1)
        if (most < self._needs).any():
            return True
        left = self._room.rows[nodes]
        for asks, pod, node in gone:
            left[nodes.index(node)] += self._held(asks, pod.devices, node, pod.tied)
        after = self._room.after_leaving(np.array(nodes), left, self._columns)
        gained = (self._places(after, nodes) - self._now[:, nodes]).sum(axis=1)
        return bool((self._all + gained < self._needs).any())

    def _places(self, rows: Ints, nodes: list[int]) -> Ints:
        """
        Count the places of each leaf on some nodes, of which rows say what is free.
        """
        places = [num_fitting(rows, request) for request in self._requests]
        return np.array(places) * self._allowed[:, nodes]


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
    teams = problem.queues.outside.values()
    none = any(x.limit == 0 for team in teams for x in team.queue.resources.values())
    more = none or any(state.gang.min_resources for state in unit.states)
    pods = sum(state.num_pending for state in unit.states) + MOST_OF_A_CHANGE * more
    known = {node.name for node in problem.room.nodes}

    def used(plan: Plan) -> int:
        return len({op.node for op in plan.operations if op.node} - known)

    for node in kinds_of_nodes(problem, unit, offered(problem.room)):
        price = price_of(node, prices)
        yield MenuLine(
            rule=Verdict.ROOM,
            most=pods,
            change=lambda by, like=node.name: AddedNodes(like=like, number=by),  # type: ignore[misc]
            price=lambda by, price=price: price * by,  # type: ignore[misc]
            weakens=OF_ROOM | {Verdict.LIMIT} if teams else OF_ROOM,
            used=used,
        )


def price_of(node: Node, prices: Prices) -> int:
    """
    Say what one more node costs.
    """
    return prices.nodes * max(1, shares_asked(node.allocatable) // SHARES_PER_GPU)


def kinds_of_nodes(problem: Problem, unit: Unit, offers: Ints) -> list[Node]:
    """
    List the nodes that may hold some pod of a unit when empty, one of each kind.

    The cheapest come first.
    """
    asked = problem.shapes.requests[[row for row, _ in rows_of(problem, unit)]]
    levels, kinds = _levels(problem, unit), dict[object, Node]()
    for at in _allowed(problem, unit):
        if (offers[at] >= asked).all(axis=1).any():
            node = problem.room.nodes[at]
            labels = tuple(node.labels.get(key) for key in levels)
            kinds.setdefault((offers[at].tobytes(), labels), node)
    prices = problem.policy.prices
    return sorted(kinds.values(), key=lambda node: price_of(node, prices))


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

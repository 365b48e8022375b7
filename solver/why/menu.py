"""
The menu: what could be changed for one unit, how much of it, and at what price.

Nothing here says that a change helps: that is tried.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from models.changes import (
    AddedNodes,
    Change,
    ClosedNode,
    EvictedGangs,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    NewAmount,
    QueueRule,
)
from models.gangs import PodPhase, PodSet, pod_sets
from models.nodes import Node
from models.policy import Prices
from models.resources import CPU, MEMORY, num_gpus
from models.verdicts import Verdict
from solver.explain.room_now import matching
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import DRAINED, TAINT, NamedRule
from solver.why.worlds import offered

MOST_KINDS = 4
MOST_PRIORITIES = 4
MOST_EVICTED = 6
_UNIT_OF = {CPU: 1000, MEMORY: 2**30}


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLine:
    """
    One line of the menu: a change by an amount, of which the least that helps is meant.

    ``most`` is the largest amount that makes sense, ``least`` the smallest.
    """

    rule: Verdict
    most: int
    change: Callable[[int], Change]
    price: Callable[[int], int]
    least: int = 1


def menu_of(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> tuple[MenuLine, ...]:
    """
    List what could be changed for a unit, the cheapest first.
    """
    offers = [
        *_of_queues(problem, unit, rules, prices),
        *_of_nodes(unit, rules, prices),
        *_of_levels(problem, unit, rules, prices),
        *_of_pods(unit, prices),
        *_of_priorities(problem, unit, prices),
        *_of_running(problem, unit, prices),
        *_of_more_nodes(problem, unit, prices),
    ]
    return tuple(sorted(offers, key=lambda offer: offer.price(offer.least)))


def _of_queues(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    MenuLine more of a limit or quota, and of the quotas that fair shares come from.
    """
    named = {(rule.word, rule.at, rule.resource) for rule in rules}
    found = [x for x in sorted(named) if x[0] in {Verdict.LIMIT, Verdict.QUOTA}]
    queues = problem.queues
    if any(rule.word is Verdict.SHARE for rule in rules):
        for state in unit.states:
            for queue in queues.chain(state.gang.queue):
                for resource in queues.named:
                    key = Verdict.QUOTA, queue, resource
                    if _most(unit, resource) and key not in found:
                        found.append(key)
    for word, queue, resource in found:
        rule = queues.queues[queue].rule(resource)
        amount = rule.limit if word is Verdict.LIMIT else rule.quota
        if queue in queues.outside or amount is None:
            continue
        scale = _UNIT_OF.get(resource, 1)
        price = prices.limit if word is Verdict.LIMIT else prices.quota
        used = queues.running.get(queue, {}).get(resource, 0)

        def change(
            by: int, word: Verdict = word, at: str = queue, what: str = resource
        ) -> Change:
            return QueueRule(
                field="limit" if word is Verdict.LIMIT else "quota",
                queue=at,
                resource=what,
                amount=NewAmount(by=by),
            )

        def cost(by: int, price: int = price, scale: int = scale) -> int:
            return price * ceil(by / scale)

        most = max(0, used - amount) + 2 * _most(unit, resource)
        yield MenuLine(rule=word, most=most, change=change, price=cost)


def _most(unit: Unit, resource: str) -> int:
    return sum(
        leaf.pod_set.requests.get(resource, 0) * len(leaf.pending)
        for state in unit.states
        for leaf in state.leaves
    )


def _of_nodes(
    unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    gang = unit.key
    for rule in rules:
        if rule.kind == DRAINED and rule.at:

            def opened(_: int, node: str = rule.at) -> Change:
                return ClosedNode(node=node, how="open")

            yield MenuLine(
                rule=Verdict.NODES, most=1, change=opened, price=lambda _: prices.open
            )
        elif rule.kind == TAINT:

            def tolerant(_: int, key: str = rule.at) -> Change:
                return GangTolerates(gang=gang, key=key)

            yield MenuLine(
                rule=Verdict.NODES,
                most=1,
                change=tolerant,
                price=lambda _: prices.tolerate,
            )


def _of_levels(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    MenuLine wider levels, the next one first, then none.
    """
    for rule in rules:
        if rule.word is not Verdict.TOPOLOGY:
            continue
        levels = problem.topologies[rule.kind].levels
        wider = [*reversed(levels[: levels.index(rule.at)]), None]

        def change(
            by: int, level: str = rule.at, wider: list[str | None] = wider
        ) -> Change:
            return GangLevel(gang=unit.key, level=level, to=wider[by - 1])

        yield MenuLine(
            rule=Verdict.TOPOLOGY,
            most=len(wider),
            change=change,
            price=lambda by: prices.level * by,
        )


def _of_pods(unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    tree = unit.states[0].gang.tree
    if len(unit.states) == 1 and isinstance(tree, PodSet) and tree.minimum > 1:
        yield MenuLine(
            rule=Verdict.PODS,
            most=tree.minimum - 1,
            change=lambda by: GangPods(gang=unit.key, by=-by),
            price=lambda by: prices.pods * by,
        )


def _of_priorities(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    MenuLine the priorities of others above a unit's, and one above all.
    """
    if len(unit.states) > 1:
        return
    own = unit.states[0].gang.priority
    higher = sorted({gang.priority for gang in problem.snapshot.gangs} | {own})
    above = [value for value in higher if value > own][: MOST_PRIORITIES - 1]
    steps = [*above, higher[-1] + 1]
    yield MenuLine(
        rule=Verdict.OUTRANKED,
        most=len(steps),
        change=lambda by: GangPriority(gang=unit.key, priority=steps[by - 1]),
        price=lambda by: prices.priority * by,
    )


def _of_running(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    MenuLine to evict running gangs: those first that hold least where the unit may be.
    """
    nodes = problem.room.nodes
    may = {nodes[at].name for at in np.flatnonzero(matching(problem, unit))}
    held: dict[str, int] = {}
    own = {state.key for state in unit.states}
    for gang in problem.snapshot.gangs:
        gpus = sum(
            num_gpus(leaf.requests)
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING and pod.node in may
        )
        if gpus and gang.key not in own:
            held[gang.key] = gpus
    names = sorted(held, key=lambda name: (held[name], name))[:MOST_EVICTED]
    for name in names:
        yield MenuLine(
            rule=Verdict.ROOM,
            most=1,
            change=lambda _, name=name: EvictedGangs(gangs=(name,)),  # type: ignore[misc]
            price=lambda _, gpus=held[name]: prices.evict * gpus,  # type: ignore[misc]
        )


def _of_more_nodes(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    MenuLine nodes like those that may hold some pod of a unit, one of each kind.
    """
    may = matching(problem, unit)
    there = offered(problem.room)
    rows = [
        problem.shapes.of_leaf[state.key, at]
        for state in unit.states
        for at in range(len(state.leaves))
    ]
    pods = sum(state.num_pending for state in unit.states)
    kinds: dict[object, Node] = {}
    for at in np.flatnonzero(may):
        node = problem.room.nodes[at]
        if any((there[at] >= problem.shapes.requests[row]).all() for row in rows):
            labels = tuple(node.labels.get(key) for key in _levels(problem, unit))
            kinds.setdefault((tuple(sorted(node.allocatable.items())), labels), node)
    for node in list(kinds.values())[:MOST_KINDS]:
        gpus = max(1, num_gpus(node.allocatable))
        yield MenuLine(
            rule=Verdict.ROOM,
            most=pods,
            change=lambda by, like=node.name: AddedNodes(like=like, number=by),  # type: ignore[misc]
            price=lambda by, gpus=gpus: prices.nodes * gpus * by,  # type: ignore[misc]
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

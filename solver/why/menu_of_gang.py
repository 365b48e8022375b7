"""
What a gang itself could ask for otherwise: less, elsewhere, or with more right.
"""

from collections.abc import Iterator

from models.changes import (
    Change,
    GangAllows,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
)
from models.gangs import PodSet
from models.policy import Prices
from models.why.kept_off import TAINT
from models.why.menu_line import OF_OTHERS, OF_ROOM, MenuLine
from models.why.verdicts import Verdict
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import NamedRule, leaves_of

MOST_PRIORITIES = 4
MOST_VALUES = 4
_OF_NODES = frozenset({Verdict.NODES})
_OF_FEWER = OF_OTHERS | OF_ROOM | {Verdict.PODS}


def of_gang(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    Offer what a unit could ask for otherwise.
    """
    yield from _of_taints(unit, rules, prices)
    yield from _of_labels(problem, unit, prices)
    yield from _of_levels(problem, unit, rules, prices)
    yield from _of_pods(unit, prices)
    yield from _of_priorities(problem, unit, prices)


def _of_taints(
    unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    for rule in rules:
        if rule.kind == TAINT:
            change = GangTolerates(gang=unit.key, key=rule.at)
            yield MenuLine.once(Verdict.NODES, change, prices.tolerate, OF_ROOM)


def _of_labels(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer other values of the labels that are asked for, such as another kind of GPU.
    """
    keys = {
        key: value for leaf in leaves_of(unit) for key, value in leaf.demand.selector
    }
    for key, value in sorted(keys.items()):
        there = {node.labels[key] for node in problem.room.nodes if key in node.labels}
        for other in sorted(there - {value})[:MOST_VALUES]:
            change = GangAllows(gang=unit.key, key=key, value=other)
            yield MenuLine.once(Verdict.NODES, change, prices.label, OF_ROOM)


def _of_levels(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    Offer wider levels, the next one first, then none.
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
            weakens=OF_ROOM,
        )


def _of_pods(unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer that fewer pods are needed; who has enough of them waits for nothing more.
    """
    tree, (first, *_) = unit.states[0].gang.tree, unit.states[0].leaves
    if len(unit.states) == 1 and isinstance(tree, PodSet) and tree.minimum > 1:
        yield MenuLine(
            rule=Verdict.PODS,
            most=tree.minimum - 1,
            change=lambda by: GangPods(gang=unit.key, by=-by),
            price=lambda by: prices.pods * by,
            weakens=frozenset(Verdict) if first.counted else _OF_FEWER,
        )


def _of_priorities(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer the priorities of others above a unit's, and one above all.
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
        weakens=OF_OTHERS,
    )

"""
Named rules: all that could keep one unit from starting, each with where it holds.

A rule that could not matter to a unit is not listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from models.eviction_bounds import bounds_leaving
from models.gangs import PodSet
from models.nodes import HOSTNAME, Node
from models.why.kept_off import (
    ALONE,
    APART,
    DRAINED,
    FREE,
    NEAR,
    REACHED,
    SELECTOR,
    SPREAD,
    TAINT,
)
from models.why.reasons import listed
from models.why.verdicts import Verdict
from solver.evict.evicted_before import was_evicted
from solver.evict.open_step import remembering
from solver.explain.room_now import bounds_of
from solver.problem.neighbours.pods_around import apart_pairs
from solver.problem.neighbours.spread_counts import Pair
from solver.problem.problem import Problem, Unit
from solver.problem.when_empty.never_starts import needed

MOST_DRAINED = 6
"""
Drained nodes of which each is a rule of its own; of more of them all together are one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRule:
    """
    One rule: a verdict's word, where it holds, of which resource, and of which kind.
    """

    word: Verdict
    at: str = ""
    resource: str = ""
    kind: str = ""

    @property
    def is_beside(self) -> bool:
        """
        Tell whether it is about other pods in the domains of a key.
        """
        return self.word is Verdict.NEIGHBOURS and self.kind != ALONE


def rules_of(problem: Problem, beside: Problem, unit: Unit) -> tuple[NamedRule, ...]:
    """
    List the rules that a unit starts under, those first that are named first.

    ``beside`` is the round with all that others get by the plan as load.
    """
    found = (
        *_of_queues(beside, unit),
        *_of_domains(unit),
        *_of_nodes(problem, unit),
        *_of_neighbours(beside, unit),
        NamedRule(word=Verdict.ROOM),
        *_of_evictions(problem, unit),
    )
    order = list(Verdict)
    return tuple(sorted(found, key=lambda rule: order.index(rule.word)))


def leaves_of(unit: Unit) -> Iterator[PodSet]:
    """
    Walk the leaves of a unit's gangs of which pods may be bound.
    """
    for state in unit.states:
        for leaf in state.leaves:
            if leaf.pending:
                yield leaf.pod_set


def is_drained(rules: frozenset[NamedRule], node: Node) -> bool:
    """
    Tell whether a drained node stays so under some rules.
    """
    return any(
        rule.kind == DRAINED and rule.at in {"", node.name}
        for rule in rules
        if rule.word is Verdict.NODES
    )


def _of_queues(problem: Problem, unit: Unit) -> Iterator[NamedRule]:
    for bound in bounds_of(problem, unit):
        if bound.left < most_asked(unit, bound.resource):
            word = Verdict.QUOTA if bound.fixed else Verdict.LIMIT
            yield NamedRule(word=word, at=bound.queue, resource=bound.resource)


def most_asked(unit: Unit, resource: str) -> int:
    """
    Give what all pods of a unit that may be bound ask for.
    """
    return sum(
        leaf.pod_set.requests.get(resource, 0) * len(leaf.pending)
        for state in unit.states
        for leaf in state.leaves
    )


def _of_nodes(problem: Problem, unit: Unit) -> Iterator[NamedRule]:
    leaves = list(leaves_of(unit))
    drained = [node.name for node in problem.room.nodes if node.unschedulable]
    for name in drained if len(drained) <= MOST_DRAINED else [""]:
        yield NamedRule(word=Verdict.NODES, at=name, kind=DRAINED)
    taints = {
        taint.key
        for node in problem.room.nodes
        for taint in node.taints
        if not all(leaf.demand.tolerates((taint,)) for leaf in leaves)
    }
    for key in sorted(taints):
        yield NamedRule(word=Verdict.NODES, at=key, kind=TAINT)
    if any(leaf.demand.selector or leaf.demand.terms is not None for leaf in leaves):
        yield NamedRule(word=Verdict.NODES, kind=SELECTOR)
    if any(leaf.demand.volumes for leaf in leaves):
        yield NamedRule(word=Verdict.VOLUMES, kind=REACHED)
    if kinds := {k for leaf in leaves for k in leaf.neighbours.claims_by_name()}:
        at = listed(sorted(kinds), "kind")
        yield NamedRule(word=Verdict.VOLUMES, at=at, kind=FREE)
    if any(leaf.exclusive or leaf.neighbours.one_in_each(HOSTNAME) for leaf in leaves):
        yield NamedRule(word=Verdict.NEIGHBOURS, kind=ALONE)


def _of_neighbours(problem: Problem, unit: Unit) -> Iterator[NamedRule]:
    """
    List whom pods must be near, apart from, or spread among, and by which key.
    """
    found: set[tuple[str, str, str]] = set()
    for leaf in leaves_of(unit):
        said = leaf.neighbours
        if said.near is not None:
            found.add((NEAR, *said.near.pair))
        if said and problem.around is not None:
            found |= {(APART, *pair) for pair in apart_pairs(problem.around, said)}
        found |= {(SPREAD, rule.pods, rule.key) for rule in said.spread}
    alone = alone_on_hosts(unit)
    for kind, pods, key in sorted(found):
        if kind != APART or (pods, key) not in alone:
            yield NamedRule(word=Verdict.NEIGHBOURS, at=pods, resource=key, kind=kind)


def alone_on_hosts(unit: Unit) -> set[Pair]:
    """
    Give whom pods that share no host with their like are apart from on it.
    """
    return {
        (rule.pods, rule.key)
        for leaf in leaves_of(unit)
        for rule in leaf.neighbours.apart
        if rule.key == HOSTNAME and rule.pods in leaf.neighbours.selected
    }


def _of_domains(unit: Unit) -> Iterator[NamedRule]:
    """
    List the levels at which pods must be together.
    """
    found = {
        (node.topology.topology, node.topology.required)
        for state in unit.states
        for node in state.nodes
        if node.topology is not None and node.topology.required is not None
    }
    for topology, level in sorted(found):
        yield NamedRule(word=Verdict.TOPOLOGY, at=level, kind=topology)


def _short_of_share(problem: Problem, unit: Unit) -> list[str]:
    """
    List the queues of a unit, its own first, whose shares may not hold it as well.

    Of a tree with a choice the least of each resource need not be that of one choice.
    """
    queues = remembering(problem).queues
    return [
        name
        for state in unit.states
        for name in queues.chain(state.gang.queue)
        for resource in queues.named
        for asked in [
            needed(state, resource)
            if state.rigid
            else most_asked(replace(unit, states=(state,)), resource)
        ]
        if asked > queues.share_left(problem.shares, name, resource)
    ]


def _of_evictions(problem: Problem, unit: Unit) -> Iterator[NamedRule]:
    """
    List what keeps others from making room: no right to it, or that they are protected.
    """
    if not problem.policy.evicts(borrowing=False) or was_evicted(problem, unit):
        return
    for queue in _short_of_share(problem, unit)[:1]:
        yield NamedRule(word=Verdict.SHARE, at=queue)
    evict, snapshot = problem.policy.evict, problem.snapshot
    clocks = any(
        queue.reclaim_min_runtime or queue.preempt_min_runtime
        for queue in snapshot.queues
    )
    fixed = any(not gang.preemptible for gang in snapshot.gangs)
    queues = problem.queues
    above = any(queues.is_over(q, name) for q in queues.queues for name in queues.named)
    bounds = snapshot.budgets or evict.again or bounds_leaving(evict)
    if clocks or fixed or bounds or (above and evict.consolidate):
        yield NamedRule(word=Verdict.PROTECTED)

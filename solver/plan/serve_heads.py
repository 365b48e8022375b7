"""
Heads that start: on any nodes where they can, or where others were lent theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from solver.effort.budget import Budget
from solver.evict.beneficiaries import departures_of
from solver.evict.freeze import requests_of
from solver.evict.stale import letting_go, stale_gangs
from solver.hold.heads import Head
from solver.hold.held_nodes import with_heads
from solver.place.complete import loaded
from solver.plan.called_back import called_back
from solver.plan.helped import within_bounds
from solver.plan.short_lived import conditional, started
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Unit
from solver.score.tier import LOSSES
from solver.score.tiers import is_better, score, tier_keys
from solver.search.search_outcome import Outcome, is_ahead

Strategy = Callable[[Problem, Budget], Outcome]


@dataclass(slots=True)
class BesideHeads:
    """
    A strategy beside held nodes, in the limit of a round that is ``bare`` of plans.

    ``last`` is the last round that was planned without, and how.
    """

    plan: Strategy
    bare: Problem
    budget: Budget
    last: tuple[Problem, Outcome] | None = None

    def without(self, problem: Problem) -> Outcome:
        """
        Plan with no nodes held, each round once.
        """
        if self.last is None or self.last[0] is not problem:
            self.last = (problem, self.plan(problem, self.budget))
        return self.last[1]

    def planned(self, problem: Problem, heads: Sequence[Head]) -> Outcome:
        """
        Plan with nodes held for heads.

        As if none were, where nobody comes to what is held all the same.  Of equally
        good nodes names decide: where they keep anybody off, nothing is proven but what
        none would change, and what is as much as if none were held.
        """
        held = with_heads(problem, heads)
        if held is problem:
            return self.without(problem)
        with self.budget.keeping(problem.tuning.explain.kept_for_reserved):
            free = self.without(problem)
        is_kept = _is_kept(held, free)
        gaps = any(tier.proof == "gap" for tier in free.tiers)
        if is_kept and not (gaps and free.model.variables):
            return free
        outcome = self.plan(held, self.budget)
        if is_kept and not is_ahead(outcome, free):
            return free
        sure = within_bounds(outcome, self.bare)
        free = conditional(outcome, free)
        proven = [[x.proof for x in one.tiers].count("proven") for one in (sure, free)]
        return free if proven[1] > proven[0] else sure


def _is_kept(held: Problem, outcome: Outcome) -> bool:
    """
    Tell whether nobody is where nodes are held for others, though all might have been.
    """
    places = {**outcome.problem.frozen.places, **outcome.draft.places}
    shapes = held.shapes
    return all(
        shapes.allowed[shapes.of_leaf[key, i], hosts].all()
        for key, rows in places.items()
        for i, hosts in enumerate(rows)
        if hosts and (key, i) in shapes.of_leaf
    )


def start_heads(
    problem: Problem, heads: Sequence[Head], beside: BesideHeads
) -> Outcome:
    """
    Plan with nodes held for heads, but for those that start without.

    Those with room now are let start anywhere first; where one of them does not, nodes
    are held for all, and only what comes to as much as without is proven.
    """
    ready = {head.key for head in heads if head.ready}
    waiting = tuple(head for head in heads if not head.ready)
    kept = problem.tuning.explain.kept_for_reserved
    with beside.budget.keeping(kept if ready else 0.0):
        free = replace(beside.planned(problem, waiting), heads=waiting)
    if all(free.draft.starts(unit) for unit in problem.units if unit.key in ready):
        return free
    held = beside.planned(problem, heads)
    return replace(conditional(held, free), heads=tuple(heads))


def serve_heads(
    problem: Problem, outcome: Outcome, beside: BesideHeads
) -> tuple[Problem, Outcome]:
    """
    Plan again for each head that waits and whose nodes others leave, if it starts then.

    Gives the round as it was planned at last, and its outcome with the heads that are
    left.  What others were lent is lost by agreement: it is not weighed against what
    starts, and all else must be no worse.  The ``problem`` is before nodes are held.
    """
    for head in outcome.heads:
        unit = _waiting(problem, head, outcome)
        after = None if unit is None else called_back(problem, unit, head.nodes)
        if unit is None or after is None:
            continue
        if beside.budget.left <= 0:
            beside.budget.cut.add("lend")
            break
        left = {unit.key for unit in after.units}
        others = tuple(other for other in outcome.heads if other.key in left)
        found = beside.planned(after, others)
        if _serves(found, outcome, unit) and _all_are_needed(found):
            problem = after
            outcome = replace(conditional(found, outcome), heads=others)
    return problem, outcome


def _waiting(problem: Problem, head: Head, outcome: Outcome) -> Unit | None:
    """
    Give the unit of a head that is expected now, and has no places in a round.
    """
    if not head.nodes or head.likely or head.key in outcome.problem.frozen.places:
        return None
    unit = next((unit for unit in problem.units if unit.key == head.key), None)
    return None if unit is None or outcome.draft.starts(unit) else unit


def _serves(found: Outcome, before: Outcome, unit: Unit) -> bool:
    """
    Tell whether a round is better for a start, whatever was lent.

    Nobody may be preempted for others in the queues of that start: it takes part in
    their step.
    """
    gained = tuple(k for k in tier_keys(before.problem) if k.name not in LOSSES)
    values = (score(x.problem, x.draft, gained) for x in (found, before))
    queues = {state.gang.queue for state in unit.states}
    preempted = any(
        one.rule == "preempt" and found.problem.gangs[one.gang].queue in queues
        for one in found.problem.frozen.exits
    )
    return not preempted and is_better(gained, *values)


def _all_are_needed(found: Outcome) -> bool:
    """
    Tell whether each gang that was called back is in the way of those it leaves for.

    Others may leave so much in the same round that it could have stayed.
    """
    helped = started(found) | found.problem.frozen.stale
    problem = letting_go(found.problem, stale_gangs(found.problem) - helped)
    left = loaded(problem.in_room(problem.room.after), found.draft).room.rows
    named = departures_of(problem)
    held: dict[str, dict[int, Ints]] = {}
    places: dict[str, set[int]] = {}
    for one in problem.frozen.exits:
        if one.rule == "lend":
            rows = held.setdefault(one.gang, {})
            row = problem.room.held(requests_of(problem, one), (), one.host)
            rows[one.host] = rows.get(one.host, 0) + row
            why = named[f"{problem.gangs[one.gang].namespace}/{one.pod.name}"]
            places[one.gang] = {
                host
                for key in why.beneficiaries
                for host in problem.frozen.places[key].nodes
            }
    return all(
        any((left[host] < rows[host]).any() for host in rows.keys() & places[gang])
        for gang, rows in held.items()
    )

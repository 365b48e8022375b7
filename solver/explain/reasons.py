"""
Why gangs wait: one primary reason each, by arithmetic on the room as it is.
"""

from collections.abc import Sequence

from models.plan import TierResult
from models.reasons import Facts, Reason, Waiting
from solver.explain.fragments import pieces
from solver.explain.protected import Protection
from solver.place.draft import Draft
from solver.place.place_gang import place_gang
from solver.place.workspace import Workspace
from solver.problem.budget import Budget
from solver.problem.gang_state import Standing, least_need
from solver.problem.never_starts import needed
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import names_of, unit_kind


def explain(
    problem: Problem,
    draft: Draft,
    budget: Budget,
    tiers: Sequence[TierResult] = (),
) -> dict[str, Waiting]:
    """
    Name the reason of every gang that stays below its minimum, or is reserved.

    Arithmetic and placing by hand come first, for all; what only a proof can tell is
    asked as far as the budget goes, and undecided beyond that.

    Parameters
    ----------
    problem
        The round with its facts.
    draft
        What starts now.
    budget
        What may still be used up.
    tiers
        What was proven about entitled starts.
    """
    reasons = dict(problem.blocked)
    work = Workspace(problem)
    protection = Protection(problem, tiers)
    known: dict[object, Waiting | None] = {}
    kinds: dict[object, list[Unit]] = {}
    for unit in problem.units:
        if unit.starts and not draft.starts(unit):
            kinds.setdefault(_kind(problem, unit), []).append(unit)
    for kind, (unit, *_) in kinds.items():
        known[kind] = _by_hand(problem, work, unit, protection, budget)
    for kind, units in kinds.items():
        reason = known[kind] or _by_proof(problem, units[0], budget)
        reasons |= {state.key: reason for unit in units for state in unit.states}
    return reasons | _reserved(problem)


def _reserved(problem: Problem) -> dict[str, Waiting]:
    """
    Say of reserved gangs for how many pods they wait, and on how many nodes.
    """
    frozen = problem.frozen
    found = {}
    for unit in (*frozen.units, *frozen.committed):
        for state in unit.states:
            places = frozen.places.get(state.key)
            if places is not None:
                hosts = [host for row in places for host in row]
                facts: Facts = {"pods": len(hosts), "nodes": len(set(hosts))}
                found[state.key] = Waiting(Reason.WAITING_FOR_PREEMPTION, facts)
    return found


def _kind(problem: Problem, unit: Unit) -> object:
    """
    Name what units have in common that are told the same, in the same words.
    """
    kind = unit_kind(problem.shapes, unit.states)
    return (kind, unit.band, names_of(unit.states[0]))


def _by_hand(
    problem: Problem,
    work: Workspace,
    unit: Unit,
    protection: Protection,
    budget: Budget,
) -> Waiting | None:
    """
    Give the reason of a unit that needs no proof; none where only a proof can tell.
    """
    for state in unit.states:
        waiting = _over_limit(problem, state)
        if waiting is not None:
            return waiting
    waiting = _short_of_room(problem, unit)
    if budget.is_late:
        return waiting
    if waiting is not None:
        return protection.reason(unit) or waiting
    mark = work.mark()
    alone = all(place_gang(work, state) for state in unit.states)
    work.undo(mark)
    if alone:
        return Waiting(Reason.LOWER_TIER_OR_PRIORITY)
    return protection.reason(unit)


def _over_limit(problem: Problem, state: Standing) -> Waiting | None:
    queues = problem.queues
    for name in queues.path(state.gang.queue):
        for resource in queues.named:
            needs = needed(state, resource)
            rule = queues.queues[name].rule(resource)
            left = queues.limit_left(name, resource)
            checks = [(left, rule.limit, queues.running, "")]
            if not state.gang.preemptible:
                left = queues.quota_left(name, resource)
                work = " of non-preemptible work"
                checks.append((left, rule.quota, queues.fixed, work))
            for left, limit, table, work in checks:
                if left is not None and limit is not None and needs > left:
                    facts: Facts = {
                        "resource": resource,
                        "needs": needs,
                        "queue": name,
                        "used": table.get(name, {}).get(resource, 0),
                        "limit": limit,
                    }
                    facts |= {"work": work} if work else {}
                    return Waiting(Reason.QUOTA_LIMIT_REACHED, facts)
    return None


def _short_of_room(problem: Problem, unit: Unit) -> Waiting | None:
    """
    Compare what a gang needs, then what its whole group needs, with what is free.
    """
    single = [(state,) for state in unit.states]
    for states in (*single, unit.states) if len(single) > 1 else single:
        rows = [
            problem.shapes.of_leaf[state.key, i]
            for state in states
            for i in range(len(state.leaves))
        ]
        matching = problem.shapes.allowed[rows].any(axis=0)
        for column, resource in enumerate(problem.room.resources):
            needs = sum(needed(state, resource) for state in states)
            free = int(problem.room.free[matching, column].clip(min=0).sum())
            if needs > free:
                facts: Facts = {"resource": resource, "needs": needs, "free": free}
                facts |= {"where": " with its group"} if len(states) > 1 else {}
                return Waiting(Reason.INSUFFICIENT_CAPACITY, facts)
    return None


def _by_proof(problem: Problem, unit: Unit, budget: Budget) -> Waiting:
    """
    Ask the model whether the unit could start if it were alone.
    """
    from solver.explain.could_start_alone import starts_alone  # noqa: PLC0415

    if budget.left <= 0:
        budget.cut.add("reasons")
        return Waiting(Reason.SEARCH_LIMIT_REACHED)
    verdict = starts_alone(problem, unit, budget)
    if verdict is True:
        return Waiting(Reason.LOWER_TIER_OR_PRIORITY)
    if verdict is None:
        return Waiting(Reason.SEARCH_LIMIT_REACHED)
    pods = sum(least_need(s, lambda _: 1) or 0 for s in unit.states)
    facts: Facts = {"pods": pods, "detail": pieces(problem, unit)}
    return Waiting(Reason.FRAGMENTED, facts)

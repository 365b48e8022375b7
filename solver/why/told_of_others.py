"""
Who gets what a unit could have used: room, a limit, or places that leave it none.
"""

from collections.abc import Mapping
from dataclasses import replace

from models.resources import GPU_SHARE
from models.why.given_away import held_back, taken
from models.why.kept_off import FREE
from models.why.reasons import Facts, device_words, listed
from models.why.verdicts import Blocker, Verdict
from solver.explain.left_on_devices import lacking_device, of_devices
from solver.explain.room_now import (
    Bound,
    FreeSums,
    fitting_nodes,
    limits_of,
    matching,
    strain,
)
from solver.problem.problem import Problem
from solver.why.given_to_others import GivenToOthers
from solver.why.named_rules import leaves_of
from solver.why.start_under import OUTRANKED, StartUnder
from solver.why.worlds import Rules


def of_others(ask: StartUnder, core: Rules, given: GivenToOthers) -> Blocker:
    """
    Say who gets what a unit could have used, and how much of it.
    """
    problem, unit = ask.world(core - {OUTRANKED})
    if given.held_for:
        return held_back(given.held_for)
    if found := _beside_whom(ask, core, given):
        return found
    beside, same = ask.world(core)
    left = {_name_of(bound): bound.left for bound in limits_of(beside, same)}
    for bound in limits_of(problem, unit):
        shares = given.below(bound, ask.given(core))
        if bound.needs > left[_name_of(bound)]:
            return _of_limit(problem, bound, left[_name_of(bound)], shares)
    nodes = matching(problem, unit)
    then = beside.room.now
    fitting = nodes & fitting_nodes(problem, unit)
    nodes = fitting if problem.room.parts and fitting.any() else nodes
    device = lacking_device(problem, unit, then[nodes].clip(min=0).sum(axis=0))
    shares = given.amounts(GPU_SHARE, lambda _, node: bool(nodes[node]))
    if device and shares:
        of_gpus = of_devices(problem, unit, nodes, then, device, "then ")
        numbers = int(of_gpus["needs"]), int(of_gpus["free"])
        return taken(GPU_SHARE, *numbers, shares, words=device_words(of_gpus))
    free = problem.room.now[nodes].clip(min=0).sum(axis=0)
    rest = then[nodes].clip(min=0).sum(axis=0)
    column, needs = strain(problem, unit, rest)
    resource = problem.room.resources[column]
    shares = given.amounts(resource, lambda _, node: bool(nodes[node]))
    return taken(resource, needs, int(free[column]), shares)


def _of_limit(
    problem: Problem, bound: Bound, rest: int, shares: Mapping[str, int]
) -> Blocker:
    """
    Say who gets what a limit leaves, also of what others leave of it.
    """
    team, free = problem.queues.outside.get(bound.queue), rest + sum(shares.values())
    facts = {} if team is None else team.facts(bound.resource)
    whose = f"{facts.get('outside', f'queue {bound.queue}')} may still use"
    whose += " once others have left" if free > bound.left else ""
    found = taken(bound.resource, bound.needs, free, shares, whose)
    return found if facts else replace(found, at=bound.queue)


def _beside_whom(ask: StartUnder, core: Rules, given: GivenToOthers) -> Blocker | None:
    """
    Say who starts that a unit cannot be beside, if that and not room is what lacks.
    """
    beside, unit = ask.world(core)
    asks = any(rule.is_beside or rule.kind == FREE for rule in core)
    if not asks or FreeSums(beside).lacks(unit):
        return None
    ours = [leaf.neighbours for leaf in leaves_of(unit)]
    who = {
        gang
        for gang, _, leaf in given.rows
        if any(said.concerns(leaf.neighbours) for said in ours)
    }
    if not who:
        return None
    names = listed(sorted(who), "gang")
    detail = f"could start alone; this plan gives places to {names}"
    facts: Facts = {"gangs": len(who), "to": names, "detail": detail}
    return Blocker(rule=Verdict.OUTRANKED, facts=facts)


def _name_of(bound: Bound) -> tuple[str, str, bool]:
    return bound.queue, bound.resource, bound.fixed

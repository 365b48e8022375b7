"""
Who gets what a unit could have used: room, a limit, or places that leave it none.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from models.resources import GPU_SHARE
from models.why.given_away import held_back, taken
from models.why.kept_off import FREE
from models.why.reasons import Facts, device_words, listed
from models.why.verdicts import Blocker, Verdict
from solver.explain.left_on_devices import lacking_device, of_devices
from solver.explain.room_now import (
    NEVER_SHORT,
    Bound,
    FreeSums,
    fitting_nodes,
    limits_of,
    matching,
    strain,
)
from solver.explain.takers import concerned, said_by
from solver.problem.problem import Problem
from solver.why.given_to_others import GivenToOthers
from solver.why.start_under import OUTRANKED, StartUnder
from solver.why.worlds import Rules


def of_others(ask: StartUnder, core: Rules, given: GivenToOthers) -> Blocker:
    """
    Say who gets what a unit could have used, were it alone or others left for it.
    """
    found, alone = _of_others(ask, core, given), frozenset(ask.rules) - {OUTRANKED}
    evicts = ask.answer(alone) and ask.proof(alone)
    return replace(found, facts={**found.facts, "evicting": 1}) if evicts else found


def _of_others(ask: StartUnder, core: Rules, given: GivenToOthers) -> Blocker:
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
    for rules in (frozenset(ask.rules) | {OUTRANKED}, core):
        one = _of_room(ask, rules, given, fitting=True)
        shows = one.left < (one.needs or 0) <= (one.has or 0)
        if one.used and (shows or problem.room.parts):
            return one
    return _of_room(ask, core, given)


def _of_room(
    ask: StartUnder, rules: Rules, given: GivenToOthers, *, fitting: bool = False
) -> Blocker:
    """
    Say who gets room under some rules where a unit may be, or where its pods fit now.
    """
    problem, unit = ask.world(rules - {OUTRANKED})
    may, then = matching(problem, unit), ask.world(rules)[0].room.now
    nodes = may & fitting_nodes(problem, unit) if fitting else may
    rest = then[nodes].clip(min=0).sum(axis=0)
    device = lacking_device(problem, unit, rest)
    shares = given.amounts(GPU_SHARE, lambda _, node: bool(nodes[node]))
    if device and shares:
        of_gpus = of_devices(problem, unit, nodes, then, device, "then ")
        numbers = int(of_gpus["needs"]), int(of_gpus["free"])
        return taken(GPU_SHARE, *numbers, shares, words=device_words(of_gpus))
    free = problem.room.now[nodes].clip(min=0).sum(axis=0)
    less = np.where(rest < free, rest, NEVER_SHORT) if fitting else rest
    column, resource, needs = strain(problem, unit, less)
    shares = given.amounts(resource, lambda _, node: bool(nodes[node]))
    every = problem.room.now[may, column].clip(min=0).sum()
    words = {"rest": " where it fits"} if free[column] < every else {}
    return taken(resource, needs, int(free[column]), shares, words=words)


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
    who = concerned(said_by(beside, (gang for gang, *_ in given.rows)), unit)
    if not who:
        return None
    names = listed(who, "gang")
    detail = f"; this plan gives places to {names}"
    facts: Facts = {"gangs": len(who), "to": names, "detail": detail}
    return Blocker(rule=Verdict.OUTRANKED, facts=facts)


def _name_of(bound: Bound) -> tuple[str, str, bool]:
    return bound.queue, bound.resource, bound.fixed

"""
Rules about neighbours, and which nodes they keep a unit off.
"""

import numpy as np

from models.why.kept_off import APART, SPREAD, beside, free_volumes
from models.why.verdicts import Blocker, Verdict
from solver.explain.room_now import matching
from solver.place.round_state import around_now
from solver.problem.gang_state import least_need
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Unit
from solver.why.named_rules import NamedRule, leaves_of
from solver.why.start_under import StartUnder
from solver.why.worlds import Rules


def of_neighbours(ask: StartUnder, core: Rules, rule: NamedRule) -> Blocker:
    """
    Say what a unit asks of those around it, and of which nodes that keeps it off.
    """
    problem, unit = ask.world(core)
    kept = _open(*ask.world(core - {rule})) & ~_open(problem, unit)
    names = [problem.room.nodes[n].name for n in kept.nonzero()[0]]
    pair = rule.at, rule.resource
    own = [leaf.neighbours for leaf in leaves_of(unit)]
    by = how = ""
    if rule.kind == APART and not any(pair in said.apart for said in own):
        by = rule.at
    elif rule.kind == SPREAD:
        every = {(x.pods, x.key): x for said in own for x in said.spread}
        least = every[pair].domains
        more = f", at least {least} domains" if least > 1 else ""
        how = f" (skew {every[pair].skew}{more})"
    at = " by ".join(pair)
    facts = beside(rule.kind, at, names, by=by, how=how)
    return Blocker(rule=rule.word, at=at, facts=facts)


def of_free_volumes(problem: Problem, unit: Unit, at: str) -> Blocker:
    """
    Count the free volumes that a unit needs, and those where it may be.

    Where pods share claims it is not counted how many they need together.
    """
    needs, own = 0, [leaf.neighbours for leaf in leaves_of(unit)]
    for state in unit.states:
        asked = [sum(n for _, n in x.pod_set.neighbours.claims) for x in state.leaves]
        needs += least_need(state, asked.__getitem__) or 0
    kinds = {kind for said in own for kind in said.kinds_of_claims()}
    nodes = (problem.room.nodes[n] for n in matching(problem, unit).nonzero()[0])
    there = {x for node in nodes for x in node.volumes if kinds.intersection(x.kinds)}
    around, has = around_now(problem), sum(one.number for one in there)
    spare = {} if around is None else around.volumes.matching.spare
    left = sum(spare.get(one, one.number) for one in there)
    if any(said.shared for said in own):
        return Blocker(
            rule=Verdict.VOLUMES, at=at, facts=free_volumes(at, 0, has, left)
        )
    facts = free_volumes(at, needs, has, left)
    return Blocker(
        rule=Verdict.VOLUMES, at=at, has=has, used=has - left, needs=needs, facts=facts
    )


def _open(problem: Problem, unit: Unit) -> Bools:
    """
    Tell where one pod of a unit may be beside those who are there.
    """
    nodes, around = matching(problem, unit), around_now(problem)
    if around is None:
        return nodes
    said = ((leaf.neighbours, leaf.demand) for leaf in leaves_of(unit))
    found: Bools = nodes & np.any([around.may_be(*each) for each in said], axis=0)
    return found

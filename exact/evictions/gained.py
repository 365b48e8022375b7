"""
What is gained by evictions in the small model: what is reserved for whom others leave.

Pods of one gang that leave by one rule leave for the starts that get their room and may
have it; where there are none, for all starts that may.
"""

from collections import defaultdict
from collections.abc import Iterator

from exact.evictions.rights import may_be_for
from exact.evictions.step import RULES, Place, Runner, Step, Term, total
from exact.facts import gpu_seconds
from models.gangs import pod_sets
from solver.effort.cp_sat import cp_model

_Leavers = tuple[str, list[Runner]]
_MOST = 1_000_000


def gained(step: Step, seconds: int) -> cp_model.LinearExpr:
    """
    Give the GPU-seconds that pods run in some seconds which others leave for.

    Who starts together with such a start gains by it as well.
    """
    mine = sorted(step.beneficiaries())
    held = _held(step, frozenset(mine))
    served = {key: step.cp.new_bool_var("") for key in mine}
    whom: dict[str, list[Term]] = defaultdict(list)
    for leavers in _leavers(step):
        for key, literal in _served(step, leavers, held, mine):
            whom[key].append(literal)
    counted = []
    for key, literal in served.items():
        team = {key, *step.small.facts.gangs[key].mates}
        step.cp.add(literal <= total(x for name in sorted(team) for x in whom[name]))
        most = sum(
            gpu_seconds(step.before, leaf.requests, seconds) * len(leaf.pods)
            for leaf in pod_sets(step.before.gangs[key].gang.tree)
        )
        worth = step.cp.new_int_var(0, most, "")
        step.cp.add(worth <= most * literal)
        step.cp.add(worth <= _worth(step, held[key], seconds))
        counted.append(worth)
    return total(counted)


def _held(step: Step, mine: frozenset[str]) -> dict[str, dict[Place, Term]]:
    """
    Give the reserved pods of each start by place.
    """
    held: dict[str, dict[Place, Term]] = {key: {} for key in mine}
    for place, var in step.small.binds.items():
        if place[0] in mine:
            held[place[0]][place] = var - step.now[place]
    return held


def _worth(step: Step, held: dict[Place, Term], seconds: int) -> cp_model.LinearExpr:
    return total(
        gpu_seconds(step.before, step.requests(key, name), seconds) * number
        for (key, name, _), number in held.items()
    )


def _leavers(step: Step) -> Iterator[_Leavers]:
    """
    Walk who may leave in this step, gang by gang and rule by rule.
    """
    gangs: dict[str, list[Runner]] = defaultdict(list)
    for runner in step.runners:
        if runner.key not in step.frozen.departures:
            gangs[runner.gang.key].append(runner)
    for runners in gangs.values():
        for rule in RULES:
            yield rule, runners


def _served(
    step: Step,
    leavers: _Leavers,
    held: dict[str, dict[Place, Term]],
    mine: list[str],
) -> Iterator[tuple[str, cp_model.IntVar]]:
    """
    Walk literals that say that some pods leave for a start.
    """
    rule, runners = leavers
    able = [key for key in mine if may_be_for(step, runners[0], rule, key)]
    no_other = step.cp.new_bool_var("")
    gone = {runner.key: step.gone[runner.key, rule] for runner in runners}
    step.cp.add(no_other <= total(gone.values()))
    for key in able:
        for runner in runners:
            here = [x for place, x in held[key].items() if place[2] == runner.pod.node]
            beside = step.cp.new_bool_var("")
            step.cp.add(beside <= total(here))
            step.cp.add(beside <= gone[runner.key])
            yield key, beside
            some = step.cp.new_bool_var("")
            step.cp.add(total(here) <= _MOST * some)
            step.cp.add(no_other + gone[runner.key] + some <= 2)
        yield key, no_other

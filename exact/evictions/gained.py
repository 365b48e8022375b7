"""
What is gained by evictions in the small model: what is reserved for whom others leave.

A pod leaves for all starts for which it may, whoever of them gets its room.
"""

from collections.abc import Iterator

from exact.evictions.rights import may_be_for
from exact.evictions.step import RULES, Step, total
from exact.facts import gpu_seconds
from models.gangs import pod_sets
from solver.effort.cp_sat import cp_model


def gained(step: Step, seconds: int) -> cp_model.LinearExpr:
    """
    Give the GPU-seconds that pods run in some seconds which others leave for.

    Who starts together with such a start gains by it as well.
    """
    mine = sorted(step.beneficiaries())
    leaves = {key: total(_leaves_for(step, key)) for key in mine}
    counted = []
    for key in mine:
        team = {key, *step.small.facts.gangs[key].mates}
        held = [
            (place, var - step.now[place])
            for place, var in step.small.binds.items()
            if place[0] == key
        ]
        most = sum(
            gpu_seconds(step.before, leaf.requests, seconds) * len(leaf.pods)
            for leaf in pod_sets(step.before.gangs[key].gang.tree)
        )
        worth = step.cp.new_int_var(0, most, "")
        step.cp.add(worth <= most * total(leaves[x] for x in sorted(team & {*mine})))
        step.cp.add(
            worth
            <= total(
                gpu_seconds(step.before, step.requests(key, place[1]), seconds) * number
                for place, number in held
            )
        )
        counted.append(worth)
    return total(counted)


def _leaves_for(step: Step, key: str) -> Iterator[cp_model.IntVar]:
    """
    Walk who leaves in this step and may do so for a start.
    """
    for runner in step.runners:
        if runner.key not in step.frozen.departures:
            for rule in RULES:
                if may_be_for(step, runner, rule, key):
                    yield step.gone[runner.key, rule]

"""
Bounds by arithmetic: finite for every tier, valid whatever the search does.
"""

from models.resources import num_gpus
from solver.place.draft import Draft
from solver.problem.lateness import late_value
from solver.problem.problem import Problem
from solver.problem.running_domains import frozen_spread, running_domains
from solver.score.tiers import (
    LOSSES,
    TierKey,
    frozen_order,
    frozen_surplus,
    score,
)

_NOTHING = Draft()


def trivial_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that needs no model.
    """
    starting = [u for u in problem.units if u.starts]
    match key.name:
        case "entitled" | "borrowing":
            mine = [s for u in starting if u.band == key.band for s in u.states]
            queues = {state.gang.queue for state in mine}
            factors = {queue: _factor(problem, key, queue) for queue in queues}
            bound = score(problem, _NOTHING, [key])[0] + sum(
                problem.weight(state) * factors[state.gang.queue] for state in mine
            )
        case "topology":
            bound = _least_spread(problem)
        case "packing":
            bound = 0
        case name if name in LOSSES:
            bound = score(problem, _NOTHING, [key])[0]
        case "surplus":
            bound = frozen_surplus(problem) + _most_value(problem)
        case "gpus":
            bound = problem.running_gpus + _pending(problem, count_gpus=True)
        case "pods":
            bound = problem.running_pods + _pending(problem, count_gpus=False)
        case "gangs":
            bound = problem.satisfied + sum(len(u.states) for u in starting)
        case "late":
            bound = score(problem, _NOTHING, [key])[0]
            bound += sum(late_value(problem, unit) for unit in starting)
        case _:
            count = len(problem.positions)
            bound = frozen_order(problem) + sum(
                count - problem.positions[state.key]
                for unit in starting
                for state in unit.states
            )
    return bound


def _factor(problem: Problem, key: TierKey, queue: str) -> int:
    return problem.borrow_factor(queue) if key.name == "borrowing" else 1


def _pending(problem: Problem, *, count_gpus: bool) -> int:
    return sum(
        len(leaf.pending) * (num_gpus(leaf.pod_set.requests) if count_gpus else 1)
        for unit in problem.units
        for state in unit.states
        for leaf in state.leaves
    )


def _most_value(problem: Problem) -> int:
    """
    Value of every pending pod, less what each gang needs at least if it starts.
    """
    total = 0
    for unit in problem.units:
        more = sum(
            problem.values.of_pod(leaf.pod_set.requests) * len(leaf.pending)
            for state in unit.states
            for leaf in state.leaves
        )
        if unit.starts:
            more -= sum(problem.least_value[s.key] for s in unit.states)
        total += max(0, more)
    return total


def _least_spread(problem: Problem) -> int:
    total = frozen_spread(problem)
    for unit in problem.units:
        for state in unit.states:
            for node in state.nodes:
                demand = node.topology
                if demand is None or demand.preferred is None:
                    continue
                used = running_domains(problem, state, node, demand, demand.preferred)
                total += max(0, len(used) - 1)
    return total

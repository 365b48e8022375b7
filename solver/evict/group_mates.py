"""
Mates: who of a GangGroup already runs must go on running for the others to start.

The gangs of a group start together or not at all.  One that is satisfied needs nothing
of the others; but no other starts in the round in which it is evicted.
"""

from collections.abc import Iterable

from models.gangs import MatchPolicy
from solver.problem.gang_state import Standing, satisfied_after
from solver.problem.problem import Problem, Unit


def mates_that_stay(problem: Problem, units: Iterable[Unit]) -> frozenset[str]:
    """
    Name the gangs that may not be evicted whole if some units start.
    """
    return _staying(problem, (state for unit in units for state in unit.states))


def mates_of_waiting(problem: Problem) -> frozenset[str]:
    """
    Name those that may not be if any gang starts that is not satisfied, in any step.
    """
    waiting = (state for state in problem.states.values() if not state.satisfied)
    return _staying(problem, waiting)


def _staying(problem: Problem, states: Iterable[Standing]) -> frozenset[str]:
    known = problem.states
    mates = {mate for state in states for mate in state.gang.mates} & known.keys()
    return frozenset(mate for mate in mates if stops_without_pods(known[mate]))


def promised_mates(problem: Problem) -> frozenset[str]:
    """
    Name the gangs without which what already has its places could not start.
    """
    frozen = problem.frozen
    return mates_that_stay(problem, (*frozen.units, *frozen.committed))


def stops_without_pods(state: Standing) -> bool:
    """
    Tell whether a satisfied gang would not be so without the pods that run.
    """
    if not state.satisfied or state.gang.match_policy is MatchPolicy.ONLY_WAITING:
        return False
    gone = {i: -len(leaf.running) for i, leaf in enumerate(state.leaves)}
    return not satisfied_after(state, gone)[0]

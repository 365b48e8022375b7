"""
Start values: what starts count for, by how much of their share queues do not use yet.
"""

from collections.abc import Iterable

from solver.problem.gang_state import Standing
from solver.problem.problem import Problem

QUARTERS = 4
"""
In so many parts of a share starts count.
"""


def entitled_value(problem: Problem, states: Iterable[Standing]) -> int:
    """
    Add up what entitled starts count, in quarters of their value.
    """
    return _value(problem, states, QUARTERS)


def borrowing_value(problem: Problem, states: Iterable[Standing]) -> int:
    """
    Add up what starts that borrow count, in quarters of their value.
    """
    return _value(problem, states, 1)


def _value(problem: Problem, states: Iterable[Standing], none: int) -> int:
    factors: dict[str, int] = {}
    total = 0
    for state in states:
        queue = state.gang.queue
        if queue not in factors:
            factors[queue] = quarters_owed(problem, queue) or none
        total += problem.weight(state) * factors[queue]
    return total


def quarters_owed(problem: Problem, queue: str) -> int:
    """
    Give 4, 3, 2 or 1 as a queue uses less than ¼, ½, ¾ or more of its share.

    The resource decides of which most is used; it is 0 for who neither has a share nor
    uses anything: entitled starts count whole there, those that borrow a quarter.
    """
    running = problem.queues.running.get(queue, {})
    shares = problem.shares.get(queue, {})
    pairs = [
        (running.get(r, 0), shares.get(r, 0))
        for r in problem.queues.named
        if running.get(r, 0) or shares.get(r, 0)
    ]
    return min((_unused(*pair) for pair in pairs), default=0)


def _unused(used: int, share: int) -> int:
    return max(1, QUARTERS - QUARTERS * used // share) if share else 1

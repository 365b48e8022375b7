"""
The order of gangs: higher bands first, then the oldest, then by name.
"""

from solver.problem.problem import Unit

Rank = tuple[int, int, str]


def rank_of(unit: Unit) -> Rank:
    """
    Rank a unit among all: who comes first has the least.
    """
    return (-unit.band, -oldest(unit), unit.key)


def oldest(unit: Unit) -> int:
    """
    Give the age of the oldest gang of a unit.
    """
    return max(state.gang.age for state in unit.states)

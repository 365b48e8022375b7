"""
Promised places beside others: whether they hold, once all leave who do and as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from solver.place.stranded import by_leaf, stranded
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Places
from solver.problem.problem import Problem

_Table = Mapping[str, Places]


@dataclass(slots=True)
class KeptBeside:
    """
    Who has promised places, at once or later; all of them lie well beside each other.
    """

    problem: Problem
    bound: dict[str, Places] = field(default_factory=dict)
    later: dict[str, Places] = field(default_factory=dict)

    def lies_well(self, places: _Table) -> bool:
        """
        Tell whether pods may have their places once all are gone who leave.
        """
        around = self.problem.around
        if around is None:
            return True
        there = {**self.bound, **self.later, **places}
        return self._may_come(there, around.afterwards())

    def lies_well_now(self, places: _Table) -> bool:
        """
        Tell whether they may have them at once, beside who is there and who is bound.
        """
        around = self.problem.around
        if around is None:
            return True
        return self._may_come({**self.bound, **places}, around.copy())

    def _may_come(self, places: _Table, around: PodsAround) -> bool:
        return not stranded(self.problem, by_leaf(places), around)

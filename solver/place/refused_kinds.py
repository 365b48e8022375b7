"""
Refusals: what found no place while room only shrinks need not be tried again.

Of gangs of one leaf whose pods may be in the same places a larger one fails where a
smaller one failed.  Others are searched for by hand, which is no proof for the next.
"""

from solver.problem.gang_state import least_need
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import place_of


class Refusals:
    """
    The smallest need of each kind that found no place.
    """

    def __init__(self, problem: Problem) -> None:
        self._shapes = problem.shapes
        self._least: dict[object, int] = {}

    def covers(self, unit: Unit) -> bool:
        """
        Tell whether a unit is of a kind of which as small a one failed already.
        """
        kind, need = self._kind(unit)
        least = self._least.get(kind)
        return least is not None and need >= least

    def note(self, unit: Unit) -> None:
        """
        Remember that a unit found no place.
        """
        said = (leaf.pod_set.neighbours for x in unit.states for leaf in x.leaves)
        if any(one.near or one.spread for one in said):
            return  # places may open as others start
        kind, need = self._kind(unit)
        self._least[kind] = min(need, self._least.get(kind, need))

    def _kind(self, unit: Unit) -> tuple[object, int]:
        state = unit.states[0]
        if len(unit.states) > 1 or len(state.leaves) > 1:
            return unit.key, 0
        need = state.leaves[0].need
        if len(state.nodes) > 1 or not need:
            need = least_need(state, lambda _: 1) or 0
        return place_of(self._shapes, state), need

"""
Refusals: what found no place while room only shrinks need not be tried again.

Of gangs of one kind (same pods, queue and domain) a larger one fails where a smaller
one failed.
"""

from solver.problem.problem import Problem, Unit


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
        kind, need = self._kind(unit)
        self._least[kind] = min(need, self._least.get(kind, need))

    def _kind(self, unit: Unit) -> tuple[object, int]:
        state = unit.states[0]
        leaf = state.leaves[0]
        if len(unit.states) > 1 or len(state.leaves) > 1 or leaf.running:
            return unit.key, 0
        gang = state.gang
        shape = self._shapes.of_leaf[gang.key, 0]
        topology = leaf.pod_set.topology
        return (shape, gang.queue, gang.preemptible, topology), leaf.need

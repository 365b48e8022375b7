"""
Demand: which shapes and levels waiting gangs ask for, and how many pods of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from solver.encode.node_classes import Level
from solver.encode.variables import Cell, Count, Footprint, Linear
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem

Place = tuple[int, Cell]
"""
(level, domain number); level -1 with no domain is the whole cluster.
"""


@dataclass(slots=True)
class Demand:
    """
    Sums of pods per shape and place, grown while gangs are added.
    """

    sums: dict[tuple[int, Place], Linear] = field(default_factory=dict)
    footprints: dict[object, Footprint] = field(default_factory=dict)

    def add(self, shape: int, place: Place, count: Count, times: int) -> None:
        """
        Want ``times`` pods of a shape for each one counted.
        """
        if times:
            row = self.sums.setdefault((shape, place), Linear())
            row.add(count.variable, times, count.upper)


def levels_of(problem: Problem, moved: Sequence[Standing] = ()) -> list[Level]:
    """
    List the topology levels that pending and moved gangs ask for, outermost first.
    """
    found = set()
    pending = [state for unit in problem.units for state in unit.states]
    for state in (*pending, *moved):
        for node in state.nodes:
            demand = node.topology
            for level in (demand.required, demand.preferred) if demand else ():
                if level is not None and demand is not None:
                    order = problem.topologies[demand.topology].levels.index(level)
                    found.add((demand.topology, order, level))
    return [(topology, level) for topology, _, level in sorted(found)]


def pending_shapes(problem: Problem, moved: Sequence[Standing] = ()) -> list[int]:
    """
    List the shapes of pods that may be bound, or moved.
    """
    of_leaf = problem.shapes.of_leaf
    pending = {
        of_leaf[state.key, i]
        for unit in problem.units
        for state in unit.states
        for i, leaf in enumerate(state.leaves)
        if leaf.pending
    }
    others = {of_leaf[one.key, i] for one in moved for i in range(len(one.leaves))}
    return sorted(pending | others)

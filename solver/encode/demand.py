"""
Demand: which shapes and levels waiting gangs ask for, and how many pods of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from solver.encode.node_classes import Level
from solver.encode.variables import Cell, Count, Footprint, Linear
from solver.problem.gang_state import Standing, TreeNode
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
        asked = _asked(state.nodes)
        if len({topology for topology, _ in asked}) > 1:
            cells = (cell_level(problem, state, i) for i in range(len(state.leaves)))
            asked += [level for level in cells if level is not None]
        found |= {(t, problem.topologies[t].levels.index(v), v) for t, v in asked}
    return [(topology, level) for topology, _, level in sorted(found)]


def cell_level(problem: Problem, state: Standing, leaf: int) -> Level | None:
    """
    Find the finest level that a leaf and the nodes above it ask for.

    Of several topologies these are taken at once: no domain of one is inside another's.
    """
    finest: dict[str, str] = {}
    above = [node for node in state.nodes if leaf in node.leaves]
    for topology, level in _asked(above):
        rank = problem.topologies[topology].levels.index
        finest[topology] = max(finest.get(topology, level), level, key=rank)
    if len(finest) < 2:
        return next(iter(finest.items()), None)
    name = "\0".join(word for level in finest.items() for word in level)
    return name, problem.topologies[name].levels[-1]


def _asked(nodes: Sequence[TreeNode]) -> list[Level]:
    """
    List the levels that tree nodes ask for, those required first.
    """
    demands = [node.topology for node in nodes if node.topology is not None]
    required = [(each.topology, each.required) for each in demands if each.required]
    preferred = [(each.topology, each.preferred) for each in demands if each.preferred]
    return required + preferred


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

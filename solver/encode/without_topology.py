"""
The relaxation: the same round as if no pod cared for racks, blocks and zones.

It has few classes and few variables, its bounds hold for the round as it is, and what
it starts can mostly be placed by hand.
"""

from dataclasses import replace

from solver.problem.domains import Domains
from solver.problem.problem import Problem, Unit


def has_many_domains(problem: Problem, levels: list[tuple[str, str]]) -> bool:
    """
    Tell whether the model grows large by its domains.
    """
    cells = [problem.domains.cells(*level) for level in levels]
    return (
        sum(len(cell.names) - 1 for cell in cells) > problem.tuning.encode.most_domains
    )


def without_topology(problem: Problem) -> Problem:
    """
    Drop all topology demands of what is pending.
    """
    return replace(
        problem,
        units=tuple(_relaxed(unit) for unit in problem.units),
        topologies={},
        domains=Domains(),
        stuck=(),
        frozen=replace(
            problem.frozen, units=tuple(_relaxed(unit) for unit in problem.frozen.units)
        ),
    )


def _relaxed(unit: Unit) -> Unit:
    if all(node.topology is None for state in unit.states for node in state.nodes):
        return unit
    return replace(
        unit,
        states=tuple(
            replace(s, nodes=tuple(replace(node, topology=None) for node in s.nodes))
            for s in unit.states
        ),
    )

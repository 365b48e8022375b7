"""
Where a tree node's pods are: the domains that pin, and the preferred ones used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from models.topology import Domain
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Places
from solver.problem.problem import Problem


def running_cells(
    problem: Problem, state: Standing, node: TreeNode, level: str
) -> set[int]:
    """
    List the domains in which pods below a tree node run; lost nodes pin nothing.
    """
    assert node.topology is not None
    index = problem.room.index
    hosts = [
        index[pod.node]
        for i in node.leaves
        for pod in state.leaves[i].running
        if pod.node in index
    ]
    return problem.domains.cells(node.topology.topology, level).on(hosts)


def used_cells(
    problem: Problem,
    state: Standing,
    node: TreeNode,
    level: str,
    rows: Mapping[int, Sequence[int]],
) -> set[int]:
    """
    List the domains in which they run, or are given places: ``rows`` of each leaf.
    """
    assert node.topology is not None
    cells = problem.domains.cells(node.topology.topology, level)
    new = [host for i in node.leaves for host in rows.get(i, ())]
    return running_cells(problem, state, node, level) | cells.on(new)


def running_domains(
    problem: Problem, state: Standing, node: TreeNode, level: str
) -> set[Domain]:
    """
    Name the domains in which pods below a tree node run.
    """
    assert node.topology is not None
    names = problem.domains.cells(node.topology.topology, level).names
    return {names[cell] for cell in running_cells(problem, state, node, level)}


def staying(problem: Problem) -> Problem:
    """
    See only the gangs of which nobody may be evicted: the domains of these are sure.
    """
    return replace(
        problem,
        units=tuple(u for u in problem.units if not any(map(may_leave, u.states))),
        stuck=tuple(state for state in problem.stuck if not may_leave(state)),
    )


def may_leave(state: Standing) -> bool:
    """
    Tell whether pods of a gang run that may be evicted.
    """
    return state.gang.preemptible and runs(state)


def runs(state: Standing) -> bool:
    """
    Tell whether pods of a gang run.
    """
    return any(leaf.running for leaf in state.leaves)


def frozen_spread(problem: Problem) -> int:
    """
    Count what this plan cannot change: gangs that cannot start, and reserved ones.
    """
    places = problem.frozen.places
    stuck = sum(spread_of(problem, state, None) for state in problem.stuck)
    return stuck + sum(
        spread_of(problem, state, places[state.key])
        for unit in problem.frozen.units
        for state in unit.states
    )


def least_spread(problem: Problem) -> int:
    """
    Count the preferred domains beyond the first that are used already.
    """
    states = (state for unit in problem.units for state in unit.states)
    return sum(spread_of(problem, state, None) for state in states)


def spread_of(problem: Problem, state: Standing, places: Places | None) -> int:
    """
    Count a gang's preferred domains beyond the first, over its tree nodes.
    """
    total, rows = 0, dict(enumerate(places or ()))
    for node in state.nodes:
        demand = node.topology
        if demand is None or demand.preferred is None:
            continue
        used = used_cells(problem, state, node, demand.preferred, rows)
        total += max(0, len(used) - 1)
    return total

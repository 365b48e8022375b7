"""
Where a tree node's pods are: the domains that pin, and the preferred ones used.
"""

from collections.abc import Sequence

from models.topology import Domain, TopologyDemand
from solver.problem import Problem
from solver.standing import Standing, TreeNode

OUTSIDE: Domain = ("",)
"""
All nodes without a label of the level, taken as one place that is no domain.
"""


def domain_at(problem: Problem, topology: str, level: str, node: int) -> Domain:
    """
    Name the domain a node is in at a level.
    """
    labels = problem.room.nodes[node].labels
    return problem.topologies[topology].domain(labels, level) or OUTSIDE


def running_domains(
    problem: Problem, state: Standing, node: TreeNode, demand: TopologyDemand, level: str
) -> set[Domain]:
    """
    List the domains in which pods below a tree node run; lost nodes pin nothing.
    """
    index = problem.room.index
    return {
        domain_at(problem, demand.topology, level, index[pod.node])
        for i in node.leaves
        for pod in state.leaves[i].running
        if pod.node in index
    }


def idle_spread(problem: Problem) -> int:
    """
    Count what gangs that can never start as things are add: what runs of them.
    """
    return sum(spread_of(problem, state, None) for state in problem.stuck)


def spread_of(
    problem: Problem,
    state: Standing,
    places: Sequence[Sequence[int]] | None,
) -> int:
    """
    Count a gang's preferred domains beyond the first, over its tree nodes.
    """
    total = 0
    for node in state.nodes:
        demand = node.topology
        if demand is None or demand.preferred is None:
            continue
        level = demand.preferred
        used = running_domains(problem, state, node, demand, level)
        if places is not None:
            used |= {
                domain_at(problem, demand.topology, level, host)
                for i in node.leaves
                for host in places[i]
            }
        total += max(0, len(used) - 1)
    return total

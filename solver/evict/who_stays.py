"""
Who stays around pods in a step, whoever leaves of those that may.
"""

from dataclasses import replace

from solver.evict.victims import Victims
from solver.place.round_state import around_now
from solver.problem.pod_shapes import where_neighbours_let
from solver.problem.problem import Problem


def beside_who_stays(problem: Problem, victims: Victims) -> Problem:
    """
    See others around as when all are gone who leave; who may, keeps nobody away.
    """
    if problem.around is None:
        return problem
    later = replace(problem, around=problem.around.afterwards())
    found = around_now(later) or problem.around
    for host, here in victims.on_node.items():
        for victim in (victim for alike in here.values() for victim in alike):
            for leaf, _ in victim.pods:
                found.leave(victim.gang, leaf, host)
    return replace(later, shapes=where_neighbours_let(problem.shapes, found))

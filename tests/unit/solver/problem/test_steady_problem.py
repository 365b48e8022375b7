"""
What a round of a cluster in which little happens must not do again.
"""

from dataclasses import replace

from models.memory.aged_gangs import AgedGangs
from models.policy import Policy
from solver.problem.problem import problem_of
from tests.helpers.build import gang, node, snapshot


def test_a_problem_makes_those_that_run_no_older_one_by_one():
    there = snapshot([node("n0")], [gang("g", running=["n0"]), gang("waits")])
    aged = AgedGangs(there.gangs, (0, 0), 60)

    problem = problem_of(replace(there, gangs=aged), Policy())

    assert [unit.key for unit in problem.units] == ["default/waits"]
    assert aged._whole is None

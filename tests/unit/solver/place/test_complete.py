"""
What a draft is completed with.
"""

from models.policy import Policy
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.problem.problem import problem_of
from tests.helpers.build import gang, nodes, queue, snapshot


def test_of_equal_gangs_that_borrow_the_oldest_starts():
    young = gang("a-young", gpus=8, age=60, queue="q")
    old = gang("z-old", gpus=8, age=120, queue="q")
    given = snapshot(nodes(1), [young, old], queues=[queue("q", quota=0, weight=0)])

    draft = complete(problem_of(given, Policy()), Draft())

    assert ["default/z-old"] == [*draft.places]

"""
What is always true of a round, on trees that nobody would write.
"""

import pytest

from benchmarks.quality import exact_vector, vector_of
from exact import check_feasible
from models.plan import Placement
from models.policy import Evict, Policy
from solver.problem.problem import problem_of
from solver.round import decide
from solver.verify import verify
from tests.helpers.rounds.odd_trees import odd_snapshot

POLICY = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False))


def confirm(seed):
    snapshot = odd_snapshot(seed)
    solver = decide(snapshot, POLICY)
    greedy = decide(snapshot, POLICY, strategy="greedy")
    placement = Placement(
        binds={op.pod: op.node for op in greedy.operations},
        entitled=frozenset(line.name for line in greedy.gangs if line.entitled),
    )
    shares = problem_of(snapshot, POLICY).shares
    values = check_feasible(snapshot, POLICY, shares, placement)

    assert () == verify(snapshot, POLICY, solver)
    assert exact_vector(snapshot, POLICY) == vector_of(solver)
    assert values is not None
    assert {(n, b): v for n, b, v in values if v} == vector_of(greedy)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(40))
def test_odd_trees_are_planned_as_the_exact_model_says(seed):
    confirm(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 240))
def test_many_odd_trees_are_planned_as_the_exact_model_says(seed):
    confirm(seed)

"""
Relief: who leaves so that a queue has room below its limit, whoever uses theirs.
"""

import pytest

from adapters.files import read_scenario
from solver.encode.conversion.relief import relieved_queues
from solver.problem.problem import problem_of
from solver.round import decide
from solver.tuning import Search, Tuning

SCENARIO = (
    "scenarios/evict/preempt/who-only-relieves-a-queue-may-leave-room-of-no-use.yaml"
)
STEP_BY_STEP = Tuning(search=Search(most_open_cells=0))


def test_a_bound_of_work_lost_knows_of_who_leaves_room_of_no_use():
    case = read_scenario(SCENARIO)

    plan = decide(case.snapshot, case.policy, tuning=STEP_BY_STEP)

    assert ["default/one-0"] == [op.pod for op in plan.operations if op.op == "Evict"]
    lost = next(tier for tier in plan.tiers if tier.name == "preemption")
    assert (3600, 3600) == (lost.value, lost.bound)


@pytest.mark.parametrize(("limit", "relieved"), [(4, {"lab"}), (5, set())])
def test_a_queue_is_relieved_where_its_limit_is_too_small_for_all(limit, relieved):
    case = read_scenario(SCENARIO)
    problem = problem_of(case.snapshot, case.policy)
    rule = problem.queues.queues["lab"].resources["nvidia.com/gpu"]
    object.__setattr__(rule, "limit", limit)

    assert relieved == relieved_queues(problem)

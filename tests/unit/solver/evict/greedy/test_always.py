"""
What holds of all plans with evictions by greedy.
"""

from collections import Counter

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from models.gangs import pod_sets
from solver.evict.greedy.evict import evict_by_hand
from solver.place.draft import Draft
from solver.problem.gang_state import satisfied_after, standing
from solver.problem.leaving_pods import NOWHERE, loss_of
from solver.problem.node_room import NO_PLACES
from solver.problem.problem import Step
from solver.round import decide
from tests.helpers.rounds.greedy_evictions import stage

SEEDS = range(60)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", [Step.ENTITLED, Step.BORROWING])
def test_nodes_are_never_overfull_and_minimums_hold(step, seed):
    case = victim_case(seed)
    problem, victims = stage(case["given"], case["policy"]["evict"], step)

    draft = evict_by_hand(problem, Draft(), victims)

    assert_there_is_room(problem, draft)
    assert_minimums_hold(problem, draft)


def assert_there_is_room(problem, draft):
    room = problem.room.later.copy()
    for one in draft.exits:
        leaf = tuple(pod_sets(problem.gangs[one.gang].tree))[one.leaf]
        row = problem.room.row(leaf.requests)
        room[one.host] += row
        if one.target != NOWHERE:
            room[one.target] -= row
    for unit in problem.units:
        for state in unit.states:
            for leaf, hosts in zip(
                state.leaves, draft.places.get(state.key, NO_PLACES), strict=False
            ):
                for host in hosts:
                    room[host] -= problem.room.row(leaf.pod_set.requests)

    assert (room >= problem.room.later.clip(max=0)).all()


def assert_minimums_hold(problem, draft):
    gone = Counter((one.gang, one.leaf) for one in draft.exits)
    for key in {one.gang for one in draft.exits}:
        state = standing(problem.gangs[key])
        lost = {i: -gone[key, i] for i in range(len(state.leaves))}
        left = sum(len(leaf.running) for leaf in state.leaves) + sum(lost.values())

        assert key not in draft.places
        assert not left or satisfied_after(state, lost)[0]


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tiny", [True, False])
def test_judge_agrees_with_plans_by_hand(tiny, seed):
    scenario = scenario_of("case", victim_case(seed, tiny=tiny))

    decide(scenario.snapshot, scenario.policy, strategy="greedy")


@pytest.mark.drawn
@pytest.mark.parametrize("most", [600, 3000])
@pytest.mark.parametrize("seed", [*SEEDS, 6730, 7322])
def test_judge_agrees_with_what_is_lost_by_hand(most, seed):
    document = victim_case(seed)
    document["policy"] = {"evict": {"maxLostPerGpu": most}}
    scenario = scenario_of("case", document)

    decide(scenario.snapshot, scenario.policy, strategy="greedy")


def test_a_start_whose_pods_lose_too_much_alone_does_not_spoil_the_first_one():
    document = victim_case(7322)
    document["policy"] = {"evict": {"maxLostPerGpu": 3000}}
    scenario = scenario_of("case", document)

    plan = decide(scenario.snapshot, scenario.policy, strategy="greedy")

    assert {step.gang for step in plan.operations} == {"default/w0", "default/v1"}


def test_same_case_gives_the_same_draft():
    problem, victims = stage(victim_case(3)["given"])
    first = evict_by_hand(problem, Draft(), victims)

    second = evict_by_hand(problem, Draft(), victims)

    assert first == second
    assert loss_of(first.exits) == loss_of(second.exits)

"""
Who is late: how long units were passed over, and how many GPUs they need.
"""

import pytest
from pydantic import ValidationError

from models.policy import Policy, Tier, WaitingPolicy
from solver.encode.activation import gang_types
from solver.hold.heads import heads_of
from solver.problem.lateness import is_late, needs_gpus, passed_over
from solver.problem.problem import problem_of
from tests.helpers.build import gang, group, leaf, node, snapshot

DAY = 86_400


def ask(*gangs, after=2, gpus=None, heads=0, least=0):
    tiers = (Tier(name="late", after=after * DAY, gpus=gpus), Tier(name="gangs"))
    policy = Policy(tiers=tiers, waiting=WaitingPolicy(heads=heads, gpus=least))
    return problem_of(
        snapshot([node("n", allocatable={"amd.com/gpu": 2})], gangs), policy
    )


def unit(*gangs, **policy):
    return ask(*gangs, **policy).units[0]


@pytest.mark.parametrize(("waited", "late"), [(2 * DAY - 1, False), (2 * DAY, True)])
def test_a_gang_is_late_from_the_second_it_was_passed_over_for_so_long(waited, late):
    problem = ask(gang("g", minimum=1, gpus=1, passed_over=waited))

    assert is_late(problem, problem.units[0]) == late


def test_nobody_is_late_where_the_tier_is_not_listed():
    problem = problem_of(
        snapshot([node("n")], [gang("g", minimum=1, passed_over=90 * DAY)]), Policy()
    )

    assert not is_late(problem, problem.units[0])


def test_surplus_is_never_late():
    grows = gang("g", minimum=1, replicas=3, running=["n"], passed_over=9 * DAY)
    problem = ask(grows)

    assert not is_late(problem, problem.units[0])


def test_of_gangs_that_start_together_one_is_passed_over_and_all_are_large():
    mates = ("default/a", "default/b")
    pair = unit(
        gang("a", minimum=2, gpus=2, mates=mates),
        gang("b", minimum=1, gpus=1, mates=mates, passed_over=3 * DAY),
    )

    assert passed_over(pair) == 3 * DAY
    assert needs_gpus(pair, 5)
    assert not needs_gpus(pair, 6)


@pytest.mark.parametrize("least", [None, 0])
def test_without_a_size_whoever_asks_for_no_gpu_is_large_enough(least):
    assert needs_gpus(unit(gang("g", minimum=1, requests={"cpu": 1})), least)


def test_gpus_are_those_of_the_cheapest_way_to_start_of_any_kind():
    tree = group(
        "either",
        leaf("dear", minimum=1, requests={"nvidia.com/gpu": 4}),
        leaf("cheap", minimum=1, requests={"nvidia.com/gpu": 1, "amd.com/gpu": 2}),
        min_groups=1,
    )
    either = unit(gang("g", tree))

    assert needs_gpus(either, 3)
    assert not needs_gpus(either, 4)


def test_what_runs_already_is_not_needed_any_more():
    half = unit(gang("g", minimum=3, replicas=3, gpus=2, running=["n"]))

    assert needs_gpus(half, 4)
    assert not needs_gpus(half, 5)


def test_gangs_alike_but_for_being_late_are_of_two_types():
    problem = ask(
        gang("late", minimum=1, gpus=1, passed_over=3 * DAY),
        gang("early", minimum=1, gpus=1, passed_over=DAY),
        gang("new", minimum=1, gpus=1),
    )
    types = [[unit.key for unit in kind] for kind in gang_types(problem)]

    assert sorted(map(sorted, types)) == [
        ["default/early", "default/new"],
        ["default/late"],
    ]


def test_heads_are_the_first_of_those_that_are_large():
    gangs = [
        gang("small", minimum=1, gpus=4, passed_over=9 * DAY),
        gang("large", minimum=1, gpus=8, passed_over=8 * DAY),
    ]

    for least, key in ((0, "small"), (4, "small"), (5, "large"), (8, "large")):
        (head,) = heads_of(ask(*gangs, heads=1, least=least))
        assert f"default/{key}" == head.key
    assert () == heads_of(ask(*gangs, heads=1, least=9))


@pytest.mark.parametrize(
    ("tier", "message"),
    [
        ({"name": "late"}, "say after how long late is"),
        ({"name": "late", "gpus": 8}, "say after how long late is"),
        ({"name": "gangs", "after": 60}, "options of the tier late only"),
        ({"name": "gpus", "gpus": 8}, "options of the tier late only"),
        ({"name": "late", "after": 60, "gpus": True}, "true is not a number"),
    ],
)
def test_options_are_asked_of_late_and_of_no_other_tier(tier, message):
    with pytest.raises(ValidationError, match=message):
        Policy.model_validate({"tiers": [tier]})


def test_a_policy_that_was_written_is_read_again():
    policy = Policy.model_validate({"tiers": [{"name": "late", "after": "2d"}, "gpus"]})

    assert policy == Policy.model_validate(policy.model_dump(by_alias=True))

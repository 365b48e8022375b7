"""
Stale gangs: since when a gang is stale, which pods count, and who goes.
"""

from dataclasses import replace

import pytest

from models.gangs import MatchPolicy
from models.plan import Departure, Placement
from models.policy import Evict, Policy
from solver.evict.stale import stale_departures
from solver.problem.problem import problem_of
from solver.problem.stale_gangs import is_stale
from solver.round import decide
from tests.helpers.build import gang, group, leaf, nodes, snapshot


def policy(**fields):
    return Policy(evict=Evict(**fields))


def torn(**fields):
    """
    Build a gang that needs three pods and runs two, for an hour.
    """
    defaults = {"minimum": 3, "running": ["n0", "n0"], "stale_since": 3600}
    return gang("torn", **(defaults | fields))


def leave(*gangs, placement=None, **evict):
    problem = problem_of(snapshot(nodes(1), gangs), policy(**evict))
    return stale_departures(problem, placement or Placement())


# --- since when ---------------------------------------------------------------------


@pytest.mark.parametrize(("since", "stale"), [(59, False), (60, True), (61, True)])
def test_a_minute_is_the_grace_unless_somebody_says_otherwise(since, stale):
    assert is_stale(torn(stale_since=since), Policy()) == stale


@pytest.mark.parametrize(("since", "stale"), [(299, False), (300, True)])
def test_the_policy_says_another_grace(since, stale):
    assert is_stale(torn(stale_since=since), policy(staleAfter=300)) == stale


@pytest.mark.parametrize(("after", "stale"), [(3601, False), (3600, True), (0, True)])
def test_a_gang_says_its_own_grace(after, stale):
    assert is_stale(torn(stale_after=after), policy(staleAfter=1)) == stale


@pytest.mark.parametrize("after", [-1, -3600])
def test_a_negative_grace_never_ends(after):
    assert not is_stale(torn(stale_after=after), Policy())


def test_a_negative_grace_of_the_policy_holds_for_those_that_say_none():
    never = policy().model_copy(
        update={"evict": policy().evict.model_copy(update={"stale_after": -1})}
    )

    assert not is_stale(torn(), never)
    assert is_stale(torn(stale_after=0), never)


def test_a_gang_is_not_stale_where_nobody_knows_since_when():
    assert not is_stale(torn(stale_since=None), Policy())


def test_a_gang_may_be_stale_from_the_first_second_on():
    assert is_stale(torn(stale_after=0, stale_since=0), Policy())


# --- which pods count ---------------------------------------------------------------


@pytest.mark.parametrize("match_policy", [*MatchPolicy])
def test_succeeded_pods_count_whatever_the_match_policy(match_policy):
    assert not is_stale(torn(succeeded=1, match_policy=match_policy), Policy())


@pytest.mark.parametrize(
    "fields", [{"failed": 1}, {"terminating": ["n0"]}, {"gated": 1}, {"created": 2}]
)
def test_other_pods_do_not_count(fields):
    assert is_stale(torn(**fields), Policy())


def test_a_gang_at_its_minimum_is_not_stale_whatever_it_says():
    assert not is_stale(torn(minimum=2, replicas=3), Policy())


def test_ordinary_pods_are_never_stale():
    served = torn(match_policy=MatchPolicy.ONCE_SATISFIED, once_satisfied=True)

    assert not is_stale(served, Policy())
    assert is_stale(replace(served, once_satisfied=False), Policy())


def tree(min_groups, **fields):
    return gang(
        "tree",
        leaf("core", 2, running=["n0", "n0"]),
        leaf("extra", 2, running=["n0"]),
        min_groups=min_groups,
        stale_since=3600,
        **fields,
    )


def test_an_optional_child_does_not_make_a_gang_stale_and_a_needed_one_does():
    assert not is_stale(tree(1), Policy())
    assert is_stale(tree(2), Policy())


def test_a_minimum_of_pods_counts_below_all_children():
    assert not is_stale(tree(0, min_pods=3), Policy())
    assert is_stale(tree(0, min_pods=4), Policy())


def test_an_optional_child_deep_down_does_not_matter():
    deep = gang(
        "deep",
        group("rack", leaf("a", 1, running=["n0"]), leaf("b", 1), min_groups=1),
        stale_since=3600,
    )

    assert not is_stale(deep, Policy())


# --- who goes -----------------------------------------------------------------------


def test_all_running_pods_go_for_nobody():
    gone = Departure(rule="stale")

    assert leave(torn(created=2)) == {"default/torn-0": gone, "default/torn-1": gone}


def test_pods_that_do_not_run_stay_as_they_are():
    found = leave(torn(minimum=5, terminating=["n0"], succeeded=1))

    assert sorted(found) == ["default/torn-0", "default/torn-1"]


def test_nobody_goes_where_the_policy_switches_it_off():
    assert leave(torn(created=2), stale=False) == {}


@pytest.mark.parametrize("table", ["binds", "reserves"])
def test_whom_the_plan_helps_stays(table):
    placement = Placement(**{table: {"default/torn-2": "n0"}})

    assert leave(torn(), placement=placement) == {}


def test_a_pod_of_another_gang_is_no_help():
    placement = Placement(binds={"default/other-0": "n0"})

    assert len(leave(torn(), gang("other"), placement=placement)) == 2


def test_a_pod_that_leaves_for_somebody_does_not_leave_twice():
    departure = Departure(rule="reclaim", beneficiaries=("default/x",))
    placement = Placement(departures={"default/torn-0": departure})

    assert "default/torn-0" not in leave(torn(created=2), placement=placement)


def test_healthy_gangs_stay():
    assert leave(gang("fine", minimum=1, running=["n0"], stale_since=3600)) == {}


# --- who is helped ------------------------------------------------------------------


def entitled_of(*gangs):
    """
    Say how well it is known that no plan has a better entitled tier.
    """
    plan = decide(snapshot(nodes(1, gpus=4), gangs), Policy())
    return next(tier.proof for tier in plan.tiers if tier.name == "entitled")


def test_what_a_plan_is_worth_that_helps_a_stale_gang_is_not_proven():
    helped = torn()
    assert entitled_of(helped) == "proven"
    assert entitled_of(helped, gang("large", minimum=4)) == "conditional"

"""
What becomes of gangs from one plan to another.
"""

import pytest

from adapters.compare.plan_difference import Became, difference_of
from models.why.reasons import Reason, Waiting
from tests.helpers.build import bind, line, plan


def of(before, after):
    found = difference_of(
        plan(lines=[before] if before else []), plan(lines=[after] if after else [])
    )
    return [each.became for each in found.gangs]


@pytest.mark.parametrize(
    ("before", "after", "became"),
    [
        ("Waiting", "Starting", [Became.STARTS]),
        (None, "Starting", [Became.STARTS]),
        ("Waiting", "Running", [Became.STARTS]),
        ("Running", "Starting", [Became.RESTARTS]),
        ("Waiting", "Reserved", [Became.RESERVES]),
        ("Starting", "Reserved", [Became.WAITS]),
        ("Running", "Evicting", [Became.LEAVES]),
        ("Running", "Growing", [Became.GROWS]),
        ("Starting", "Waiting", [Became.WAITS]),
        (None, "Running", [Became.NEW]),
        (None, "Growing", [Became.NEW]),
        ("Running", None, [Became.GONE]),
        ("Running", "Running", []),
        ("Waiting", "Waiting", []),
    ],
)
def test_what_became_of_a_gang_is_told_by_its_states(before, after, became):
    sides = [state and line("g", state) for state in (before, after)]

    assert became == of(*sides)


@pytest.mark.parametrize(
    ("before", "after", "became"),
    [
        (line("g", "Evicting", running=2, evicting=2), 2, [Became.STAYS]),
        (line("g", "Evicting", running=3, evicting=1), 2, []),
        (line("g", "Growing", 2, running=1), 1, [Became.SHRINKS]),
        (line("g", "Growing", 2, running=1), 3, []),
        (line("g", "Starting", 2), 2, []),
        (line("g", "Starting", 2), 3, [Became.GROWS]),
    ],
    ids=["stays", "has left", "grows less", "has grown", "started", "grew since"],
)
def test_a_gang_that_goes_on_as_an_earlier_plan_left_it_does_not_differ(
    before, after, became
):
    assert became == of(before, line("g", "Running", running=after))


def test_more_pods_in_the_same_state_are_growth_and_another_reason_is_told():
    few, many = line("g", "Starting", binding=2), line("g", "Starting", binding=3)
    one = line("g", waiting=Waiting(Reason.FRAGMENTED))
    other = line("g", waiting=Waiting(Reason.QUOTA_LIMIT_REACHED))

    assert [[Became.GROWS], [Became.SHRINKS]] == [of(few, many), of(many, few)]
    assert [Became.WAITS_OTHERWISE] == of(one, other)


def test_pods_on_another_node_are_counted():
    found = difference_of(plan(bind("g-0", "n0")), plan(bind("g-0", "n1")))

    assert (1, True) == (found.elsewhere, found.is_any)

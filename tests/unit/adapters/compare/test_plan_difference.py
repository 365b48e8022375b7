"""
What becomes of gangs from one plan to another.
"""

from dataclasses import replace

import pytest

from adapters.cli.terminal.output import Paint
from adapters.cli.views.difference_view import gang_lines
from adapters.compare.plan_difference import (
    Became,
    difference_document,
    difference_of,
)
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


@pytest.mark.parametrize(
    ("after", "became"),
    [
        (line("g", "Waiting", running=2), Became.STAYS),
        (line("g", "Starting", 2, running=2), Became.STARTS),
        (line("g", "Reserved", running=2), Became.RESERVES),
        (line("g", "Waiting"), Became.WAITS),
        (line("g", "Starting", 4), Became.RESTARTS),
        (line("g", "Reserved"), Became.WAITS),
    ],
)
def test_who_runs_below_its_minimum_need_not_leave_where_its_pods_go_on(after, became):
    assert [became] == of(line("g", "Evicting", running=2, evicting=2), after)


def test_who_waits_with_fewer_of_its_pods_differs():
    two, none = line("g", "Waiting", running=2), line("g", "Waiting")

    assert [[Became.SHRINKS], []] == [of(two, none), of(two, two)]


def test_more_pods_in_the_same_state_are_growth_and_another_reason_is_told():
    few, many = line("g", "Starting", binding=2), line("g", "Starting", binding=3)
    one = line("g", waiting=Waiting(Reason.FRAGMENTED))
    other = line("g", waiting=Waiting(Reason.QUOTA_LIMIT_REACHED))

    assert [[Became.GROWS], [Became.SHRINKS]] == [of(few, many), of(many, few)]
    assert [Became.WAITS_OTHERWISE] == of(one, other)


def test_pods_on_another_node_are_counted():
    found = difference_of(plan(bind("g-0", "n0")), plan(bind("g-0", "n1")))

    assert (1, True) == (found.elsewhere, found.is_any)


def leaving(runs=4, **pods):
    """
    A plan in which so many pods of a gang that ``runs`` leave by each operation.
    """
    steps = [
        bind(f"g-{op}-{at}", "n1", op=op, source="n0")
        for op, number in pods.items()
        for at in range(number)
    ]
    ends = sum(pods.values())
    said = line("g", "Evicting", running=runs, evicting=ends)
    return plan(*(replace(step, gang="default/g") for step in steps), lines=[said])


@pytest.mark.parametrize(
    ("before", "after", "became"),
    [
        (leaving(Evict=4), leaving(Move=4), [Became.KEEPS]),
        (leaving(Move=4), leaving(Evict=4), [Became.LEAVES]),
        (leaving(Evict=2, Move=2), leaving(Evict=3), [Became.LEAVES]),
        (leaving(Evict=3), leaving(Evict=2, Move=2), [Became.KEEPS]),
        (leaving(Evict=3), leaving(Evict=1), [Became.KEEPS]),
        (leaving(Evict=1), leaving(Evict=1, Move=1), [Became.LEAVES]),
        (leaving(Evict=1), leaving(Evict=1), []),
        (leaving(Evict=4), leaving(3, Evict=3), []),
        (leaving(Evict=2), leaving(3, Evict=2), [Became.LEAVES]),
    ],
)
def test_of_who_leaves_in_both_it_is_told_who_loses_fewer_pods(before, after, became):
    assert became == [each.became for each in difference_of(before, after).gangs]


def test_who_only_moves_in_a_plan_is_shown_as_moving():
    found = difference_of(leaving(Evict=4), leaving(Move=4))
    lines = gang_lines(found, ("A", "B"), Paint(), wide=False, width=None)

    assert "What differs: 1 gang keeps more of its pods" in lines
    assert ["default/g", "default", "Evicting", "Moving"] == lines[-1].split()[:4]
    assert [[4, 0]] == [x["evicted"] for x in difference_document(found)["gangs"]]

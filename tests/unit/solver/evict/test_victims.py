"""
Victims: who may leave in a step, by which rules, and what counts as one thing.
"""

from dataclasses import replace

import pytest

from models.gangs import DisruptionBudget, MatchPolicy
from models.policy import Evict, Policy
from models.resources import GPU
from solver.evict.gathering import victims_of
from solver.evict.moved_gangs import movers_of
from solver.evict.rights.may_leave import Rights
from solver.evict.victims import vacated
from solver.problem.leaving_pods import Exit
from solver.problem.problem import Frozen, Step, problem_of
from tests.helpers.build import gang, group, leaf, nodes, queue, required, snapshot

GUEST, OWNER = queue("guest", quota=0, weight=0), queue("owner", quota=16)


def aged(made, *seconds):
    """
    Let the running pods of a gang of one leaf have run for some seconds each.
    """
    times = iter(seconds)
    pods = tuple(
        replace(pod, seconds=next(times, 0)) if pod.node else pod
        for pod in made.tree.pods
    )
    return replace(made, tree=replace(made.tree, pods=pods))


def loan(name="loan", *where, **fields):
    """
    Build a gang that runs in the queue from which may be reclaimed.
    """
    places = where or ("n0",)
    defaults = {"minimum": len(places), "queue": "guest", "running": places}
    return gang(name, **(defaults | fields))


def claim(**fields):
    return gang("claim", **({"queue": "owner", "gpus": 8} | fields))


def stage(*gangs, queues=(GUEST, OWNER), step=Step.ENTITLED, budgets=(), **evict):
    given = snapshot(nodes(2), gangs, queues)
    given = replace(given, budgets=budgets)
    problem = problem_of(given, Policy(evict=Evict(**evict)))
    return replace(problem, step=step)


def gather(*gangs, **given):
    return victims_of(stage(*gangs, **given))


def rights(found):
    """
    Give the rights of the only account there is.
    """
    (account,) = found.accounts
    return account.rights


# --- by which rule ------------------------------------------------------------------


def test_from_a_queue_above_its_share_others_reclaim():
    assert rights(gather(loan(), claim())) == Rights(reclaim=True, move=True)


def test_from_a_queue_at_its_share_nobody_reclaims():
    found = gather(loan(), claim(), queues=(queue("guest", quota=1), OWNER))

    assert rights(found) == Rights(move=True)


def test_nobody_reclaims_from_its_own_queue():
    assert rights(gather(loan(), claim(queue="guest"))) == Rights(move=True)


def test_nobody_reclaims_in_the_step_of_those_that_borrow():
    assert rights(gather(loan(), claim(), step=Step.BORROWING)) == Rights(move=True)


@pytest.mark.parametrize(
    ("own", "other", "preempt"), [(1, 2, True), (2, 2, False), (3, 2, False)]
)
def test_strictly_higher_bands_of_the_queue_preempt(own, other, preempt):
    found = gather(
        loan(priority=own), claim(queue="guest", priority=other), reclaim=False
    )

    assert rights(found) == Rights(preempt=preempt, move=True)


def test_a_higher_band_of_another_queue_preempts_nobody():
    found = gather(loan(priority=1), claim(priority=2), reclaim=False)

    assert rights(found) == Rights(move=True)


@pytest.mark.parametrize("rule", ["reclaim", "consolidate"])
def test_every_rule_can_be_switched_off(rule):
    have = rights(gather(loan(), claim(), **{rule: False}))

    assert have == Rights(reclaim=rule != "reclaim", move=rule != "consolidate")


def test_preempt_can_be_switched_off():
    gangs = loan(priority=1), claim(queue="guest", priority=2)

    assert rights(gather(*gangs, preempt=False)) == Rights(move=True)


def test_nobody_is_a_victim_when_no_rule_is_left():
    found = gather(loan(), claim(), reclaim=False, preempt=False, consolidate=False)

    assert found.accounts == []


# --- who is protected ---------------------------------------------------------------


def test_what_is_not_preemptible_is_no_victim():
    assert gather(loan(preemptible=False), claim()).accounts == []


@pytest.mark.parametrize(("ago", "is_victim"), [(599, False), (600, True)])
def test_who_was_evicted_is_left_alone_for_a_while(ago, is_victim):
    found = gather(loan(evicted_ago=ago), claim(), again=600)

    assert bool(found.accounts) == is_victim


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (9, Rights()),
        (10, Rights(reclaim=True)),
        (19, Rights(reclaim=True)),
        (20, Rights(reclaim=True, move=True)),
    ],
)
def test_each_rule_has_its_min_runtime_and_moves_have_both(seconds, expected):
    guest = replace(GUEST, reclaim_min_runtime=10, preempt_min_runtime=20)
    found = gather(aged(loan(), seconds), claim(), queues=(guest, OWNER))

    assert ([rights(found)] if found.accounts else [Rights()]) == [expected]


@pytest.mark.parametrize(("seconds", "is_victim"), [(29, False), (30, True)])
@pytest.mark.parametrize(("above", "below"), [(30, 10), (10, 30)])
def test_the_longest_min_runtime_of_the_path_holds(seconds, is_victim, above, below):
    firm = queue("firm", quota=0, weight=0, reclaim_min_runtime=above)
    guest = queue("guest", "firm", quota=0, weight=0, reclaim_min_runtime=below)
    found = gather(
        aged(loan(), seconds), claim(), queues=(firm, guest, OWNER), consolidate=False
    )

    assert bool(found.accounts) == is_victim


def test_one_young_pod_protects_a_gang_that_goes_whole():
    guest = replace(GUEST, reclaim_min_runtime=10)
    pair = loan("pair", "n0", "n1")

    assert gather(aged(pair, 10, 10), claim(), queues=(guest, OWNER)).accounts
    assert gather(aged(pair, 10, 9), claim(), queues=(guest, OWNER)).accounts == []


def test_of_an_elastic_gang_the_old_pods_are_an_account_of_their_own():
    guest = replace(GUEST, reclaim_min_runtime=10)
    elastic = aged(loan("e", "n0", "n0", "n0", minimum=1), 5, 10, 20)
    found = gather(elastic, claim(), queues=(guest, OWNER), consolidate=False)
    (wide,) = found.wide

    assert not wide.rights
    assert sorted(
        (account.rights.reclaim, wide.counts[at])
        for at, account in enumerate(found.accounts)
    ) == [(False, 1), (True, 2)]


def test_who_left_in_an_earlier_step_does_not_leave_again():
    problem = stage(loan(), claim())
    pod = problem.gangs["default/loan"].tree.pods[0]
    one = Exit(
        gang="default/loan",
        leaf=0,
        pod=pod,
        host=0,
        gpus=1,
        work=0,
        size=1,
        rule="reclaim",
        whole=True,
    )

    assert victims_of(replace(problem, frozen=Frozen(exits=(one,)))).accounts == []


def test_nothing_moves_when_earlier_steps_moved_as_much_as_they_may():
    problem = stage(loan(), loan("gone"), claim(), maxMoves=1)
    pod = problem.gangs["default/gone"].tree.pods[0]
    one = Exit(
        gang="default/gone",
        leaf=0,
        pod=pod,
        host=0,
        gpus=1,
        work=0,
        size=1,
        rule="consolidate",
        whole=True,
        target=1,
    )
    found = victims_of(replace(problem, frozen=Frozen(exits=(one,))))

    assert rights(found) == Rights(reclaim=True)


def test_budgets_are_told_by_their_place_in_the_list():
    budgets = tuple(
        DisruptionBudget(name=name, gangs=gangs, allowed=1)
        for name, gangs in (("a", ("default/x",)), ("b", ("default/loan",)))
    )
    (account,) = gather(loan(), claim(), budgets=budgets).accounts

    assert account.budgets == (1,)


# --- what is one thing --------------------------------------------------------------


def test_gangs_of_one_sort_on_one_node_form_an_account():
    made = [aged(loan(f"g{i}"), 10 * i) for i in range(3)]
    found = gather(*made, claim())

    assert len(found.accounts) == 1
    assert [victim.work for victim in found.on_node[0][0]] == [0, 10, 20]


@pytest.mark.parametrize(
    "fields",
    [{"gpus": 2}, {"priority": 5}, {"topology": required()}, {"exclusive": True}],
)
def test_what_differs_in_more_than_its_work_has_its_own_account(fields):
    assert len(gather(loan("a"), loan("b", **fields), claim()).accounts) == 2


def test_a_gang_whole_on_one_node_is_one_thing():
    found = gather(loan("pair", "n0", "n0", gpus=2), claim())
    (account,) = found.accounts

    assert (account.pods, account.requests[GPU], found.wide) == (2, 4, [])


def test_a_gang_on_two_nodes_goes_whole_with_a_part_on_each():
    found = gather(loan("pair", "n0", "n1"), claim())
    (wide,) = found.wide

    assert wide.state is None
    assert {node: len(here) for node, here in found.on_node.items()} == {0: 1, 1: 1}


def test_surplus_makes_a_gang_lose_pods_one_by_one():
    found = gather(loan("e", "n0", "n0", minimum=1), claim())
    (wide,) = found.wide

    assert wide.state is not None
    assert len(found.on_node[0][0]) == 2


def test_a_gang_below_its_minimum_goes_whole_and_does_not_move():
    (wide,) = gather(loan("torn", "n0", "n0", minimum=3), claim()).wide

    assert (wide.state, wide.rights) == (None, Rights(reclaim=True))


def test_ordinary_pods_are_surplus():
    served = loan(
        "served",
        "n0",
        "n0",
        match_policy=MatchPolicy.ONCE_SATISFIED,
        once_satisfied=True,
        created=2,
    )
    (wide,) = gather(served, claim()).wide

    assert wide.state is not None


def test_each_leaf_of_a_tree_has_its_account():
    tree = gang(
        "tree",
        group("x", leaf("a", 1, running=["n0"]), leaf("b", 1, gpus=2, running=["n1"])),
        queue="guest",
    )
    found = gather(tree, claim())

    assert [(a.leaf, a.requests[GPU]) for a in found.accounts] == [(0, 1), (1, 2)]


def test_pods_on_nodes_that_are_gone_belong_to_their_gang_and_to_no_node():
    found = gather(loan("half", "n0", "gone"), claim())
    (wide,) = found.wide

    assert (len(wide.pods), wide.hosts) == (2, (0, -1))
    assert sorted(found.on_node) == [0]


def test_a_gang_on_nodes_that_are_gone_makes_no_room():
    assert gather(loan("ghost", "gone", "gone"), claim()).accounts == []


def test_terminating_pods_are_no_victims():
    found = gather(loan("e", "n0", minimum=1, terminating=["n0"]), claim())

    assert sum(len(victim.pods) for victim in found.on_node[0][0]) == 1


# --- who moves ----------------------------------------------------------------------


def test_movers_stand_for_all_that_is_alike():
    found = gather(
        loan("a"),
        loan("b"),
        loan("pair", "n0", "n1"),
        loan("e", "n0", "n0", minimum=1),
        claim(),
    )
    movers = movers_of(found)

    assert sorted((m.number, m.single, m.wide >= 0) for m in movers) == [
        (1, False, True),
        (1, False, True),
        (2, False, False),
        (2, True, False),
    ]


@pytest.mark.parametrize("fields", [{"topology": required()}, {"exclusive": True}])
def test_no_spare_pod_moves_where_places_depend_on_each_other(fields):
    movers = movers_of(gather(loan("e", "n0", "n1", minimum=1, **fields), claim()))

    assert [mover.single for mover in movers] == [False]


# --- all at once --------------------------------------------------------------------


def test_all_who_may_leave_would_vacate_their_nodes():
    problem = stage(
        loan("pair", "n0", "n1", gpus=3), loan("rock", preemptible=False), claim()
    )
    room = vacated(problem, victims_of(problem))
    column = problem.room.resources.index(GPU)

    assert room[:, column].tolist() == [7, 8]

"""
The exact small model against brute force, which enumerates every plan, and by hand.
"""

from dataclasses import replace

import pytest

from exact import (
    best,
    best_first_step,
    best_later,
    best_round,
    best_round_that_starts,
    check_feasible,
    gather,
)
from models.neighbours import Near, Neighbours
from models.plan import Placement
from models.policy import Evict, Policy
from solver.problem.problem import problem_of
from tests.helpers.build import (
    bind,
    gang,
    group,
    leaf,
    line,
    node,
    nodes,
    plan,
    queue,
    required,
    snapshot,
)
from tests.helpers.rounds.cases import random_snapshot, tiny_snapshot
from tests.helpers.truth.brute import Brute


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(60))
def test_exact_model_equals_brute_force_on_tiny_cases(seed):
    case = tiny_snapshot(seed)
    policy = Policy()
    shares = problem_of(case, policy).shares

    assert Brute(case, policy, shares).best() == best(case, policy, shares)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_exact_model_equals_brute_force_on_many_tiny_cases(seed):
    case = tiny_snapshot(seed)
    policy = Policy()
    shares = problem_of(case, policy).shares

    assert Brute(case, policy, shares).best() == best(case, policy, shares)


def test_placement_that_overfills_a_node_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=2, gpus=5)])
    placement = Placement(binds={"default/a-0": "n0", "default/a-1": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_placement_below_a_minimum_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=2, gpus=2)])
    placement = Placement(binds={"default/a-0": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_placement_of_an_unknown_pod_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=1, gpus=2)])
    placement = Placement(binds={"default/b-0": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_same_seed_makes_the_same_case():
    assert random_snapshot(7) == random_snapshot(7)


def test_cases_show_every_kind_of_gang():
    facts = [f for s in range(60) for f in gather(random_snapshot(s)).gangs.values()]

    assert any(f.needy and f.plannable for f in facts)
    assert any(f.needy and any(f.counted.values()) for f in facts)
    assert any(not f.needy and any(f.pending.values()) for f in facts)
    assert any(f.mates for f in facts)
    assert any(f.ordinary for f in facts)


# --- evictions, by hand -----------------------------------------------------------


def ran(member, *seconds):
    """
    Say for how long the running pods of a gang of one leaf have run.
    """
    times = (*seconds, *(0 for _ in member.tree.pods))
    pods = tuple(
        replace(pod, seconds=time)
        for pod, time in zip(member.tree.pods, times, strict=False)
    )
    return replace(member, tree=replace(member.tree, pods=pods))


def first(case, policy=None):
    """
    Give entitled values and what is lost in the first step, up to the rank.
    """
    policy = policy or Policy()
    found = best_first_step(case, policy, problem_of(case, policy).shares)
    starts = sum(value for name, _, value in found if name == "entitled")
    return starts > 0, losses(found, "disruption")[:4]


def losses(found, name):
    return [value for tier, _, value in found if tier.startswith(name)]


def two_queues(*gangs, number=1, gpus=4, **fields):
    """
    Build nodes shared by a queue with all of the quota and one with none.
    """
    quota = number * gpus
    queues = (queue("high", quota=quota), queue("low", **fields))
    return snapshot(nodes=nodes(number, gpus), gangs=gangs, queues=queues)


def test_nothing_leaves_while_there_is_room():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = ran(gang("v", minimum=1, gpus=2, queue="low", running=["n0"]), 50)

    assert (True, [0, 0, 0, 0]) == first(two_queues(waits, runs))


def test_the_victim_that_ran_least_is_reclaimed():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    old = ran(gang("old", minimum=1, gpus=2, queue="low", running=["n0"]), 100)
    young = ran(gang("young", minimum=1, gpus=2, queue="low", running=["n0"]), 30)

    assert (True, [60, 1, 1, 0]) == first(two_queues(waits, old, young))


def test_min_runtime_protects_from_reclaim():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    old = ran(gang("old", minimum=1, gpus=2, queue="low", running=["n0"]), 100)
    young = ran(gang("young", minimum=1, gpus=2, queue="low", running=["n0"]), 30)
    case = two_queues(waits, old, young, reclaim_min_runtime=60)

    assert (True, [200, 1, 1, 0]) == first(case)


def test_surplus_pods_go_one_by_one_and_no_gang_is_lost():
    waits = gang("w", minimum=1, gpus=1, queue="high")
    runs = gang("v", minimum=1, replicas=4, gpus=1, queue="low", running=["n0"] * 4)

    assert (True, [20, 0, 1, 0]) == first(two_queues(waits, ran(runs, 50, 40, 30, 20)))


def test_a_gang_without_surplus_goes_whole():
    waits = gang("w", minimum=1, gpus=1, queue="high")
    runs = gang("v", minimum=4, gpus=1, queue="low", running=["n0"] * 4)

    assert (True, [140, 1, 4, 0]) == first(two_queues(waits, ran(runs, 50, 40, 30, 20)))


def test_of_a_tree_that_needs_one_child_the_other_child_goes_whole():
    waits = gang("w", minimum=1, gpus=1, queue="high")
    children = [leaf(x, minimum=2, gpus=1, running=["n0"] * 2) for x in "ab"]
    runs = gang("v", group("all", *children, min_groups=1), queue="low")

    assert (True, [0, 0, 2, 0]) == first(two_queues(waits, runs))


def test_what_is_not_preemptible_stays():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = gang("v", minimum=1, gpus=4, queue="low", running=["n0"], preemptible=False)

    assert (False, [0, 0, 0, 0]) == first(two_queues(waits, runs))


@pytest.mark.parametrize(("held", "may"), [(False, True), (True, False)])
def test_who_leaves_is_kept_for_a_mate_only_where_both_hold_the_list(held, may):
    names = ("default/v", "default/w")
    mates = names if held else ()
    waits = gang("w", minimum=1, gpus=2, queue="high", mates=mates)
    runs = gang("v", minimum=1, gpus=4, queue="low", running=["n0"], mates=names)
    starts, _ = first(two_queues(waits, runs))

    assert starts is may


def test_the_last_unit_may_take_a_queue_below_its_share():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = ran(gang("v", minimum=1, gpus=4, queue="low", running=["n0"]), 10)
    queues = (queue("high", quota=2), queue("low", quota=2))
    case = snapshot(nodes=nodes(1, 4), gangs=(waits, runs), queues=queues)

    assert (True, [40, 1, 1, 0]) == first(case)


def test_a_queue_within_its_share_loses_nothing_to_others():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = ran(gang("v", minimum=1, gpus=4, queue="low", running=["n0"]), 10)
    queues = (queue("high", quota=2), queue("low", quota=4))
    case = snapshot(nodes=nodes(1, 4), gangs=(waits, runs), queues=queues)

    assert (False, [0, 0, 0, 0]) == first(case)


def test_a_queue_that_is_missing_loses_nothing_to_others():
    waits = gang("w", minimum=1, gpus=4, queue="high")
    runs = ran(gang("v", minimum=1, gpus=4, queue="gone", running=["n0"]), 10)
    case = snapshot(nodes(1, 4), (waits, runs), queues=(queue("high", quota=4),))

    assert (False, [0, 0, 0, 0]) == first(case)


@pytest.mark.parametrize(("priority", "lost"), [(0, [0, 0, 0, 0]), (1, [40, 1, 1, 0])])
def test_entitled_starts_preempt_lower_bands_of_their_queue(priority, lost):
    waits = gang("w", minimum=1, gpus=4, queue="high", priority=priority)
    runs = ran(gang("v", minimum=1, gpus=4, queue="high", running=["n0"]), 10)
    queues = (queue("high", quota=8),)
    case = snapshot(nodes=nodes(1, 4), gangs=(waits, runs), queues=queues)

    assert (priority == 1, lost) == first(case)


@pytest.mark.parametrize(("priority", "lost"), [(0, [0, 0, 0, 0]), (1, [40, 1, 1, 0])])
def test_other_starts_preempt_lower_bands_in_the_second_step(priority, lost):
    waits = gang("w", minimum=1, gpus=4, queue="high", priority=priority)
    runs = ran(gang("v", minimum=1, gpus=4, queue="high", running=["n0"]), 10)
    case, policy = two_queues(waits, runs), Policy()
    shares = problem_of(case, policy).shares
    later = best_later(case, policy, shares, plan())

    assert (False, [0, 0, 0, 0]) == first(case)
    assert lost == losses(later, "preemption")[:4]


def test_a_round_that_starts_a_gang_is_as_good_as_the_best_or_worse():
    first = gang("first", minimum=1, gpus=4, queue="high", age=100)
    other = gang("other", minimum=1, gpus=4, queue="high", age=10)
    large = gang("large", minimum=2, gpus=4, queue="high")
    victim = ran(gang("v", minimum=1, gpus=4, queue="low", running=["n0"]), 10)
    case = two_queues(first, other, large, victim)
    asked = case, Policy(), problem_of(case, Policy()).shares
    some = best_round(*asked)

    assert some == best_round_that_starts("default/first", *asked)
    assert some > (best_round_that_starts("default/other", *asked) or some)
    assert best_round_that_starts("default/large", *asked) is None


def test_of_equal_losses_the_youngest_goes_and_then_the_smallest():
    waits = gang("w", minimum=1, gpus=1, queue="high")
    old = ran(gang("old", minimum=1, gpus=1, queue="low", running=["n0"]), 40)
    young = ran(gang("young", minimum=1, gpus=2, queue="low", running=["n0"]), 20)
    third = ran(gang("third", minimum=1, gpus=1, queue="low", running=["n0"]), 41)
    case = two_queues(waits, old, young, third)
    shares = problem_of(case, Policy()).shares
    found = best_first_step(case, Policy(), shares)

    assert [40, 1, 1, 0, 20, 5 * 10**8] == losses(found, "disruption")


def test_a_move_joins_two_holes():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    one = ran(gang("one", minimum=1, gpus=1, queue="high", running=["n0"]), 20)
    two = ran(gang("two", minimum=1, gpus=1, queue="high", running=["n1"]), 10)
    case = two_queues(waits, one, two, number=2, gpus=2)

    assert (True, [10, 0, 1, 0]) == first(case)


@pytest.mark.parametrize(("limit", "may"), [(2, True), (1, False)])
def test_nobody_moves_in_a_queue_that_holds_more_than_its_limit(limit, may):
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = ["n0", "n1"]
    both = gang("v", minimum=1, replicas=2, gpus=1, queue="low", running=runs)
    case = two_queues(waits, both, number=2, gpus=2, limit=limit)
    starts, _ = first(case, Policy(evict=Evict(reclaim=False)))

    assert starts is may


def test_a_gang_that_must_be_in_one_rack_moves_whole():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = gang(
        "v",
        minimum=2,
        gpus=1,
        queue="high",
        running=["n0", "n1"],
        topology=required("kubernetes.io/hostname"),
    )
    case = two_queues(waits, ran(runs, 20, 10), number=2, gpus=2)
    hosts = replace(case.topologies[0], levels=("kubernetes.io/hostname",))

    assert (True, [30, 0, 2, 0]) == first(replace(case, topologies=(hosts,)))


def test_without_a_tier_for_what_is_lost_nothing_leaves():
    waits = gang("w", minimum=1, gpus=2, queue="high")
    runs = ran(gang("v", minimum=1, gpus=4, queue="low", running=["n0"]), 10)
    policy = Policy(tiers=({"name": "entitled"}, {"name": "gpus"}))

    assert (False, []) == first(two_queues(waits, runs), policy)


def test_what_is_held_is_not_given_to_others_and_what_leaves_runs_no_more():
    waits = gang("w", minimum=1, gpus=4, queue="high")
    small = gang("s", minimum=1, gpus=1, queue="low")
    runs = ran(gang("v", minimum=1, gpus=3, queue="low", running=["n0"]), 10)
    case = two_queues(waits, small, runs)
    names = ("entitled", "disruption", "borrowing", "gpus", "gangs")
    policy = Policy(tiers=tuple({"name": name} for name in names))
    frozen = plan(
        bind("v-0", op="Evict", rule="reclaim", beneficiaries=("default/w",)),
        bind("w-0", op="Reserve"),
        lines=[line("w", "Reserved", entitled=True)],
    )
    found = best_later(case, policy, problem_of(case, policy).shares, frozen)
    idle = best_later(case, policy, problem_of(case, policy).shares, plan())

    lost = [("preemption", None, 0), ("preemption-gangs", None, 0)]
    lost += [
        (f"preemption-{kind}", None, 0) for kind in ("pods", "rank", "age", "size")
    ]
    starts = [("entitled", 0, 16 * 10**9), ("borrowing", 0, 0)]
    ends = [("gpus", None, 0), ("gangs", None, 0), ("order", None, 1)]
    assert [*lost, *starts, *ends] == found
    assert [4, 2, 2] == [n for name, _, n in idle if name in {"gpus", "gangs", "order"}]


def test_pods_of_a_stale_gang_that_leaves_are_nobodys_neighbours():
    gone = gang("gone", gpus=0, running=["n0"], neighbours=Neighbours(selected=("y",)))
    near = Neighbours(near=Near(pods="y", keys=("rack",)))
    waits = gang("w", gpus=1, neighbours=near)
    case = snapshot([node("n0", labels={"rack": "r"}, gpus=1)], [gone, waits])
    shares = problem_of(case, Policy()).shares

    def starts(stale):
        found = best_first_step(case, Policy(), shares, stale)
        return any(value for name, _, value in found if name == "entitled")

    assert starts(())
    assert not starts({"default/gone"})

"""
Repacking: when a round is a packing, that every rule is kept, and how much is found.
"""

import numpy as np
import pytest

from benchmarks.priority_matters import make_instance, snapshot_of
from exact import best, check_feasible
from models.neighbours import Apart, Neighbours
from models.policy import Policy, Tier
from models.resources import CPU, GPU, MEMORY, PODS
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.plan.placement import placement_of
from solver.problem.node_room import Places
from solver.problem.problem import problem_of
from solver.repack.pods_and_nodes import is_packing
from solver.repack.repack import repacked
from solver.score.tiers import is_better, score, tier_keys
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    queue,
    required,
    selector,
    snapshot,
)
from tests.helpers.rounds.parts import fraction, part_gang, sharing

APART = Neighbours(selected=("web",), apart=(Apart("web", "zone"),))
PODS_ONLY = Policy(tiers=(Tier(name="pods"),))


def policy(*names, **fields):
    return Policy(tiers=tuple(Tier(name=name) for name in names), **fields)


def after(moves):
    """
    Stop after so many moves.
    """
    left = iter(range(moves))
    return lambda: next(left, None) is None


def improved(problem, rounds=400, seed=1, first=None):
    first = greedy(problem) if first is None else first
    return repacked(problem, first, stop=after(rounds), seed=seed)


def random_case(seed, *, pods=24, running=4):
    """
    Make unlike nodes in two pools, single pods for one pool or both, and some that run.
    """
    rnd = np.random.default_rng(seed)
    pools = [str(pool) for pool in rnd.integers(0, 2, size=5)]
    hosts = [
        node(
            f"n{i}",
            int(rnd.integers(0, 5)),
            labels={"pool": pool},
            allocatable={CPU: int(rnd.integers(20, 60)) * 100, MEMORY: 2**33, PODS: 9},
        )
        for i, pool in enumerate(pools)
    ]
    gangs = []
    for i in range(pods + running):
        where = selector(pool=pools[int(rnd.integers(0, 5))])
        asks = {
            CPU: int(rnd.integers(1, 20)) * 100,
            MEMORY: int(rnd.integers(1, 20)) * 2**27,
            PODS: 1,
            GPU: int(rnd.integers(0, 2)),
        }
        more = {"demand": where} if rnd.random() < 0.5 else {}
        if i >= pods:
            more = {"running": (f"n{i % 5}",)}
        gangs.append(gang(f"g{i:02d}", requests=asks, **more))
    return snapshot(nodes=hosts, gangs=gangs)


# --- when it applies --------------------------------------------------------------


@pytest.mark.parametrize("names", [("pods",), ("gangs", "pods"), ("gpus",), ()])
def test_applies_to_single_pods_whatever_sum_comes_first(names):
    case = snapshot(nodes(2), [gang("a"), gang("b", gpus=8)])
    rules = policy(*names) if names else Policy()

    assert is_packing(problem_of(case, rules))


@pytest.mark.parametrize(
    "other",
    [
        gang("b", minimum=2),
        gang("b", minimum=1, replicas=2),
        gang("b", group("x", leaf("y"))),
        gang("b", topology=required()),
        gang("b", exclusive=True),
        gang("b", minimum=1, replicas=2, running=("n0",)),
        gang("b", mates=("a", "b")),
    ],
    ids=["two", "elastic", "tree", "topology", "exclusive", "surplus", "mates"],
)
def test_does_not_apply_where_something_else_is_to_be_decided(other):
    hosts = [node("n0", zone="z", rack="r")]
    mates = ("a", "b") if other.mates else ()
    case = snapshot(hosts, [gang("a", mates=mates), other])

    assert not is_packing(problem_of(case, PODS_ONLY))


@pytest.mark.parametrize("names", [("packing",), ("order",), ("borrowing", "pods")])
def test_does_not_apply_where_the_first_tier_is_no_sum_over_pods(names):
    case = snapshot(nodes(1), [gang("a")])

    assert not is_packing(problem_of(case, policy(*names)))


def test_does_not_apply_to_entitled_starts_in_two_bands():
    case = snapshot(nodes(1), [gang("a"), gang("b", priority=9)])

    assert not is_packing(problem_of(case, Policy()))


def test_does_not_apply_to_nothing():
    assert not is_packing(problem_of(snapshot(nodes(1)), PODS_ONLY))


def test_does_not_apply_where_a_queue_has_a_rule():
    case = snapshot(nodes(1), [gang("a", queue="q")], [queue("q", limit=2)])

    assert not is_packing(problem_of(case, PODS_ONLY))


def test_does_not_apply_to_parts_of_gpus():
    case = snapshot([sharing()], [gang("a"), part_gang("b", fraction(500))])

    assert not is_packing(problem_of(case, PODS_ONLY))


def test_does_not_apply_to_pods_with_neighbours():
    gangs = [gang("a"), gang("b", neighbours=APART)]

    assert not is_packing(problem_of(snapshot(nodes(2), gangs), PODS_ONLY))


# --- what it finds ----------------------------------------------------------------


def test_a_pod_is_inserted_by_moving_others():
    gangs = [gang(f"g{i}", gpus=gpus) for i, gpus in enumerate((3, 3, 2, 4, 4))]
    problem = problem_of(snapshot(nodes(2), gangs), PODS_ONLY)
    first = Draft(
        {
            "default/g0": Places(((0,),)),
            "default/g1": Places(((0,),)),
            "default/g3": Places(((1,),)),
        }
    )

    assert len(improved(problem, first=first).places) == 5


def test_a_large_pod_is_left_out_for_two_small_ones():
    gangs = [gang("a", gpus=8, age=9), gang("b", gpus=4), gang("c", gpus=4)]
    problem = problem_of(snapshot(nodes(1), gangs), PODS_ONLY)

    assert set(improved(problem).places) == {"default/b", "default/c"}


def test_the_tier_of_gpus_keeps_the_large_pod():
    gangs = [gang("a", gpus=7, age=9), gang("b", gpus=3), gang("c", gpus=3)]
    problem = problem_of(snapshot(nodes(1), gangs), policy("gpus"))

    assert set(improved(problem).places) == {"default/a"}


def test_pods_that_ask_for_nothing_are_all_placed():
    gangs = [gang(name, requests={}) for name in "abc"]
    problem = problem_of(snapshot(nodes(2), gangs), PODS_ONLY)

    assert len(improved(problem, first=Draft()).places) == 3


def test_a_full_cluster_is_left_alone():
    case = snapshot(nodes(1), [gang("a", gpus=8), gang("r", gpus=8, running=("n0",))])
    problem = problem_of(case, PODS_ONLY)

    assert improved(problem) == greedy(problem)


@pytest.mark.drawn
@pytest.mark.parametrize("rules", [PODS_ONLY, policy("gpus", "pods"), Policy()])
@pytest.mark.parametrize("seed", range(12))
def test_every_rule_is_kept_and_nothing_gets_worse(seed, rules):
    case = random_case(seed)
    problem = problem_of(case, rules)
    first = greedy(problem)
    found = improved(problem)
    keys = tier_keys(problem)

    assert is_packing(problem)
    assert check_feasible(case, rules, problem.shares, placement_of(problem, found))
    assert not is_better(keys, score(problem, first), score(problem, found))


@pytest.mark.parametrize("seed", range(8))
def test_small_cases_reach_the_optimum(seed):
    case = random_case(seed, pods=12)
    problem = problem_of(case, PODS_ONLY)
    exact = {name: value for name, _, value in best(case, PODS_ONLY, problem.shares)}

    assert score(problem, improved(problem))[0] == exact["pods"]


@pytest.mark.parametrize(("num_nodes", "expected"), [(32, 252), (64, 505)])
def test_nearly_all_pods_of_a_published_instance_are_placed(num_nodes, expected):
    problem = problem_of(snapshot_of(make_instance(7, num_nodes, 8)), PODS_ONLY)

    assert len(improved(problem, rounds=250).places) >= expected


# --- how it is bounded ------------------------------------------------------------


def test_same_seed_and_rounds_give_the_same_draft():
    problem = problem_of(random_case(3), PODS_ONLY)

    assert improved(problem) == improved(problem)


def test_nothing_is_tried_when_there_is_no_time():
    problem = problem_of(random_case(3), PODS_ONLY)
    first = greedy(problem)

    assert repacked(problem, first, stop=lambda: True, seed=1) == first


def test_it_ends_where_arithmetic_says_that_no_more_fit():
    gangs = [gang(f"g{i}", gpus=4) for i in range(5)]
    problem = problem_of(snapshot(nodes(2), gangs), PODS_ONLY)

    assert len(improved(problem, rounds=10**9).places) == 4

"""
The bound on what emptying nodes of scattered gangs costs: true, and better than naive.
"""

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from models.gangs import PodSet
from models.policy import Limits, Policy
from solver.evict.open_step import open_step
from solver.place.draft import Draft
from solver.problem.problem import Step, problem_of
from solver.round import budget_of
from solver.search.spectral_bound import least_work
from tests.helpers.build import gang, leaf, nodes, queue, requests, snapshot

SIZE = 4
QUEUES = [queue("guest"), queue("owner", quota=1000)]


def ran(seconds, one):
    """
    Let all pods of a gang have run for some time.
    """

    def aged(tree):
        if isinstance(tree, PodSet):
            pods = tuple(replace(pod, seconds=seconds) for pod in tree.pods)
            return replace(tree, pods=pods)
        return replace(tree, children=tuple(aged(child) for child in tree.children))

    return replace(one, tree=aged(one.tree))


def scattered(rnd, hosts, wanted, *, spare=False):
    """
    Fill hosts with gangs of pods of one GPU each; a gang wants whole hosts.
    """
    places = [f"n{host}" for host in range(hosts) for _ in range(SIZE)]
    rnd.shuffle(places)
    running = []
    while places:
        mine = [places.pop() for _ in range(min(len(places), rnd.randint(1, 5)))]
        least = 1 if spare and rnd.random() < 0.3 else len(mine)
        running.append(
            ran(
                rnd.choice([60, 600, 3600]),
                gang(
                    f"v{len(running):02d}",
                    queue="guest",
                    minimum=least,
                    replicas=len(mine),
                    running=mine,
                ),
            )
        )
    claim = gang("w", queue="owner", minimum=wanted, gpus=SIZE)
    return snapshot(nodes(hosts, SIZE), [*running, claim], QUEUES)


def bound_of(given, budget=None):
    opened = open_step(problem_of(given, Policy()), Step.ENTITLED, Draft())
    return least_work(opened, budget or budget_of(Policy()))


def cheapest(given, wanted):
    """
    Try all sets of nodes: whoever goes whole goes, and else its pods there.
    """
    names = [node.name for node in given.nodes]
    return min(_cost(given, set(chosen)) for chosen in combinations(names, wanted))


def _cost(given, chosen):
    total = 0
    for one in given.gangs:
        pods = [pod for pod in one.tree.pods if pod.node]
        gone = [pod for pod in pods if pod.node in chosen]
        if gone and len(pods) - len(gone) < one.tree.minimum:
            gone = pods
        total += sum(pod.seconds for pod in gone)
    return total


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_cheaper_than_the_bound(seed):
    rnd = Random(seed)
    wanted = rnd.randint(1, 4)
    given = scattered(rnd, rnd.randint(wanted, 8), wanted, spare=seed % 2 == 1)

    assert bound_of(given) <= cheapest(given, wanted)


def test_gangs_that_lie_apart_cost_more_than_their_pods():
    places = [[f"n{(at + step) % 12}" for step in (0, 1, 4, 6)] for at in range(12)]
    running = [
        ran(100, gang(f"v{at:02d}", queue="guest", minimum=4, running=mine))
        for at, mine in enumerate(places)
    ]
    claim = gang("w", queue="owner", minimum=3, gpus=SIZE)
    given = snapshot(nodes(12, SIZE), [*running, claim], QUEUES)
    pods_there = 3 * SIZE * 100

    assert 2 * pods_there <= bound_of(given) <= cheapest(given, 3)


def test_what_the_limit_cuts_short_is_a_weaker_bound_or_none():
    given = scattered(Random(0), 8, 3)
    whole, small, nothing = (
        budget_of(Policy(limits=Limits(deterministic=units)))
        for units in (4.0, 1e-9, 0.0)
    )
    bounds = [bound_of(given, budget) for budget in (whole, small, nothing)]

    assert bounds[0] >= bounds[1] > bounds[2] == 0
    assert [set(), {"losses"}, {"losses"}] == [b.cut for b in (whole, small, nothing)]
    assert 0 < whole.used < 1e-4


def test_gangs_of_two_roles_count_once_on_each_node():
    def roles(at, mine):
        half = leaf("a", 2, running=mine, gpus=1)
        other = leaf("b", 2, running=mine, requests=requests(1, cpu=1000))
        return ran(100, gang(f"v{at}", half, other, queue="guest"))

    running = [roles(at, [f"n{at}", f"n{(at + 1) % 6}"]) for at in range(6)]
    claim = gang("w", queue="owner", minimum=3, gpus=SIZE)
    given = snapshot(nodes(6, SIZE), [*running, claim], QUEUES)

    assert 0 < bound_of(given) <= 4 * 4 * 100


def test_it_says_nothing_where_no_gang_lies_on_two_nodes():
    running = [
        gang(f"v{at}", queue="guest", minimum=1, running=[f"n{at}"], gpus=SIZE)
        for at in range(3)
    ]
    claim = gang("w", queue="owner", minimum=2, gpus=SIZE)

    assert 0 == bound_of(snapshot(nodes(3, SIZE), [*running, claim], QUEUES))


def test_it_says_nothing_of_gangs_that_choose_their_pods():
    running = gang(
        "v", queue="guest", minimum=8, gpus=1, running=["n0"] * 4 + ["n1"] * 4
    )
    claim = gang("w", queue="owner", minimum=1, replicas=2, gpus=SIZE)
    given = snapshot(nodes(2, SIZE), [running, claim], QUEUES)

    assert bound_of(given) <= cheapest(given, 1)

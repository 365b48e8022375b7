"""
Rounds one after another: what was evicted once is not evicted in turn.

Clusters are full and have more demand than room.  After a plan is carried out the
next rounds see the same demand, a minute later each, and must leave running pods
alone, moves included: otherwise work would be thrown away for ever.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from random import Random

import pytest

from models.gangs import pod_sets
from models.policy import Policy
from models.resources import num_gpus
from models.snapshot import Snapshot
from solver.next_snapshot import carry_out
from solver.round import decide
from solver.verify import verify
from tests.helpers.build import gang, leaf, node, queue, snapshot

CLUSTERS = 200
QUICK = 20
ROUNDS = 10
MINUTE = 60
POLICY = Policy()


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(QUICK))
def test_unchanged_demand_evicts_nothing_more(seed):
    assert_settled(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, CLUSTERS))
def test_unchanged_demand_evicts_nothing_more_in_many_clusters(seed):
    assert_settled(seed)


@pytest.mark.slow
def test_half_of_the_clusters_evict_in_their_first_round():
    evicting = sum(first_round_evicts(seed) for seed in range(CLUSTERS))

    assert evicting >= CLUSTERS // 2


@pytest.mark.parametrize("seed", range(QUICK))
def test_clusters_have_more_demand_than_room(seed):
    given = full_cluster(seed)
    room = sum(num_gpus(each.allocatable) for each in given.nodes)
    asked = sum(
        num_gpus(each.requests) * len(each.pods)
        for one in given.gangs
        for each in pod_sets(one.tree)
    )

    assert asked > 1.2 * room


def assert_settled(seed):
    rounds = played(seed)
    first = next((at for at, one in enumerate(rounds) if one.leaving), ROUNDS)

    assert [] == [text for one in rounds for text in one.violations]
    assert [] == [
        (number, *step)
        for number, one in enumerate(rounds[first + 1 :], first + 2)
        for step in one.leaving
    ]


@dataclass(frozen=True)
class Round:
    """
    What a round makes leave, and which rules its plan breaks.
    """

    leaving: tuple[tuple[str, str, tuple[str, ...]], ...]
    violations: tuple[str, ...]


@cache
def first_round_evicts(seed: int) -> bool:
    steps = decide(full_cluster(seed), POLICY).operations
    return any(step.op == "Evict" for step in steps)


@cache
def played(seed: int) -> tuple[Round, ...]:
    """
    Play the rounds of one cluster.
    """
    given = full_cluster(seed)
    found = []
    for _ in range(ROUNDS):
        plan = decide(given, POLICY)
        leaving = tuple(
            (step.op, step.pod, step.beneficiaries)
            for step in plan.operations
            if step.op in {"Evict", "Move"}
        )
        broken = tuple(map(str, verify(given, POLICY, plan)))
        found.append(Round(leaving, broken))
        given = carry_out(given, plan, MINUTE)
    return tuple(found)


# --- clusters --------------------------------------------------------------------


def full_cluster(seed: int) -> Snapshot:
    """
    Make a cluster of two departments whose teams run on nearly all of it and want more.
    """
    rnd = Random(f"rounds-{seed}")
    racks = rnd.randint(1, 3)
    size = rnd.choice([4, 8, 8])
    given = [
        node(f"n{i}", size, zone="z", rack=f"r{i % racks}")
        for i in range(rnd.randint(3, 7))
    ]
    room = size * len(given)
    teams = [f"d{i % 2}-t{i // 2}" for i in range(rnd.randint(4, 6))]
    queues = [*_departments(rnd, room), *_teams(rnd, teams, room)]
    running = _running(rnd, [each.name for each in given], size, teams)
    waiting = _waiting(rnd, teams, size, 1.2 * room - _asked(running))
    return snapshot(given, [*running, *waiting], queues)


def _departments(rnd, room):
    part = rnd.choice([0.3, 0.5, 0.5, 0.6])
    return [
        queue(name, quota=int(room * share), weight=rnd.randint(1, 3))
        for name, share in (("d0", part), ("d1", 1 - part))
    ]


def _teams(rnd, teams, room):
    """
    Give most teams a quota, some more than their department has, and some none.
    """
    return [
        queue(
            team,
            team[:2],
            quota=rnd.choice([0, 1, 2, 3, 4]) * room // (2 * len(teams)),
            weight=rnd.choice([0, 1, 1, 2]),
            limit=room // 2 if rnd.random() < 0.1 else None,
        )
        for team in teams
    ]


def _running(rnd, names, size, teams):
    """
    Fill most of the nodes, with a few teams running more than the others.
    """
    free = Counter(dict.fromkeys(names, size))
    weights = [rnd.choice([0, 1, 1, 4, 8]) for _ in teams]
    if not any(weights):
        weights[0] = 1
    gangs = []
    while free.total() > rnd.uniform(0, 0.12) * size * len(names):
        gpus = rnd.choice(
            [one for one in (1, 1, 2, 2, 4, 8) if one <= max(free.values())]
        )
        fitting = [name for name in names if free[name] >= gpus]
        places = []
        for name in rnd.sample(fitting, min(len(fitting), rnd.choice([1, 1, 1, 2, 3]))):
            pods = rnd.randint(1, max(1, free[name] // gpus // rnd.choice([1, 2])))
            free[name] -= pods * gpus
            places += [name] * pods
        gangs.append(
            gang(
                f"run-{len(gangs):02d}",
                queue=rnd.choices(teams, weights)[0],
                priority=rnd.choice([0, 0, 50, 100]),
                preemptible=rnd.random() < 0.9,
                age=rnd.randint(0, 500) * MINUTE,
                minimum=_least(rnd, len(places)),
                replicas=len(places),
                gpus=gpus,
                running=places,
            )
        )
    return [_aged(rnd, one) for one in gangs]


def _aged(rnd, one):
    """
    Let all pods of a running gang have run for the same time.
    """
    ran = rnd.randint(1, 300) * MINUTE
    pods = tuple(replace(pod, seconds=ran) for pod in one.tree.pods)
    return replace(one, tree=replace(one.tree, pods=pods))


def _waiting(rnd, teams, size, missing):
    """
    Make waiting gangs until more is asked for than there is.
    """
    gangs = []
    while missing >= 0 or len(gangs) < 4:
        gpus, pods = rnd.choice(
            [(1, 1), (1, 4), (2, 2), (2, 6), (4, 1), (4, 3), (size, 2)]
        )
        gpus = min(gpus, size)
        missing -= gpus * pods
        gangs.append(_waiting_gang(rnd, f"wait-{len(gangs):02d}", teams, gpus, pods))
    return gangs


def _waiting_gang(rnd, name, teams, gpus, pods):
    fields = {
        "queue": rnd.choice(teams),
        "priority": rnd.choice([0, 50, 50, 100]),
        "age": rnd.randint(0, 90) * MINUTE,
    }
    if pods > 3 and rnd.random() < 0.5:
        half = pods // 2
        return gang(
            name,
            leaf("x", half, gpus=gpus),
            leaf("y", _least(rnd, half), half, gpus=gpus),
            min_groups=rnd.randint(1, 2),
            **fields,
        )
    minimum = _least(rnd, pods)
    return gang(name, minimum=minimum, replicas=pods, gpus=gpus, **fields)


def _least(rnd, pods):
    return pods if rnd.random() < 0.6 else rnd.randint(1, pods)


def _asked(gangs):
    return sum(
        num_gpus(each.requests) * len(each.pods)
        for one in gangs
        for each in pod_sets(one.tree)
    )

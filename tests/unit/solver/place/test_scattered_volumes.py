"""
Many free volumes, each reached by nodes here and there: what greedy does in a moment.
"""

import time
from dataclasses import replace
from random import Random

import pytest

from adapters.machine.garbage import no_collection
from models.neighbours import Neighbours, ReachedVolumes
from models.policy import Limits, Policy
from solver.round import decide
from tests.helpers.build import gang, node, snapshot


def claiming(name, pods, gpus, kind, number):
    plain = gang(name, minimum=pods, gpus=gpus)
    said = Neighbours(claims=((kind, number),))
    return replace(plain, tree=replace(plain.tree, neighbours=said))


def scattered(hosts, volumes, reach):
    chance = Random("scattered")
    reached = [[] for _ in range(hosts)]
    for at in range(volumes):
        one = ReachedVolumes(f"v{at}", ("large", "small")[at % 2 :])
        for host in chance.sample(range(hosts), reach):
            reached[host].append(one)
    machines = [
        replace(node(f"n{at}"), volumes=tuple(sorted(row)))
        for at, row in enumerate(reached)
    ]
    sizes = [(chance.choice((2, 8, 16)), chance.choice((2, 4, 8))) for _ in range(100)]
    asked = [(chance.choice(("large", "small")), 1 + at % 4 // 3) for at in range(100)]
    waits = [
        claiming(f"g{at:02}", *size, *claims)
        for at, (size, claims) in enumerate(zip(sizes, asked, strict=True))
    ]
    return snapshot(machines, waits)


def plain(given):
    """
    Let nobody claim anything, and no node reach anything.
    """
    nodes = [replace(each, volumes=()) for each in given.nodes]
    gangs = [
        replace(each, tree=replace(each.tree, neighbours=Neighbours()))
        for each in given.gangs
    ]
    return replace(given, nodes=tuple(nodes), gangs=tuple(gangs))


@pytest.mark.drawn
@pytest.mark.parametrize(("volumes", "reach"), [(2000, 4), (600, 6), (1000, 40)])
def test_greedy_gives_volumes_that_scattered_nodes_reach_in_a_moment(volumes, reach):
    given = scattered(1000, volumes, reach)
    without, _ = spent(plain(given))
    seconds, plan = spent(given)

    assert plan.operations
    assert seconds < 80 * without


def crowded(given, gangs):
    """
    Let gangs of four run on nodes of their own, some with claims; who waits may evict.
    """
    hosts = [node.name for node in given.nodes]
    Random("crowded").shuffle(hosts)
    runs = [
        gang(f"r{at:03}", minimum=4, gpus=6, running=hosts[4 * at : 4 * at + 4])
        for at in range(gangs)
    ]
    said = Neighbours(claims=(("large", 1),))
    runs[::3] = [
        replace(each, tree=replace(each.tree, neighbours=said)) for each in runs[::3]
    ]
    waits = [replace(each, priority=1 + at % 3) for at, each in enumerate(given.gangs)]
    return replace(given, gangs=(*waits, *runs))


def spent(given, seconds=None):
    """
    Give the processor time of a round, the less of two: others share the caches.
    """
    return min(timed(given, seconds), timed(given, seconds), key=lambda both: both[0])


def timed(given, seconds):
    with no_collection():
        began = time.process_time()
        plan = decide(
            given,
            Policy(limits=Limits(seconds=seconds)),
            strategy="greedy",
            clock=time.process_time,
            explained=seconds is not None,
        )
        return time.process_time() - began, plan


@pytest.mark.drawn
def test_where_others_leave_for_claims_the_round_ends_with_its_limit():
    """
    By what the machine takes for what is done whatever the limit is; without a limit
    it takes about seven times that.
    """
    given = crowded(scattered(1000, 1000, 40), 250)
    whatever, _ = spent(given, 0.0)
    seconds, plan = spent(given, 1.0)

    assert plan.operations
    assert seconds < 1.0 + 3 * whatever

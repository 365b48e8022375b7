"""
What a round binds, the next one does not evict for a gang that waited already.
"""

from random import Random

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from solver.round import decide
from tests.helpers.rounds.pieces import GPU, pieces_case
from tests.odd.checks import undone
from tests.odd.rounds import odd_round

FEW = range(60)
MANY = range(100, 500)
STRATEGIES = ["solver", "greedy"]


def lines_case(seed):
    """
    Make a small cluster in which bands of one queue wait for the same nodes.
    """
    random = Random(seed)
    nodes = [
        {"name": f"n{i}", "allocatable": {GPU: random.choice([4, 8])}}
        for i in range(random.randint(2, 4))
    ]
    free = {each["name"]: each["allocatable"][GPU] for each in nodes}
    queues = [
        {"name": f"q{i}", "resources": {GPU: {"quota": random.choice([0, 1, 4, 10])}}}
        for i in range(2)
    ]
    gangs = []
    for i in range(random.randint(0, 2)):
        name = max(free, key=free.get)
        if free[name] >= 4:
            free[name] -= 4
            place = {"node": name, "pods": 1, "for": "1h"}
            queue = f"q{random.randrange(2)}"
            gangs.append(
                {"name": f"r{i}", "queue": queue, "min": 1, "requests": {GPU: 4}}
                | {"running": [place], "priority": random.choice([0, 10])}
            )
    gangs += [
        {
            "name": f"w{i}",
            "queue": f"q{random.choice([0, 1, 1])}",
            "min": random.choice([1, 2, 3]),
            "priority": random.choice([0, 10, 20, 30]),
            "requests": {GPU: random.choice([1, 2, 4, 8])},
        }
        for i in range(random.randint(2, 4))
    ]
    given = {"nodes": nodes, "queues": queues, "gangs": gangs}
    head = {"apiVersion": "phalanx/v1", "kind": "Scenario", "rule": f"Case {seed}."}
    return {**head, "given": given}


def odd_case(seed):
    """
    Draw a round in an odd but legal state.
    """
    return odd_round(f"last-{seed}")


def leaving(document, strategy):
    """
    List what leaves in a second round, of what the first one bound, for who waited.
    """
    scenario = scenario_of("case", document)
    plan = decide(scenario.snapshot, scenario.policy, strategy=strategy)
    return undone(scenario, plan, strategy)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", FEW)
def test_what_is_bound_where_bands_wait_in_line_lasts(seed, strategy):
    assert [] == leaving(lines_case(seed), strategy)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", FEW)
def test_what_is_bound_in_pieces_of_room_lasts(seed, strategy):
    assert [] == leaving(pieces_case(seed), strategy)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", FEW)
def test_what_is_bound_in_odd_rounds_lasts(seed, strategy):
    assert [] == leaving(odd_case(seed), strategy)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("make", [lines_case, pieces_case, victim_case, odd_case])
@pytest.mark.parametrize("seed", MANY)
def test_what_is_bound_lasts_in_many_clusters(seed, make, strategy):
    assert [] == leaving(make(seed), strategy)

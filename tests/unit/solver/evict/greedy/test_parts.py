"""
Evictions by hand where GPUs are shared: who shares a device is a victim together.
"""

import pytest

from adapters.files import scenario_of
from benchmarks.cases.part_victims import part_victim_case
from models.policy import Limits
from solver.round import decide

GPU = "nvidia.com/gpu"


def _asks(gpus):
    return {"gpu": {"fraction": gpus}} if gpus < 1 else {"requests": {GPU: gpus}}


def _runs(name, gpus, node, device=None, seconds=1000, priority=0):
    here = {"node": node, "for": f"{seconds}s"}
    if device is not None:
        here["devices"] = [device]
    made = {"name": name, "queue": "q", "priority": priority, "min": 1}
    return made | _asks(gpus) | {"running": [here]}


def _waits(gpus, pods=1, priority=10):
    made = {"name": "w", "queue": "q", "priority": priority}
    return made | {"replicas": pods, "min": pods} | _asks(gpus)


def _case(nodes, *gangs):
    listed = [{"name": name, "allocatable": {GPU: n}} for name, n in nodes.items()]
    given = {"nodes": listed, "queues": [{"name": "q"}], "gangs": [*gangs]}
    head = {"apiVersion": "phalanx/v1", "kind": "Scenario", "rule": "Made up."}
    return head | {"given": given}


CASES = {
    "who shares the cheaper device leaves for a whole one": _case(
        {"n": 2},
        _runs("a", 0.5, "n", 0),
        _runs("b", 0.5, "n", 0),
        _runs("c", 0.5, "n", 1),
        _runs("d", 0.3, "n", 1),
        _waits(1),
    ),
    "the cheapest sharer leaves, though one beside it is dear": _case(
        {"n": 2},
        _runs("a", 0.5, "n", 0, 5000),
        _runs("b", 0.5, "n", 0, 5000),
        _runs("c", 0.25, "n", 1, 10),
        _runs("d", 0.7, "n", 1, 9000),
        _waits(0.3),
    ),
    "a device with little on it is cleared before a full one": _case(
        {"n": 3},
        _runs("a", 0.5, "n", 0),
        _runs("b", 0.5, "n", 0),
        _runs("c", 0.2, "n", 1),
        _runs("d", 1, "n"),
        _waits(2),
    ),
    "a sharer moves while the other one leaves": _case(
        {"n": 2},
        _runs("a", 0.1, "n", 0, priority=20),
        _runs("b", 0.5, "n", 0),
        _runs("c", 0.5, "n", 1, 9000),
        _runs("d", 0.4, "n", 1, 9000),
        _waits(1),
    ),
    "two devices of two nodes are cleared, and one sharer moves": _case(
        {"n": 2, "m": 2},
        _runs("a", 0.5, "n", 0),
        _runs("b", 0.5, "n", 1),
        _runs("c", 0.5, "m", 0),
        _runs("d", 0.5, "m", 1),
        _runs("e", 0.5, "m", 0),
        _waits(1, pods=2),
    ),
    "two sharers move for two whole devices": _case(
        {"n": 2, "m": 2},
        _runs("a", 0.3, "n", 0),
        _runs("b", 0.3, "n", 1),
        _runs("c", 0.3, "m", 0),
        _runs("d", 0.3, "m", 1),
        _waits(2, priority=0),
    ),
    "a part moves beside another one": _case(
        {"n": 1, "m": 1},
        _runs("a", 0.5, "n", 0),
        _runs("c", 0.5, "m", 0),
        _waits(1, priority=0),
    ),
}


def _tiers(made, strategy):
    scenario = scenario_of("made-up", made)
    few = scenario.policy.model_copy(update={"limits": Limits(deterministic=20)})
    plan = decide(scenario.snapshot, few, strategy=strategy)
    return [tier for tier in plan.tiers if tier.name != "order"]


def _values(tiers):
    return [(tier.name, tier.band, tier.value) for tier in tiers]


@pytest.mark.parametrize("rule", CASES)
def test_greedy_finds_what_the_solver_finds(rule):
    greedy, best = (_tiers(CASES[rule], one) for one in ("greedy", "solver"))

    assert _values(best) == _values(greedy)
    assert any(tier.name.startswith("disruption") and tier.value for tier in best)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_by_hand_is_better_than_the_proven_one(seed):
    made = part_victim_case(seed)
    greedy, best = (_tiers(made, one) for one in ("greedy", "solver"))

    for mine, other in zip(best, greedy, strict=True):
        assert (mine.name, mine.band) == (other.name, other.band)
        if mine.value != other.value:
            assert (mine.value < other.value) == (mine.direction == "min")
            break

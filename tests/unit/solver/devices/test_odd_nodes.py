import pytest

from adapters.files import scenario_of
from models.plan import Plan
from models.policy import Policy, Tier
from solver import decide

GPU = "nvidia.com/gpu"
TIERS = (*Policy().tiers, Tier(name="expected-fragments"))


def planned(
    strategy: str, *, nodes: list[dict], gangs: list[dict], **more: list[dict]
) -> Plan:
    head = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
    given = {"nodes": nodes, "gangs": gangs, **more}
    snapshot = scenario_of("odd", {**head, "given": given}).snapshot
    return decide(snapshot, Policy(tiers=TIERS), strategy=strategy)


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_a_node_that_says_it_has_a_million_gpus_shares_none(strategy):
    plan = planned(
        strategy,
        nodes=[
            {"name": "huge", "allocatable": {GPU: 1_000_000}},
            {"name": "plain", "allocatable": {GPU: 1}},
        ],
        gangs=[{"name": "half", "min": 1, "gpu": {"fraction": 0.5}}],
    )

    assert ["plain"] == [operation.node for operation in plan.operations]


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_a_gpu_of_which_more_is_taken_than_it_has_gets_nothing_more(strategy):
    taken = {"device": 0, "contract": "phalanx", "cores": 0.2, "memory": "40Gi"}
    plan = planned(
        strategy,
        nodes=[
            {
                "name": "n",
                "allocatable": {GPU: 1},
                "used": {GPU: 1},
                "gpuMemory": 50_000,
                "taken": [taken],
            }
        ],
        gangs=[
            {
                "name": "there",
                "min": 1,
                "gpu": {"memory": "20Gi"},
                "running": [{"node": "n", "pods": 1, "devices": [0]}],
            },
            {"name": "small", "min": 1, "gpu": {"memory": "1Mi"}},
        ],
    )

    assert not plan.operations


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_a_node_with_more_gpus_in_use_than_it_has_shares_those_that_are_open(strategy):
    plan = planned(
        strategy,
        nodes=[{"name": "n", "allocatable": {GPU: 3}, "gpuMemory": 80_000}],
        gangs=[
            {
                "name": "shared",
                "min": 1,
                "gpu": {"fraction": 0.25, "devices": 2},
                "running": [{"node": "n", "pods": 1, "devices": [0, 2]}],
            },
            {
                "name": "whole",
                "min": 1,
                "requests": {GPU: 2},
                "running": [{"node": "n", "pods": 1}],
            },
            {"name": "half", "min": 1, "gpu": {"fraction": 0.5}},
        ],
    )

    assert plan.fallback is None
    assert {0, 2} >= {one.device for x in plan.operations for one in x.devices}


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_a_gpu_with_a_slice_that_two_have_gets_no_further_instance(strategy):
    twice = {"pods": 1, "node": "n", "devices": [{"device": 0, "start": 0}]}
    plan = planned(
        strategy,
        nodes=[
            {
                "name": "n",
                "allocatable": {GPU: 1},
                "mig": {"model": "H100-80GB", "devices": [0]},
            }
        ],
        gangs=[
            {
                "name": "there",
                "count": 2,
                "min": 1,
                "gpu": {"mig": "3g.40gb"},
                "running": [twice],
            },
            {"name": "small", "min": 1, "gpu": {"mig": "1g.10gb"}},
        ],
    )

    assert plan.fallback is None
    assert not plan.operations


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_what_leaves_a_slice_that_two_have_makes_room_for_instances(strategy):
    there = {"pods": 1, "node": "n", "devices": [{"device": 0, "start": 0}]}
    plan = planned(
        strategy,
        nodes=[
            {
                "name": "n",
                "allocatable": {GPU: 1},
                "mig": {"model": "H100-80GB", "devices": [0]},
            }
        ],
        gangs=[
            {
                "name": "low",
                "count": 2,
                "min": 1,
                "gpu": {"mig": "3g.40gb"},
                "running": [there],
            },
            {"name": "high", "priority": 9, "min": 1, "gpu": {"mig": "3g.40gb"}},
        ],
    )

    assert plan.fallback is None
    assert 1 == sum(step.op == "Reserve" for step in plan.operations)


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize(
    "runs", [{}, {"running": [{"node": "n", "pods": 1, "devices": [0]}]}]
)
def test_a_share_of_memory_that_nobody_knows_is_none(strategy, runs):
    plan = planned(
        strategy,
        nodes=[{"name": "n", "allocatable": {GPU: 2}}],
        gangs=[
            {"name": "waits", "queue": "q", "min": 1, "gpu": {"share": 0.6}},
            {"name": "there", "queue": "q", "min": 1, "gpu": {"share": 0.6}, **runs},
        ],
        queues=[{"name": "q", "resources": {GPU: {"quota": 2}}}],
    )

    assert not plan.operations

"""
Nodes whose GPUs are shared: who has what of them, and what closes them.
"""

from copy import deepcopy

import pytest

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.policy import Policy
from models.resources import GPU, GPU_SHARE
from solver import decide
from tests.helpers.kube.manifests import assembled, pod
from tests.helpers.rounds.shared_gpus import (
    HALF,
    UUIDS,
    asks,
    device,
    given,
    node_of,
    stage_of,
)

CONTRACTS = tuple(HALF)


def planned(*raws):
    """
    Plan objects: which devices pods get, and the reasons of those that wait.
    """
    found = assembled(*raws)
    plan = decide(found.snapshot, Policy())
    binds = {
        step.pod.partition("/")[2]: tuple(one.device for one in step.devices)
        for step in plan.operations
    }
    waits = {
        line.name.partition("/")[2]: str(line.waiting.reason)
        for line in plan.gangs
        if line.waiting
    }
    return binds, waits, found.summary.warnings


def half(contract, name="h", number=None, scheduler="other"):
    if number is None:
        return asks(name, **HALF[contract])
    said = given(contract, number)
    return asks(name, said=said, scheduler=scheduler, on="n", **HALF[contract])


@pytest.mark.parametrize("contract", CONTRACTS)
def test_four_halves_share_two_gpus_and_a_fifth_waits(contract):
    halves = [half(contract, f"h-{i}") for i in range(5)]

    binds, waits, said = planned(*stage_of(contract), *halves)
    assert [(0,), (0,), (1,), (1,)] == sorted(binds.values())
    assert {"h-4"} == set(waits)
    assert () == said


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("scheduler", ["other", "phalanx"])
def test_what_runs_has_its_devices(contract, scheduler):
    there = [half(contract, f"r-{i}", 0, scheduler) for i in (0, 1)]

    binds, _, _ = planned(*stage_of(contract), *there, half(contract))
    assert {"h": (1,)} == binds


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("scheduler", ["other", "phalanx"])
def test_a_pod_whose_devices_nobody_knows_closes_those_of_its_node_alone(
    contract, scheduler
):
    lost = half(contract, "lost", 0, scheduler)
    del lost["metadata"]["annotations"]
    second = deepcopy(stage_of(contract))
    for raw in second:
        raw["metadata"]["name"] = "n2"
    plain = pod("plain", gpus=0)

    binds, _, said = planned(
        *stage_of(contract), *second, lost, half(contract), plain, half(contract, "i")
    )
    assert {"h", "i", "plain"} == binds.keys()
    assert "node n: nothing new shares its GPUs: nobody knows which of them" in said[0]
    alone, waits, _ = planned(*stage_of(contract), lost, half(contract))
    assert {} == alone
    assert {"h": "UnsupportedConstraint"} == waits


@pytest.mark.parametrize(
    ("contract", "rival"),
    [(one, x) for one in CONTRACTS for x in CONTRACTS if one != x],
)
def test_a_node_that_two_contracts_share_out_is_named_whoever_asks(contract, rival):
    nodes = [stage_of(each)[0] for each in (contract, rival)]
    first, second = nodes
    first["status"]["allocatable"] |= second["status"]["allocatable"]
    first["metadata"]["annotations"] |= second["metadata"]["annotations"]
    beside = [raw for each in (contract, rival) for raw in stage_of(each)[1:]]

    binds, waits, said = planned(first, *beside, half(contract), pod("plain", gpus=0))
    assert {"plain": ()} == binds
    assert {"h"} == waits.keys()
    (told,) = said
    assert told.startswith("node n: nothing new shares its GPUs: ")
    assert told.endswith(" all say how its GPUs are shared")
    assert contract in told.lower()
    assert rival in told.lower()


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_whole_gpu_waits_where_no_name_is_taken_or_none_is_offered(contract):
    binds, waits, _ = planned(*stage_of(contract), half(contract), pod("whole"))

    if contract == "hami":
        assert {"h", "whole"} == binds.keys()
        return
    assert {"h"} == binds.keys()
    assert "whole" in waits


def named_stage(contract):
    """
    List the objects of a node that offers whole GPUs beside shared ones.
    """
    raws = stage_of(contract)
    raws[0]["status"]["allocatable"].setdefault("nvidia.com/gpu", "2")
    return raws


def whole(contract, name, number=None, scheduler="phalanx"):
    raw = pod(name)
    raw["spec"]["schedulerName"] = scheduler
    if number is not None:
        raw["spec"]["nodeName"] = "n"
        raw["metadata"]["annotations"] = given(contract, number)
    return raw


NAMED = ("koordinator", "hami")


@pytest.mark.parametrize("contract", NAMED)
def test_whole_gpus_and_shared_ones_part_a_node_that_takes_names(contract):
    halves = [half(contract, f"h-{i}") for i in range(3)]
    raws = [*named_stage(contract), whole(contract, "whole"), *halves]

    binds, waits, _ = planned(*raws)
    assert 3 == len(binds)
    assert 1 == len(waits)


@pytest.mark.parametrize("contract", NAMED)
@pytest.mark.parametrize("scheduler", ["phalanx", "other"])
def test_a_gpu_that_is_whole_by_name_is_shared_with_nobody(contract, scheduler):
    there = whole(contract, "there", 0, scheduler)
    halves = [half(contract, f"h-{i}") for i in range(3)]

    binds, waits, said = planned(*named_stage(contract), there, *halves)
    assert [(1,), (1,)] == list(binds.values())
    assert ({"h-2"}, ()) == (waits.keys(), said)


@pytest.mark.parametrize("contract", NAMED)
@pytest.mark.parametrize("scheduler", ["phalanx", "other"])
def test_a_whole_gpu_that_nobody_can_name_closes_those_of_its_node(contract, scheduler):
    there = whole(contract, "there", 0, scheduler)
    del there["metadata"]["annotations"]

    binds, waits, said = planned(*named_stage(contract), there, half(contract))
    assert ({}, {"h"}) == (binds, waits.keys())
    assert "nobody knows which" in said[0]


def test_two_contracts_in_one_gang_are_refused():
    owner = ("batch/v1", "Job", "j")
    raws = [
        {**half(contract, f"j-{contract}"), "kind": "Pod"}
        for contract in ("vgpu", "gpushare")
    ]
    for raw in raws:
        raw["metadata"]["ownerReferences"] = [
            {
                "apiVersion": owner[0],
                "kind": owner[1],
                "name": owner[2],
                "uid": "u",
                "controller": True,
            }
        ]
    found = assembled(node_of("vgpu", "v"), node_of("gpushare", "g"), *raws)

    (gang,) = found.snapshot.gangs
    assert "UnsupportedConstraint" == str(gang.refused.reason)
    assert "in gpushare and in vgpu" in gang.refused.facts["detail"]


def test_parts_that_no_node_shares_wait_and_delay_nobody():
    binds, waits, _ = planned(
        node_of("gpushare"), half("vgpu", "v"), half("gpushare", "g")
    )

    assert {"g"} == binds.keys()
    assert {"v": "UnsupportedConstraint"} == waits


def test_pods_of_two_contracts_on_one_node_close_its_devices():
    there = half("gpushare", "there", 0)
    vgpu = asks("odd", scheduler="other", on="n", **HALF["vgpu"])

    _, waits, said = planned(node_of("gpushare"), there, vgpu, half("gpushare"))
    assert "pod default/odd is there under another contract" in said[0]
    assert {"h": "UnsupportedConstraint"} == waits


def test_an_ill_gpu_is_taken():
    binds, _, _ = planned(node_of("koordinator"), device(ill=(0,)), half("koordinator"))

    assert {"h": (1,)} == binds


def test_a_device_object_that_is_gone_closes_its_node():
    _, waits, _ = planned(node_of("koordinator"), half("koordinator"))

    assert {"h": "UnsupportedConstraint"} == waits


def test_what_nobody_has_of_a_shared_gpu_is_everybodys_to_share():
    found = assembled(*stage_of("gpushare"), half("gpushare", "r", 0), half("gpushare"))

    (only,) = found.snapshot.nodes
    assert (2, 2) == (only.allocatable[GPU], only.used[GPU])
    assert 14000 - 3500 == only.allocatable[GPU_SHARE] - only.used[GPU_SHARE]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_snapshot_written_as_a_file_plans_the_same(contract):
    there = [half(contract, "r", 0), half(contract, "m", 1, "phalanx")]
    halves = [half(contract, f"h-{i}") for i in range(3)]
    found = assembled(*stage_of(contract), *there, *halves).snapshot

    again = scenario_of("again", snapshot_document(found)).snapshot
    ours, theirs = (decide(one, Policy()) for one in (found, again))
    assert [(s.pod, s.node, s.devices) for s in ours.operations] == [
        (s.pod, s.node, s.devices) for s in theirs.operations
    ]
    assert [(t.name, t.value) for t in ours.tiers] == [
        (t.name, t.value) for t in theirs.tiers
    ]


def cordoned():
    """
    List the objects of a node of HAMi whose first GPU somebody has cordoned.
    """
    raws = named_stage("hami")
    words = {"hami.io/device-cordon": f" {UUIDS[0]} ,,gone"}
    raws[0]["metadata"]["annotations"] |= words
    return raws


def test_a_gpu_that_is_cordoned_takes_nobody_new():
    halves = [half("hami", f"h-{i}") for i in range(3)]

    binds, _, _ = planned(*cordoned(), *halves)
    assert [(1,), (1,)] == sorted(binds.values())


@pytest.mark.parametrize("there", [[], [half("hami", "there", 0)]])
def test_a_gpu_that_is_cordoned_is_no_whole_one(there):
    binds, waits, _ = planned(*cordoned(), *there, pod("one"), pod("two"))

    assert (1, 1) == (len(binds), len(waits))


def test_who_has_a_gpu_that_is_cordoned_keeps_it():
    there = half("hami", "there", 0)

    binds, _, said = planned(*cordoned(), there, half("hami"))
    assert {"h": (1,)} == binds
    assert () == said

"""
GPUs that pods share as KAI does: what they ask for, their groups, and what is left.
"""

import pytest

from adapters.kube.gangs.manifests import Manifest, assembled_of
from adapters.kube.objects.parts.kai_parts import (
    gpus_of_instances,
    new_group,
    numbered,
    portion_of,
)
from models.devices.gpu_parts import GpuDevice, GpuPart, TakenDevice
from models.policy import Policy
from models.resources import GPU, LARGEST, MOST_GPUS
from solver import decide
from tests.helpers.kube.manifests import node, obj, pod

BINDER = obj(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "bindrequests.scheduling.run.ai",
)
GROUP = "runai-gpu-group"
HALF = {"gpu-fraction": "0.5"}


def made(*raws, binder=True):
    found = [BINDER, *raws] if binder else raws
    return assembled_of([Manifest("f", "", raw) for raw in found])


def planned(*raws, binder=True):
    """
    Plan objects: which devices pods get, and why others wait.
    """
    plan = decide(made(*raws, binder=binder).snapshot, Policy())
    binds = {
        step.pod.partition("/")[2]: tuple(one.device for one in step.devices)
        for step in plan.operations
    }
    waits = {
        line.name.partition("/")[2]: (str(line.waiting.reason), line.waiting.facts)
        for line in plan.gangs
        if line.waiting
    }
    return binds, waits


def gpus(number=2, **labels):
    said = {"nvidia.com/gpu.memory": "81559", **labels}
    return node(gpus=number, labels=said)


def sharing(name, said=None, *, on=None, group=None, scheduler="phalanx"):
    raw = pod(name, gpus=0, annotations=said or HALF, meta={"uid": f"uid-{name}"})
    raw["spec"]["schedulerName"] = scheduler
    raw["spec"] |= {"nodeName": on} if on else {}
    raw["metadata"]["labels"] = {GROUP: group} if group else {}
    return raw


def keeper(group, **status):
    """
    Build a pod by which KAI keeps a GPU for a group.
    """
    space = "kai-resource-reservation"
    name = f"gpu-reservation-{group}"
    return pod(
        name,
        namespace=space,
        labels={GROUP: group},
        nodeName="n",
        schedulerName="kai-scheduler",
        status=status,
    )


def request(name, *groups, phase="", on="n"):
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-{name}"}
    return obj(
        "scheduling.run.ai/v1alpha2",
        "BindRequest",
        name,
        "default",
        meta={"ownerReferences": [owner]},
        spec={"podName": name, "selectedNode": on, "selectedGPUGroups": list(groups)},
        status={"phase": phase},
    )


def test_four_halves_share_two_gpus_and_a_fifth_waits():
    binds, waits = planned(gpus(), *[sharing(f"h-{i}") for i in range(5)])

    assert [(0,), (0,), (1,), (1,)] == sorted(binds.values())
    assert {"h-4"} == waits.keys()


def test_whole_gpus_are_given_beside_shared_ones():
    binds, waits = planned(gpus(), pod("whole"), sharing("a"), sharing("b"))

    assert {} == waits
    assert binds["a"] == binds["b"]


def test_without_the_binder_of_kai_they_wait_and_it_is_said():
    binds, waits = planned(gpus(), sharing("h"), pod("whole"), binder=False)

    assert {"whole"} == binds.keys()
    reason, facts = waits["h"]
    assert "UnsupportedConstraint" == reason
    assert "BindRequest" in facts["detail"]


@pytest.mark.parametrize("scheduler", ["phalanx", "kai-scheduler"])
def test_who_is_in_a_group_has_a_part_of_the_gpu_that_is_kept_for_it(scheduler):
    there = sharing("r", on="n", group="a", scheduler=scheduler)
    binds, waits = planned(
        gpus(), keeper("a"), there, pod("whole"), sharing("h"), sharing("late")
    )

    assert {"h", "whole"} == binds.keys() or {"late", "whole"} == binds.keys()
    assert 1 == len(waits)


def test_a_gpu_that_is_kept_counts_once_with_what_our_pods_have_of_it():
    there = [sharing(f"r-{i}", on="n", group="ab00") for i in (0, 1)]
    snapshot = made(gpus(), keeper("ab00"), *there).snapshot

    (only,) = snapshot.nodes
    assert 1 == only.used[GPU]
    assert (TakenDevice(0, "kai"),) == only.taken
    pods = [p for gang in snapshot.gangs for p in gang.tree.pods]
    assert [(GpuDevice(0),)] * 2 == [p.devices for p in pods]


def test_a_pod_that_keeps_no_gpu_keeps_none_for_its_group():
    none = keeper("ab00")
    none["spec"]["containers"][0]["resources"] = {"limits": {GPU: "-5"}}
    there = sharing("r", on="n", group="ab00", scheduler="kai-scheduler")
    handed = [sharing("h"), request("h", "ab01")]
    (only,) = made(gpus(), none, there, *handed).snapshot.nodes

    assert len(only.taken) == only.used.get(GPU, 0)


def test_a_group_that_is_kept_for_nobody_may_be_joined_unless_it_is_given_back():
    binds, _ = planned(gpus(1), keeper("ab00"), sharing("h"))
    assert {"h": (0,)} == binds

    leaving = keeper("ab00")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-31T09:00:00Z"
    binds, _ = planned(gpus(1), leaving, sharing("h"))
    assert {} == binds


def test_a_pod_that_was_handed_over_counts_as_on_its_node_in_its_groups():
    raws = [gpus(1), sharing("r"), request("r", "ab00"), sharing("h"), sharing("i")]
    snapshot = made(*raws).snapshot
    placed = [p for gang in snapshot.gangs for p in gang.tree.pods if p.node]

    assert [("r", "n", (GpuDevice(0),))] == [
        (p.name, p.node, p.devices) for p in placed
    ]
    binds, _ = planned(*raws)
    assert [(0,)] == list(binds.values())


def test_a_request_that_failed_or_is_anothers_places_nobody():
    failed = request("r", "ab00", phase="Failed")
    other = request("r", "ab00")
    other["metadata"]["ownerReferences"][0]["uid"] = "before"
    for raw in (failed, other):
        binds, _ = planned(gpus(1), sharing("r"), raw)
        assert {"r": (0,)} == binds


def test_a_pod_whose_groups_nobody_knows_keeps_new_ones_from_sharing_alone():
    found = made(gpus(), sharing("r", on="n"), sharing("h"), pod("whole"))
    plan = decide(found.snapshot, Policy())

    assert ["default/whole"] == [step.pod for step in plan.operations]
    (said,) = found.summary.warnings
    assert "nobody knows which of them pod default/r has" in said


@pytest.mark.parametrize(
    "labels",
    [
        {"nvidia.com/mig.strategy": "mixed"},
        {"nvidia.com/mig.strategy": "single"},
        {"nvidia.com/gpu.replicas": "4"},
    ],
)
def test_gpus_that_are_cut_or_offered_several_times_are_not_shared(labels):
    binds, waits = planned(gpus(2, **labels), sharing("h"), pod("whole"))

    assert {"whole"} == binds.keys()
    assert {"h"} == waits.keys()


def test_memory_needs_a_node_that_says_how_much_its_gpus_have():
    large = sharing("m", {"gpu-memory": "50000"})

    assert {"m": (0,)} == planned(gpus(), large)[0]
    assert {} == planned(node(gpus=2), large)[0]
    assert {"h": (0,)} == planned(node(gpus=2), sharing("h"))[0]


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("81559", "; the largest GPU has 81,500 MiB"),
        ("99999999999999999999", "; no node says how much memory its GPUs have"),
        ("NaN", "; no node says how much memory its GPUs have"),
    ],
)
def test_too_much_memory_is_told_beside_what_gpus_have(label, said):
    large = sharing("m", {"gpu-memory": "90000"})
    own = {"nvidia.com/gpu.memory": label}

    binds, waits = planned(gpus(**own), large, sharing("h"))

    assert {"h": (0,)} == binds
    told = f"no node has room for 90,000 MiB of one GPU{said}"
    assert told == waits["m"][1]["detail"]


def test_several_devices_are_different_ones():
    two = {"gpu-fraction": "0.5", "gpu-fraction-num-devices": "2"}
    binds, waits = planned(gpus(), *[sharing(f"h-{i}", two) for i in range(3)])

    assert [(0, 1), (0, 1)] == list(binds.values())
    assert 1 == len(waits)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"gpu-fraction": "0"}, "gpu-fraction"),
        ({"gpu-fraction": "1"}, "gpu-fraction"),
        ({"gpu-fraction": "1.5"}, "gpu-fraction"),
        ({"gpu-fraction": "-0.5"}, "gpu-fraction"),
        ({"gpu-fraction": "NaN"}, "gpu-fraction"),
        ({"gpu-fraction": "half"}, "gpu-fraction"),
        ({"gpu-fraction": " 0.5 "}, "gpu-fraction"),
        ({"gpu-fraction": "0.50000000000000000000000x"}, "gpu-fraction"),
        ({**HALF, "gpu-fraction-container-name": "no"}, "gpu-fraction-container-name"),
        ({"gpu-memory": "0"}, "gpu-memory"),
        ({"gpu-memory": "10Gi"}, "gpu-memory"),
        ({"gpu-memory": "9" * 5000}, "gpu-memory"),
        ({"gpu-memory": "10", "gpu-fraction": "0.1"}, "gpu-memory"),
        ({"gpu-fraction-num-devices": "2"}, "gpu-fraction-num-devices"),
        ({**HALF, "gpu-fraction-num-devices": "0"}, "gpu-fraction-num-devices"),
        ({**HALF, "gpu-fraction-num-devices": "1e9"}, "gpu-fraction-num-devices"),
        ({"mps": "true"}, "mps"),
    ],
)
def test_what_kais_binder_would_refuse_is_refused_with_the_field(said, field):
    binds, waits = planned(gpus(), sharing("bad", said), sharing("good"))

    assert {"good": (0,)} == binds
    reason, facts = waits["bad"]
    assert "InvalidGang" == reason
    assert f"annotation {field}" in facts["detail"]


@pytest.mark.parametrize("name", ["main", "first"])
def test_a_fraction_may_be_for_any_container_of_the_pod(name):
    said = {**HALF, "gpu-fraction-container-name": name}
    named = sharing("named", said)
    named["spec"]["initContainers"] = [{"name": "first"}]

    assert {"named": (0,)} == planned(gpus(), named)[0]


def test_a_fraction_beside_a_whole_gpu_or_another_contract_is_refused():
    whole = pod("whole", annotations=HALF)
    other = sharing("other")
    limits = {"aliyun.com/gpu-mem": "8"}
    other["spec"]["containers"][0]["resources"] = {"limits": limits}
    _, waits = planned(gpus(), whole, other)

    assert "asks for nvidia.com/gpu too" in waits["whole"][1]["detail"]
    assert "not in kai and gpushare" in waits["other"][1]["detail"]


def test_groups_keep_their_numbers_while_others_come_and_go():
    ours = {number: new_group(number) for number in (0, 3, 7)}

    assert {g: n for n, g in ours.items()} == numbered(ours.values(), 8)
    assert {ours[7]: 7, "x": 0} == numbered([ours[7], "x"], 8)
    assert 2 == len(numbered(["a", "b", "c"], 2))


@pytest.mark.parametrize(
    ("part", "portion"),
    [
        (GpuPart("kai", 500, 500), "0.5"),
        (GpuPart("kai", 125, 125), "0.125"),
        (GpuPart("kai", memory=4096), "0.27"),
    ],
)
def test_a_portion_is_what_kai_counts(part, portion):
    assert portion == portion_of(part, 15300)


def test_instances_count_their_slices_and_those_with_media_engines_nothing():
    asked = {
        "nvidia.com/mig-3g.40gb": 2,
        "nvidia.com/mig-1g.5gb": 1,
        "nvidia.com/gpu": 1,
    }

    assert 7 == gpus_of_instances(asked)
    assert 0 == gpus_of_instances({"nvidia.com/mig-1g.10gb.me": 1, "mig-1g.5gb": 1})
    assert MOST_GPUS == gpus_of_instances({"nvidia.com/mig-3g.40gb": LARGEST})

"""
Parts of GPUs: who asks for one waits, and a device that is shared is not free.
"""

import json
from copy import deepcopy

import pytest

from adapters.kube.objects.parts.part_words import NOTHING, part_asked
from models.resources import GPU, is_gpu
from tests.helpers.kube.manifests import (
    assembled,
    in_group,
    node,
    obj,
    pod,
    pod_group,
    refusal,
)

KAI_GROUP = obj("scheduling.run.ai/v2alpha2", "PodGroup", "g", "default")
VOLCANO = obj(
    "scheduling.volcano.sh/v1beta1", "PodGroup", "g", "default", spec={"minMember": 1}
)


def asking(resource, amount="1", name="p-0", **fields):
    """
    A pod with a limit of its own and no whole GPU.
    """
    limits = {resource: amount}
    container = {"name": "main", "resources": {"limits": limits}}
    return pod(name, containers=[container], **fields)


def running(name, raw, on="n", scheduler="other"):
    raw["metadata"]["name"] = name
    raw["spec"] |= {"nodeName": on, "schedulerName": scheduler}
    return raw


def used(*raws, gpus=8):
    """
    The GPUs of the only node that others use.
    """
    (only,) = assembled(node(gpus=gpus), *raws).snapshot.nodes
    return only.used.get(GPU, 0)


def fraction(**said):
    return pod(gpus=0, annotations=said or {"gpu-fraction": "0.5"})


# --- who asks for a part ------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "said"), [("gpu-fraction", "0.5"), ("gpu-memory", "4000")]
)
@pytest.mark.parametrize(
    ("labels", "annotations", "more"),
    [
        ({}, {}, ()),
        ({"kai.scheduler/queue": "q"}, {}, ()),
        ({}, {"pod-group-name": "g"}, (KAI_GROUP,)),
        ({}, {"scheduling.k8s.io/group-name": "g"}, (VOLCANO,)),
        (in_group("g"), {}, (pod_group("g", 1),)),
    ],
    ids=["alone", "kai-queue", "kai", "volcano", "coscheduling"],
)
def test_a_part_as_kai_has_it_waits_in_every_dialect_where_kais_binder_is_not(
    word, said, labels, annotations, more
):
    asks = pod(gpus=0, labels=labels, annotations={**annotations, word: said})

    reason, detail = refusal(node(), asks, *more)
    assert "UnsupportedConstraint" == reason
    assert "KAI's binder" in detail
    assert "BindRequest" in detail


UNPLANNED = ("volcano.sh/gpu-memory", "volcano.sh/gpu-number")


@pytest.mark.parametrize("name", UNPLANNED)
def test_a_resource_that_is_a_part_waits_and_is_named(name):
    reason, detail = refusal(node(), asking(name, "800"))

    assert "UnsupportedConstraint" == reason
    assert f"spec.containers[0].resources.limits[{name}]" in detail
    assert not is_gpu(name)


def test_a_part_that_an_init_container_asks_for_waits():
    first = {"name": "i", "resources": {"requests": {"nvidia.com/gpumem": "1000"}}}

    reason, detail = refusal(node(), pod(initContainers=[first]))
    assert "UnsupportedConstraint" == reason
    assert "spec.initContainers[0]" in detail


def test_a_whole_gpu_and_a_slice_do_not_wait():
    whole, part = pod(), asking("nvidia.com/mig-1g.10gb")

    assert refusal(node(), whole) is None
    assert refusal(node(), part) is None


# --- who has one --------------------------------------------------------------


def test_the_pods_by_which_kai_reserves_devices_hold_them():
    halves = [running(f"p-{i}", fraction()) for i in (0, 1)]
    spot = pod(labels={"runai-gpu-group": "a"}, namespace="kai-resource-reservation")

    assert 1 == used(*halves, running("r", spot))


def test_nobody_takes_up_or_hides_gpus_by_writing():
    wide = {"gpu-fraction": "0.1", "gpu-fraction-num-devices": "8"}
    devices = {"gpu": [{"minor": minor} for minor in range(8)]}
    said = {"scheduling.koordinator.sh/device-allocated": json.dumps(devices)}
    hiding = pod(gpus=4, annotations={**said, "gpu-fraction": "0.5"})

    assert 0 == used(running("p", fraction(**wide)))
    assert 0 == used(running("p", pod(gpus=0, annotations=said)))
    assert 1 == used(
        running("p", asking("koordinator.sh/gpu-core", "50", annotations=said))
    )
    assert 8 == used(*(running(f"p-{i}", deepcopy(hiding)) for i in (0, 1)))


def test_koordinators_minors_count_once():
    def shares(name, *minors):
        devices = {"gpu": [{"minor": minor} for minor in minors]}
        said = {"scheduling.koordinator.sh/device-allocated": json.dumps(devices)}
        raw = asking("koordinator.sh/gpu-core", "200", annotations=said)
        return running(name, raw)

    assert 3 == used(shares("p-0", 0, 1), shares("p-1", 1, 2))


def test_koordinators_percent_counts_where_no_minor_is_written():
    assert 3 == used(running("p", asking("koordinator.sh/gpu-core", "250")))


def test_amounts_that_are_null_ask_for_nothing():
    spec = {"containers": [{"resources": {"limits": {"aliyun.com/gpu-mem": None}}}]}

    assert NOTHING == part_asked(spec, {}, {})


def test_a_device_named_by_gpushare_counts_once():
    said = {"ALIYUN_COM_GPU_MEM_IDX": "5"}
    sharers = [
        running(f"p-{i}", asking("aliyun.com/gpu-mem", "20", annotations=said))
        for i in (0, 1)
    ]

    assert 1 == used(*sharers)


def test_hamis_shares_count_as_the_devices_they_are_on():
    def shares(name, device):
        said = {"hami.io/vgpu-devices-allocated": f"{device},NVIDIA,1000,50:;"}
        limits = {GPU: "1", "nvidia.com/gpumem": "1000"}
        container = {"name": "main", "resources": {"limits": limits}}
        return running(name, pod(containers=[container], annotations=said))

    assert 1 == used(shares("p-0", "GPU-a1"), shares("p-1", "GPU-a1"))


def test_what_cannot_be_read_of_a_share_counts_as_one_device():
    for text in ("{", "[" * 100_000, '{"gpu": 3}', "x" * 10**6):
        said = {"scheduling.koordinator.sh/device-allocated": text}
        raw = asking("koordinator.sh/gpu-core", "50", annotations=said)
        assert 1 == used(running("p", raw))


def test_shares_hold_no_more_than_the_node_has():
    assert 8 == used(running("p", asking("koordinator.sh/gpu-core", "999999")))


def test_a_share_holds_nothing_on_a_node_without_gpus():
    assert 0 == used(running("p", asking("volcano.sh/vgpu-number")), gpus=0)


def test_our_own_pods_with_shares_hold_their_devices_too():
    sharers = [
        running(f"p-{i}", asking("volcano.sh/vgpu-number", "2"), scheduler="phalanx")
        for i in (0, 1)
    ]

    assert 4 == used(*sharers)


def test_a_finished_pod_holds_no_device():
    done = running("p", asking("volcano.sh/vgpu-number"), scheduler="phalanx")
    done["status"] = {"phase": "Succeeded"}

    assert 0 == used(done)


@pytest.mark.parametrize(
    "text",
    [
        "GPU-1,10,80000,100,H100,0,true:GPU-2,10,80000,100,H100,0,true:",
        '[{"id": "GPU-1", "count": 10}, {"id": "GPU-2", "count": 10}]',
    ],
)
def test_a_gpu_that_hami_offers_ten_times_is_one(text):
    raw = node(gpus=20)
    raw["metadata"]["annotations"] = {"hami.io/node-nvidia-register": text}
    (only,) = assembled(raw).snapshot.nodes

    assert 2 == only.allocatable[GPU]


# --- what was booked twice ----------------------------------------------------


def test_cores_of_koordinator_beside_whole_gpus_are_not_booked_twice():
    offered = node()
    offered["status"]["allocatable"]["koordinator.sh/gpu-core"] = "800"
    found = assembled(offered, pod("whole", gpus=8), asking("koordinator.sh/gpu-core"))

    refused = {gang.name: gang.refused for gang in found.snapshot.gangs}
    assert refused["whole"] is None
    assert refused["p-0"] is not None

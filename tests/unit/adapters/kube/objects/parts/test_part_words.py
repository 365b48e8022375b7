"""
What pods ask of GPUs in the words of each contract, and what their nodes say.
"""

import pytest

from adapters.kube.objects.parts.node_devices import (
    devices_on,
    koordinator_devices,
)
from adapters.kube.objects.pod_reader import pod_record
from models.devices.gpu_parts import GpuPart
from tests.helpers.kube.manifests import pod, refusal
from tests.helpers.rounds.shared_gpus import asks, device, node_of

KOORD = "koordinator.sh"
VGPU = "volcano.sh/vgpu"
HAMI = "nvidia.com"


def part(*containers, **limits):
    """
    The part that was read of a pod.
    """
    found = pod_record(asks("p", *containers, **limits))
    return found.part and found.part.part


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({f"{KOORD}/gpu": 50}, (500, 500, 0, 1)),
        ({f"{KOORD}/gpu": 300}, (1000, 1000, 0, 3)),
        ({f"{KOORD}/gpu-memory": "8Gi"}, (0, 0, 8192, 1)),
        ({f"{KOORD}/gpu-memory-ratio": 30}, (0, 300, 0, 1)),
        ({f"{KOORD}/gpu-core": 50, f"{KOORD}/gpu-memory": "8Gi"}, (500, 0, 8192, 1)),
        ({f"{KOORD}/gpu-core": 50, f"{KOORD}/gpu-memory-ratio": 30}, (500, 300, 0, 1)),
        ({f"{KOORD}/gpu.shared": 2, f"{KOORD}/gpu-memory": "8Gi"}, (0, 0, 4096, 2)),
        (
            {f"{KOORD}/gpu.shared": 2, f"{KOORD}/gpu-memory-ratio": 100},
            (0, 500, 0, 2),
        ),
        (
            {
                f"{KOORD}/gpu.shared": 2,
                f"{KOORD}/gpu-core": 60,
                f"{KOORD}/gpu-memory": "8Gi",
            },
            (300, 0, 4096, 2),
        ),
        (
            {
                f"{KOORD}/gpu.shared": 2,
                f"{KOORD}/gpu-core": 60,
                f"{KOORD}/gpu-memory-ratio": 100,
            },
            (300, 500, 0, 2),
        ),
    ],
)
def test_every_legal_set_of_koordinator_is_a_part(limits, expected):
    cores, share, memory, count = expected

    assert part(**limits) == GpuPart("koordinator", cores, share, memory, count=count)


@pytest.mark.parametrize(
    "limits",
    [
        {f"{KOORD}/gpu-core": 50},
        {f"{KOORD}/gpu.shared": 1},
        {f"{KOORD}/gpu": 50, f"{KOORD}/gpu-core": 50},
        {f"{KOORD}/gpu": 150},
        {f"{KOORD}/gpu-core": 150, f"{KOORD}/gpu-memory-ratio": 100},
        {f"{KOORD}/gpu-core": 200, f"{KOORD}/gpu-memory-ratio": 100},
        {f"{KOORD}/gpu.shared": 2, f"{KOORD}/gpu-memory-ratio": 33},
        {f"{KOORD}/gpu.shared": 1, f"{KOORD}/gpu-memory-ratio": 200},
        {f"{KOORD}/gpu-memory-ratio": 0},
        {f"{KOORD}/gpu-memory-ratio": "-5"},
        {f"{KOORD}/gpu-memory-ratio": "nan"},
        {f"{KOORD}/gpu-memory-ratio": "0.5"},
        {f"{VGPU}-memory-percentage": 101},
        {f"{VGPU}-cores": 101},
        {f"{VGPU}-number": 100},
        {f"{HAMI}/gpucores": 200},
        {f"{HAMI}/gpumem": "1e30"},
        {"aliyun.com/gpu-mem": 0},
    ],
)
def test_what_a_contract_would_not_take_is_named_with_its_field(limits):
    reason, detail = refusal(node_of("koordinator"), asks("p", **limits))

    assert "InvalidGang" == reason
    assert "spec.containers[0].resources" in detail


def test_shares_of_koordinator_are_named_as_the_pod_says_them():
    _, detail = refusal(node_of("koordinator"), asks("p", **{f"{KOORD}/gpu": 150}))

    field = "pod p, spec.containers[0].resources[koordinator.sh/gpu]"
    assert f"{field}: 150 is not a number of whole devices" == detail


def test_vgpu_without_memory_is_all_of_a_card_and_has_ten_sharers():
    assert GpuPart("vgpu", 100, 1000) == part(**{f"{VGPU}-number": 1})
    assert GpuPart("vgpu", 100, 0, 4000) == part(**{f"{VGPU}-memory": 4000})
    assert GpuPart("vgpu", 300, 250, count=2) == part(
        **{f"{VGPU}-number": 2, f"{VGPU}-memory-percentage": 25, f"{VGPU}-cores": 30}
    )


def test_no_node_of_volcano_offers_the_percentage_that_its_pods_ask_for():
    asked = {f"{VGPU}-number": 1, f"{VGPU}-memory-percentage": 25}

    found = pod_record(asks("p", **asked))

    assert GpuPart("vgpu", 100, 250) == found.part.part
    assert f"{VGPU}-number" in found.requests
    assert f"{VGPU}-memory-percentage" not in found.requests


def test_hami_asks_for_no_whole_gpu():
    found = pod_record(asks("p", **{f"{HAMI}/gpu": 2, f"{HAMI}/gpumem": 3000}))

    assert GpuPart("hami", 100, 0, 3000, count=2) == found.part.part
    assert f"{HAMI}/gpu" not in found.requests
    assert 2 == found.requests["hami.io/vgpu"]


def test_gpushare_counts_in_gib_unless_that_is_too_much():
    assert 8 * 1024 == part(**{"aliyun.com/gpu-mem": 8}).memory
    assert 8000 == part(**{"aliyun.com/gpu-mem": 8000}).memory


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            asks("p", {f"{VGPU}-number": 1}, {"aliyun.com/gpu-mem": 2}),
            "in one contract, and not in vgpu and gpushare",
        ),
        (
            asks("p", {f"{VGPU}-number": 1}, {f"{VGPU}-number": 1}),
            "two containers",
        ),
        (
            asks("p", **{"aliyun.com/gpu-mem": 2, "nvidia.com/gpu": 1}),
            "whole GPUs beside parts",
        ),
        (
            asks("p", **{"aliyun.com/gpu-mem": 2, "aliyun.com/gpu-core.percentage": 9}),
            "its cores are not planned",
        ),
        (
            asks("p", **{f"{VGPU}-number": 1}, said={f"{VGPU}-mode": "mig"}),
            f"annotation {VGPU}-mode",
        ),
        (
            pod(
                initContainers=[
                    {"name": "i", "resources": {"limits": {f"{VGPU}-number": "1"}}}
                ]
            ),
            "init containers",
        ),
        (asks("p", **{"volcano.sh/gpu-memory": 5}), "parts of a GPU are not planned"),
    ],
)
def test_what_cannot_be_obeyed_waits_with_the_field(raw, words):
    reason, detail = refusal(node_of("vgpu"), raw)

    assert "UnsupportedConstraint" == reason
    assert words in detail


def test_a_joint_allocation_of_gpus_alone_is_any():
    key = "scheduling.koordinator.sh/device-joint-allocate"
    limits = {f"{KOORD}/gpu": 50}

    def joint(said):
        return refusal(node_of("koordinator"), device(), asks("p", **limits, said=said))

    assert joint({key: '{"deviceTypes": ["gpu"]}'}) is None
    assert (
        "UnsupportedConstraint" == joint({key: '{"deviceTypes": ["gpu", "rdma"]}'})[0]
    )


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("{}", False),
        ('{"allocatePolicy": "BestEffort", "ringBusBandwidth": "400Gi"}', False),
        ('{"allocatePolicy": "Restricted"}', True),
        ('{"allocatePolicy": "restricted"}', True),
        ("[]", True),
        ('{"allocatePolicy": [1]}', True),
        ("not JSON", True),
    ],
)
def test_who_must_have_linked_gpus_waits_and_who_prefers_them_does_not(said, waits):
    key = "scheduling.koordinator.sh/gpu-partition-spec"
    raw = asks("p", **{f"{KOORD}/gpu": 200}, said={key: said})
    found = refusal(node_of("koordinator"), device(), raw)

    assert waits == (found is not None)
    if found is not None:
        assert "UnsupportedConstraint" == found[0]
        assert key in found[1]


# --- what nodes say -----------------------------------------------------------


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({"hami.io/node-nvidia-register": "rubbish"}, "cannot be read"),
        ({"hami.io/node-nvidia-register": '[{"id": "GPU-1"}]'}, "cannot be read"),
        (
            {"volcano.sh/node-vgpu-register": "a,10,80000,H100,true,mig:"},
            "in the mode mig",
        ),
        ({"volcano.sh/node-vgpu-register": "a,4,80000,H100,true,:"}, "4 pods share"),
        (
            {"volcano.sh/node-vgpu-register": "a,10,1,H,true,:a,10,1,H,true,:"},
            "names one GPU twice",
        ),
        ({"volcano.sh/node-vgpu-register": "a,10,0,H100,true,:"}, "without memory"),
        (
            {
                "hami.io/node-nvidia-register": '[{"id": "a", "count": 10, '
                '"devmem": -5, "health": true}]'
            },
            "without memory",
        ),
        (
            {"volcano.sh/node-vgpu-register": "a,10,999999999999,H100,true,:"},
            "more than any has",
        ),
    ],
)
def test_a_register_that_cannot_be_obeyed_is_a_problem(annotations, words):
    found = devices_on({"annotations": annotations}, {})

    assert words in found.problem


def test_a_label_and_devices_that_disagree_are_a_problem():
    offered = {"aliyun.com/gpu-mem": "320", "aliyun.com/gpu-count": "8"}
    labels = {"nvidia.com/gpu.memory": "81559"}

    found = devices_on({"labels": labels}, {"allocatable": offered})
    assert "label nvidia.com/gpu.memory: 81559 MiB" in found.problem


def test_the_minors_of_a_device_object_are_its_names_and_ill_ones_are_known():
    name, found = koordinator_devices(device(minors=(2, 0), ill=(2,)))

    assert ("n", ("0", "2"), 80 * 1024) == (name, found.names, found.memory)
    assert frozenset({1}) == found.ill


@pytest.mark.parametrize("minors", [(0, 0), (-1, 0), ("0",)])
def test_device_objects_with_odd_minors_are_a_problem(minors):
    assert koordinator_devices(device(minors=minors))[1].problem

"""
Nodes whose GPUs are shared under some contract, and pods that ask there.
"""

import json

from tests.helpers.kube.manifests import GPU, node, obj, pod

UUIDS = ("GPU-aa-0", "GPU-aa-1")


def asks(name, *containers, said=None, scheduler="phalanx", on=None, **limits):
    """
    Build a pod with limits, of one container or of each of several.
    """
    spec = {"schedulerName": scheduler} | ({"nodeName": on} if on else {})
    return pod(
        name,
        annotations=said or {},
        meta={"uid": f"uid-{name}"},
        containers=[
            {
                "name": f"c{at}",
                "image": "i",
                "resources": {"limits": {k: str(v) for k, v in each.items()}},
            }
            for at, each in enumerate(containers or (limits,))
        ],
        **spec,
    )


def node_of(contract, name="n", **labels):
    """
    Build a node with two GPUs of 80 GiB each, which a contract shares.
    """
    offered, said = {}, {}
    match contract:
        case "gpushare":
            offered = {"aliyun.com/gpu-mem": "160", "aliyun.com/gpu-count": "2"}
        case "vgpu":
            row = "".join(f"{one},10,81920,NVIDIA-H100,true,:" for one in UUIDS)
            said = {"volcano.sh/node-vgpu-register": row}
            offered = {
                "volcano.sh/vgpu-number": "20",
                "volcano.sh/vgpu-memory": "163840",
                "volcano.sh/vgpu-cores": "200",
            }
        case "hami":
            rows = [
                {
                    "id": one,
                    "index": at,
                    "count": 10,
                    "devmem": 81920,
                    "devcore": 100,
                    "type": "NVIDIA-H100",
                    "health": True,
                }
                for at, one in enumerate(UUIDS)
            ]
            said = {"hami.io/node-nvidia-register": json.dumps(rows)}
            offered = {GPU: "20"}
        case "koordinator":
            offered = {
                "koordinator.sh/gpu-core": "200",
                "koordinator.sh/gpu-memory": "160Gi",
                "koordinator.sh/gpu-memory-ratio": "200",
                "koordinator.sh/gpu.shared": "200",
            }
    raw = node(name, gpus=0, labels=labels)
    del raw["status"]["allocatable"][GPU]
    raw["status"]["allocatable"] |= offered | {"pods": "110"}
    raw["metadata"]["annotations"] = said
    return raw


def device(name="n", minors=(0, 1), ill=()):
    """
    Build the Device object of Koordinator of a node.
    """
    devices = [
        {
            "type": "gpu",
            "id": f"GPU-{minor}",
            "minor": minor,
            "health": minor not in ill,
            "resources": {
                "koordinator.sh/gpu-core": "100",
                "koordinator.sh/gpu-memory": "80Gi",
                "koordinator.sh/gpu-memory-ratio": "100",
            },
        }
        for minor in minors
    ]
    version = "scheduling.koordinator.sh/v1alpha1"
    return obj(version, "Device", name, spec={"devices": devices})


HALF = {
    "gpushare": {"aliyun.com/gpu-mem": 40},
    "vgpu": {"volcano.sh/vgpu-number": 1, "volcano.sh/vgpu-memory": 40960},
    "hami": {GPU: 1, "nvidia.com/gpumem": 40960, "nvidia.com/gpucores": 50},
    "koordinator": {"koordinator.sh/gpu": 50},
}
"""
What half a GPU of such a node is, in the words of each contract.
"""


def given(contract, number):
    """
    Give the annotations by which a pod has half of a device.
    """
    cards = f"{UUIDS[number]},NVIDIA,40960,50:"
    return {
        "gpushare": {"ALIYUN_COM_GPU_MEM_IDX": str(number)},
        "vgpu": {"volcano.sh/vgpu-ids-new": cards},
        "hami": {"hami.io/vgpu-devices-allocated": f"{cards};"},
        "koordinator": {
            "scheduling.koordinator.sh/device-allocated": json.dumps(
                {"gpu": [{"minor": number}]}
            )
        },
    }[contract]


def stage_of(contract):
    """
    List the objects of one node.
    """
    return [node_of(contract), *([device()] if contract == "koordinator" else [])]

"""
One gang in the words of each system, with nodes and queues, as people would write them.
"""

from collections.abc import Iterable

GPU = "nvidia.com/gpu"


def manifests() -> list[dict]:
    return [
        *(node(index) for index in range(4)),
        *queues(),
        *kai(),
        *volcano(),
        *coscheduling(),
        *koordinator(),
        *native(),
        *plain(),
        *others(),
    ]


def node(index: int) -> dict:
    room = {"cpu": "64", "memory": "512Gi", GPU: "8", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"gpu-{index}",
            "labels": {
                "kubernetes.io/hostname": f"gpu-{index}",
                "topology.example/rack": f"rack-{index // 2}",
            },
        },
        "spec": {
            "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
            if index == 3
            else []
        },
        "status": {"allocatable": room, "capacity": room},
    }


def pod(
    space: str,
    name: str,
    *,
    gpus: int = 1,
    scheduler: str = "phalanx",
    node: str | None = None,
    labels: dict | None = None,
    annotations: dict | None = None,
    **spec: object,
) -> dict:
    metadata: dict = {"name": name, "namespace": space}
    metadata |= {"labels": labels} if labels else {}
    metadata |= {"annotations": annotations} if annotations else {}
    asked = {"cpu": "4", "memory": "16Gi", GPU: str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "schedulerName": scheduler,
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": "main",
                    "image": "train",
                    "resources": {"requests": asked, "limits": {GPU: str(gpus)}},
                }
            ],
            **({"nodeName": node} if node else {}),
            **spec,
        },
    }


def custom(version: str, kind: str, name: str, space: str = "", **spec: object) -> dict:
    metadata = {"name": name} | ({"namespace": space} if space else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def queues() -> Iterable[dict]:
    unlimited = {"quota": -1, "overQuotaWeight": 1, "limit": -1}
    shares = {"cpu": unlimited, "memory": unlimited}
    for name, parent, gpus in (("root", None, 24), ("team", "root", 16)):
        gpu = {"quota": gpus, "overQuotaWeight": 2, "limit": 32}
        spec: dict = {"resources": shares | {"gpu": gpu}, "priority": 100}
        spec |= {"parentQueue": parent} if parent else {}
        yield custom("scheduling.run.ai/v2", "Queue", name, **spec)
    yield custom(
        "scheduling.volcano.sh/v1beta1",
        "Queue",
        "batch",
        weight=2,
        capability={GPU: "16"},
    ) | {"status": {"state": "Open"}}


def kai() -> Iterable[dict]:
    yield custom(
        "kai.scheduler/v1alpha1",
        "Topology",
        "racks",
        levels=[
            {"nodeLabel": "topology.example/rack"},
            {"nodeLabel": "kubernetes.io/hostname"},
        ],
    )
    yield custom(
        "scheduling.run.ai/v2alpha2",
        "PodGroup",
        "serve",
        "kai",
        queue="team",
        minSubGroup=2,
        topologyConstraint={
            "topology": "racks",
            "requiredTopologyLevel": "topology.example/rack",
        },
        subGroups=[
            {"name": "decode", "minMember": 2},
            {"name": "prefill", "minMember": 1},
        ],
    )
    for part, number in (("decode", 3), ("prefill", 1)):
        for index in range(number):
            yield pod(
                "kai",
                f"serve-{part}-{index}",
                labels={"kai.scheduler/subgroup-name": part},
                annotations={"pod-group-name": "serve"},
            )


def volcano() -> Iterable[dict]:
    yield custom(
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        "train",
        "volcano",
        minMember=3,
        queue="batch",
        minResources={GPU: "3"},
    )
    for index in range(4):
        yield pod(
            "volcano",
            f"train-{index}",
            annotations={"scheduling.k8s.io/group-name": "train"},
        )


def coscheduling() -> Iterable[dict]:
    yield custom(
        "scheduling.x-k8s.io/v1alpha1",
        "PodGroup",
        "fit",
        "coscheduling",
        minMember=2,
        scheduleTimeoutSeconds=30,
    )
    for index in range(3):
        yield pod(
            "coscheduling",
            f"fit-{index}",
            node="gpu-0" if index == 0 else None,
            labels={"scheduling.x-k8s.io/pod-group": "fit"},
        )


def koordinator() -> Iterable[dict]:
    prefix = "gang.scheduling.koordinator.sh"
    mates = '["koordinator/left", "koordinator/right"]'
    for side in ("left", "right"):
        for index in range(2):
            yield pod(
                "koordinator",
                f"{side}-{index}",
                annotations={
                    f"{prefix}/name": side,
                    f"{prefix}/min-available": "2",
                    f"{prefix}/groups": mates,
                },
            )


def native() -> Iterable[dict]:
    yield custom(
        "scheduling.k8s.io/v1beta1",
        "PodGroup",
        "sim",
        "native",
        schedulingPolicy={"gang": {"minCount": 2}},
    )
    for index in range(3):
        yield pod("native", f"sim-{index}", schedulingGroup={"podGroupName": "sim"})


def plain() -> Iterable[dict]:
    yield pod(
        "plain",
        "alone",
        gpus=2,
        tolerations=[{"key": "gpu", "operator": "Exists"}],
        nodeSelector={"topology.example/rack": "rack-1"},
    )
    yield pod("plain", "gated", schedulingGates=[{"name": "example/wait"}])


def others() -> Iterable[dict]:
    yield pod("others", "load", scheduler="default-scheduler", node="gpu-1")
    yield pod("others", "waits", scheduler="default-scheduler")

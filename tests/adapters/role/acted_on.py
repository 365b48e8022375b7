"""
A cluster in which everything is there that makes `phalanx run` write something.
"""

from collections.abc import Iterator

from tests.cluster.provisioner import claim, local_volume, mounting, storage_class
from tests.helpers.kube.manifests import in_group, node, obj, pod, pod_group
from tests.helpers.rounds.devices import GPU_CLASS, attribute, device_class, gpu
from tests.helpers.rounds.devices import node_slice as slices_of
from tests.helpers.rounds.shared_gpus import HALF, asks, node_of

HOST = "kubernetes.io/hostname"
EXTENDED = "example.com/gpu"
GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
OF = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
VOLCANO_SHAPED = (
    "scheduling.volcano.sh/v1beta1",
    "scheduling.incubator.k8s.io/v1alpha1",
    "scheduling.roc/v1beta1",
)
TOO_MANY = 64


def everything() -> Iterator[dict]:
    """
    Give all of it.
    """
    yield obj("v1", "Namespace", "phalanx-system")
    yield obj("v1", "Namespace", "default")
    yield from kept_busy()
    yield from waiting_groups()
    yield from with_volumes()
    yield from with_devices()
    yield from sharing_gpus()


def host(name: str, gpus: int = 8, **labels: str) -> dict:
    return node(name, gpus, labels={HOST: name, **labels})


def on(name: str) -> dict:
    return {"nodeSelector": {HOST: name}}


def kept_busy() -> Iterator[dict]:
    """
    Give a pod that leaves for another one.
    """
    yield host("full")
    low = {"priority": 1, "nodeName": "full", "status": {"phase": "Running"}}
    yield pod("low", gpus=8, **low)
    yield pod("high", gpus=8, priority=2, **on("full"))


def waiting_groups() -> Iterator[dict]:
    """
    Give a group that never fits in the words of each system.
    """
    yield pod_group("coscheduling", 2)
    yield from _members("coscheduling", labels=in_group("coscheduling"))
    sigs = "scheduling.sigs.k8s.io"
    yield obj(f"{sigs}/v1alpha1", "PodGroup", "koordinator", "default") | {
        "spec": {"minMember": 2}
    }
    yield from _members("koordinator", labels={f"pod-group.{sigs}": "koordinator"})
    for at, version in enumerate(VOLCANO_SHAPED):
        name = f"volcano-{at}"
        yield obj(version, "PodGroup", name, "default", spec={"minMember": 2})
        group = version.partition("/")[0]
        word = "scheduling.volcano.sh" if "volcano" in group else "scheduling.k8s.io"
        yield from _members(name, annotations={f"{word}/group-name": name})
    yield obj("scheduling.run.ai/v2alpha2", "PodGroup", "kai", "default") | {
        "spec": {"minMember": 2}
    }
    yield from _members("kai", annotations={"pod-group-name": "kai"})
    yield from _short()
    yield from _native()


def _short() -> Iterator[dict]:
    """
    Give a group of KAI of which too few pods run, which is noted on it.
    """
    spec = {"minMember": 2}
    yield obj("scheduling.run.ai/v2alpha2", "PodGroup", "short", "default", spec=spec)
    yield host("runs")
    for at, gpus in enumerate((1, TOO_MANY)):
        here = {"nodeName": "runs", "status": {"phase": "Running"}} if at == 0 else {}
        said = {"pod-group-name": "short"}
        yield pod(f"short-{at}", gpus=gpus, annotations=said, **here)


def _native() -> Iterator[dict]:
    version = "scheduling.k8s.io/v1beta1"
    templates = [{"name": "top", "podGroupTemplates": [{"name": "t"}]}]
    yield obj(version, "Workload", "w", "default") | {
        "spec": {"compositePodGroupTemplates": templates}
    }
    above = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}, **OF}
    yield obj(
        "scheduling.k8s.io/v1alpha3", "CompositePodGroup", "top", "default", spec=above
    )
    below = {**GANG, **OF, "parentCompositePodGroupName": "top"}
    yield obj(version, "PodGroup", "native", "default", spec=below)
    yield from _members("native", schedulingGroup={"podGroupName": "native"})


def _members(name: str, **fields: object) -> Iterator[dict]:
    for at in range(2):
        more = {key: dict(value) for key, value in fields.items()}
        yield pod(f"{name}-{at}", gpus=TOO_MANY, **more)


def with_volumes() -> Iterator[dict]:
    """
    Give two gangs whose claims wait for their pods.
    """
    yield host("disks")
    yield storage_class("made")
    yield storage_class("local", provisioner="kubernetes.io/no-provisioner")
    for of in ("made", "local"):
        yield pod_group(of, 2)
        for at in range(2):
            name = f"{of}-{at}"
            yield claim("default", name, of)
            yield local_volume(f"disk-{at}", "disks")
            yield pod(name, labels=in_group(of), volumes=mounting(name), **on("disks"))


def with_devices() -> Iterator[dict]:
    """
    Give a pod that gets a claim of devices made.
    """
    yield host("devices", 0)
    yield slices_of("devices", [gpu(0)])
    kind = f"{attribute('type')} == 'gpu'"
    yield device_class(GPU_CLASS, kind, extendedResourceName=EXTENDED)
    raw = pod("asks", gpus=0, **on("devices"))
    raw["spec"]["containers"][0]["resources"] = {"requests": {EXTENDED: "1"}}
    yield raw


def sharing_gpus() -> Iterator[dict]:
    """
    Give a gang of halves of GPUs, which KAI's binder is asked to bind.
    """
    yield host("shared", 2, **{"nvidia.com/gpu.memory": "81559"})
    yield pod_group("halves", 4)
    for at in range(4):
        yield pod(
            f"halves-{at}",
            gpus=0,
            labels=in_group("halves"),
            annotations={"gpu-fraction": "0.5"},
            **on("shared"),
        )


def locked_by_turns() -> Iterator[dict]:
    """
    Give a pod on a node that HAMi shares, which is locked for each bind.
    """
    yield node_of("hami", "locked", **{HOST: "locked"})
    yield asks("half", **HALF["hami"])

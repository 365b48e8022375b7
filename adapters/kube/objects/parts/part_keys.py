"""
The words of contracts that share GPUs: resources and annotations, as data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.objects.fields import parsed_json
from models.resources import GPU

KAI, KOORDINATOR, VGPU, HAMI, GPUSHARE = (
    "kai",
    "koordinator",
    "vgpu",
    "hami",
    "gpushare",
)
NAMES_WHOLE = frozenset({KOORDINATOR, HAMI})
"""
The contracts that take names of whole GPUs, too: those that we give their pods.
"""
CORES_UNREAD = "aliyun.com/gpu-core.percentage"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractWords:
    """
    The resources that ask for a part, of which ``amount`` is written down again.

    ``replaced`` are no resources of nodes, or other ones there; ``wishes`` are
    annotations that choose devices, with the values that choose nothing.
    """

    name: str
    resources: tuple[str, ...]
    amount: str = ""
    replaced: tuple[str, ...] = ()
    wishes: Mapping[str, tuple[str, ...]]


KOORDINATOR_RESOURCES = (
    "koordinator.sh/gpu",
    "koordinator.sh/gpu-core",
    "koordinator.sh/gpu-memory",
    "koordinator.sh/gpu-memory-ratio",
    "koordinator.sh/gpu.shared",
)
VGPU_RESOURCES = (
    "volcano.sh/vgpu-number",
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-memory-percentage",
    "volcano.sh/vgpu-cores",
)
HAMI_RESOURCES = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
)
_TYPES = {"nvidia.com/use-gputype": (), "nvidia.com/nouse-gputype": ()}
READ: tuple[ContractWords, ...] = (
    ContractWords(
        name=KOORDINATOR,
        resources=KOORDINATOR_RESOURCES,
        replaced=("koordinator.sh/gpu",),
        wishes={},
    ),
    ContractWords(
        name=GPUSHARE,
        resources=("aliyun.com/gpu-mem",),
        amount="aliyun.com/gpu-mem",
        wishes={},
    ),
    ContractWords(
        name=VGPU,
        resources=VGPU_RESOURCES,
        replaced=("volcano.sh/vgpu-memory-percentage",),
        wishes={
            "volcano.sh/vgpu-use-gpuuuid": (),
            "volcano.sh/vgpu-nouse-gpuuuid": (),
            "volcano.sh/vgpu-mode": ("hami-core",),
            "volcano.sh/vgpu-podgroup-policy": (),
            **_TYPES,
        },
    ),
    ContractWords(
        name=HAMI,
        resources=HAMI_RESOURCES,
        replaced=(GPU, *HAMI_RESOURCES),
        wishes={
            "nvidia.com/use-gpuuuid": (),
            "nvidia.com/nouse-gpuuuid": (),
            "nvidia.com/vgpu-mode": ("hami-core",),
            "nvidia.com/numa-bind": ("false",),
            "hami.io/gpu-scheduler-policy": ("binpack", "spread", "topology-aware"),
            **_TYPES,
        },
    ),
)
"""
The contracts that are planned; of those that are not, pods wait.
"""


def wishes(contract: str, annotations: Mapping[str, str]) -> Iterator[str]:
    """
    Name the annotations that choose devices, which is not planned.
    """
    for words in READ:
        if words.name != contract:
            continue
        for key, harmless in words.wishes.items():
            said = annotations.get(key)
            if said is not None and said not in harmless:
                yield f"annotation {key}: choosing devices is not planned"


def names_gpus_only(text: str) -> bool:
    """
    Tell whether a joint allocation of Koordinator is of GPUs alone: that is any.
    """
    found = parsed_json(text)
    return isinstance(found, dict) and found.get("deviceTypes") == ["gpu"]


def only_prefers_links(text: str) -> bool:
    """
    Tell whether a wish for linked GPUs may be passed over: it asks for the best effort.
    """
    found = parsed_json(text)
    if not isinstance(found, dict):
        return False
    return found.get("allocatePolicy") in (None, "", "BestEffort")

"""
Parts of GPUs: how every contract asks for them, and which devices they hold already.

Where nobody of ours asks in a contract, a pod that runs holds its devices whole: one of
which somebody has a part is not free for whole-GPU work.  KAI itself keeps a pod that
asks for a whole GPU on each device it shares.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.kube.objects.fields import Json, mapping, parsed_json, records
from adapters.kube.objects.parts.part_keys import (
    CORES_UNREAD,
    GPUSHARE,
    HAMI,
    HAMI_RESOURCES,
    KAI,
    KOORDINATOR,
    KOORDINATOR_RESOURCES,
    READ,
    VGPU,
    VGPU_RESOURCES,
)
from models.resources import GPU, Resources

_LONGEST = 65_536
_NOT_PLANNED = "parts of a GPU are not planned"
_UUID = re.compile(r"(?:GPU|MIG)-[-0-9a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class SharedGpus:
    """
    The devices of which a pod has parts: those that are known by name, and how many.

    ``is_whole`` says that its request counts them among whole GPUs.
    """

    names: frozenset[str]
    count: int
    is_whole: bool = False


KEPT_FOR_IT = SharedGpus(frozenset(), 0)
"""
The devices of a pod that shares as KAI does: other pods keep them for its groups.
"""


@dataclass(frozen=True, slots=True)
class Words:
    """
    What a pod says of its devices: in annotations, and in its request.
    """

    said: Mapping[str, str]
    asked: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """
    How one system shares devices.

    ``resources`` ask for parts; ``prefix`` is what names of annotations begin with
    that ask for parts which are not planned.  ``names`` reads which devices a pod was
    given from its annotations, ``count`` how many it asks for.
    """

    name: str
    prefix: str = ""
    resources: tuple[str, ...] = ()
    names: Callable[[Words], Iterable[str]] = lambda _: ()
    count: Callable[[Words], int] = lambda _: 1


def _minors(pod: Words) -> Iterator[str]:
    """
    Give the minors of GPUs that Koordinator wrote down.
    """
    text = pod.said.get("scheduling.koordinator.sh/device-allocated", "")
    found = parsed_json(text)
    listed = found.get("gpu") if isinstance(found, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("minor"), int):
            yield str(entry["minor"])


def _listed(key: str) -> Callable[[Words], Iterable[str]]:
    return lambda pod: filter(None, pod.said.get(key, "")[:_LONGEST].split(","))


def _uuids(key: str) -> Callable[[Words], Iterable[str]]:
    return lambda pod: _UUID.findall(pod.said.get(key, "")[:_LONGEST])


def _percent(pod: Words) -> int:
    """
    Count devices by Koordinator's percent, or as many as share it.
    """
    shared = pod.asked.get("koordinator.sh/gpu.shared", 0)
    words = ("gpu", "gpu-core", "gpu-memory-ratio")
    most = max(pod.asked.get(f"koordinator.sh/{word}", 0) for word in words)
    return max(1, shared, -(-most // 100))


def _asked(resource: str) -> Callable[[Words], int]:
    return lambda pod: max(1, pod.asked.get(resource, 0))


CONTRACTS: tuple[Contract, ...] = (
    Contract(name=KAI, prefix="nvidia.com/container."),
    Contract(
        name=KOORDINATOR,
        resources=KOORDINATOR_RESOURCES,
        names=_minors,
        count=_percent,
    ),
    Contract(
        name=GPUSHARE,
        resources=("aliyun.com/gpu-mem", "aliyun.com/gpu-core.percentage"),
        names=_listed("ALIYUN_COM_GPU_MEM_IDX"),
    ),
    Contract(
        name="volcano-gpushare",
        resources=("volcano.sh/gpu-memory", "volcano.sh/gpu-number"),
        names=_listed("volcano.sh/gpu-index"),
        count=_asked("volcano.sh/gpu-number"),
    ),
    Contract(
        name=VGPU,
        resources=VGPU_RESOURCES,
        names=_uuids("volcano.sh/vgpu-ids-new"),
        count=_asked("volcano.sh/vgpu-number"),
    ),
    Contract(
        name=HAMI,
        resources=HAMI_RESOURCES,
        names=_uuids("hami.io/vgpu-devices-allocated"),
        count=_asked(GPU),
    ),
)
"""
Who shares devices how; `docs/reference/dialects.md` lists the words.
"""

_PREFIXES = tuple(each.prefix for each in CONTRACTS if each.prefix)
_BY_RESOURCE = {name: each for each in CONTRACTS for name in each.resources}
_PLANNED = {name for words in READ for name in words.resources}
_UNPLANNED = (_BY_RESOURCE.keys() - _PLANNED) | {CORES_UNREAD}
_BY_NAME = {each.name: each for each in CONTRACTS}


def asked_by_annotation(annotations: Mapping[str, str]) -> Iterator[str]:
    """
    Name the annotations that ask for a part of a GPU that is not planned.
    """
    for key in annotations:
        if key.startswith(_PREFIXES):
            yield f"annotation {key}: {_NOT_PLANNED}"


def asked_by_resource(spec: Json) -> Iterator[str]:
    """
    Name the resources of containers that are parts of GPUs, and not planned.
    """
    for word in ("containers", "initContainers"):
        for index, container in enumerate(records(spec, word, "spec")):
            place = f"spec.{word}[{index}]"
            resources = mapping(container, "resources", place)
            for kind in ("requests", "limits"):
                for name in mapping(resources, kind, f"{place}.resources"):
                    if name in _UNPLANNED:
                        yield f"{place}.resources.{kind}[{name}]: {_NOT_PLANNED}"


def shared_by(annotations: Mapping[str, str], requests: Resources) -> SharedGpus | None:
    """
    Say of which devices a pod that runs has parts; none where it has none.

    Its request says how many: no node takes a pod that asks for what it does not offer.
    What annotations say only tells which, so nobody can take up a node by writing.
    """
    contracts = {
        each.name: each for name in requests if (each := _BY_RESOURCE.get(name))
    }
    if not contracts:
        return None
    pod = Words(annotations, requests)
    names: set[str] = set()
    count = 0
    for each in contracts.values():
        asked = each.count(pod)
        found = {f"{each.name}/{name}" for name in each.names(pod)}
        names |= found if len(found) <= asked else set()
        count = max(count, asked)
    return SharedGpus(frozenset(names), count, is_whole=HAMI in contracts)


def names_under(
    contract: str, annotations: Mapping[str, str], requests: Resources
) -> tuple[str, ...]:
    """
    Name the devices that a contract gave a pod, as its annotations say.
    """
    return tuple(_BY_NAME[contract].names(Words(annotations, requests)))


def devices_held(pods: Iterable[SharedGpus], others: Iterable[str] = ()) -> int:
    """
    Count the devices of one node of which somebody has a part, and others: known once.
    """
    names = set(others)
    unknown = 0
    for pod in pods:
        names |= pod.names
        unknown += max(0, pod.count - len(pod.names))
    return len(names) + unknown


def num_devices(annotations: Mapping[str, Any]) -> int | None:
    """
    Count the GPUs of a node on which HAMi offers each of them many times.
    """
    text = annotations.get("hami.io/node-nvidia-register")
    if not isinstance(text, str) or not text.strip():
        return None
    if text.lstrip().startswith("["):
        found = parsed_json(text)
        return len(found) if isinstance(found, list) else None
    return sum(bool(entry.strip(" ,")) for entry in text.split(":"))

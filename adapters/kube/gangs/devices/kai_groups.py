"""
GPUs of a node that pods share as KAI does: its groups, and what is left of them.

Such a node gives whole GPUs too: for each group a pod of KAI keeps one of them, and the
kubelet picks those that are whole.  Numbers of devices tell groups apart, and no more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.kube.gangs.devices.shared_devices import Devices, SharedNode
from adapters.kube.objects.parts.kai_parts import (
    GROUP,
    RESERVATIONS,
    SLOTS,
    SLOTS_PER_GPU,
    groups_of,
    memory_of,
    numbered,
    why_not_shared,
)
from adapters.kube.objects.parts.part_keys import KAI
from adapters.kube.objects.pod_record import PodRecord
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, TakenDevice
from models.gangs import PodPhase
from models.nodes import Node
from models.resources import GPU, PODS


@dataclass(slots=True)
class _GroupLoad:
    """
    What is known of one group: whether a GPU is kept for it, and what others have.
    """

    is_kept: bool = False
    is_left: bool = False
    others: int = 0
    cores: int = 0
    memory: int = 0


def kai_node(
    node: Node,
    ours: Sequence[PodRecord],
    others: Sequence[PodRecord],
    *,
    is_served: bool,
) -> SharedNode:
    """
    Say of a node what is left of the GPUs that are shared as KAI does.

    Nothing new shares them unless KAI's binder ``is_served``.
    """
    number = node.allocatable.get(GPU, 0)
    memory = memory_of(node.labels)
    groups = _groups(others, memory)
    at = numbered([*groups, *_all_of(ours)], number)
    why = [*why_not_shared(node.labels), *_unknown([*ours, *others], at)]
    said = [f"node {node.name}: nothing new shares its GPUs: {each}" for each in why]
    kept = [group for group, what in groups.items() if what.is_kept and group in at]
    unkept = [g for g, what in groups.items() if not what.is_kept and g in at]
    used = {**node.used}
    if unkept:
        used[GPU] = used.get(GPU, 0) + len(unkept)
    offered = {**node.allocatable, SLOTS: 0 if why else number * SLOTS_PER_GPU}
    if not is_served:
        del offered[SLOTS]
    if PODS in offered:  # each group that is opened takes the place of a pod
        offered[PODS] = max(0, offered[PODS] - max(0, number - len(kept)))
    taken = [_taken(at[group], groups[group], memory) for group in (*kept, *unkept)]
    made = replace(
        node,
        allocatable=offered,
        used=used,
        gpu_memory=memory,
        taken=tuple(sorted(taken)),
    )
    contract = KAI if is_served and not why else ""
    return SharedNode(made, _held(ours, at, number), tuple(said[:1]), contract)


def _groups(others: Iterable[PodRecord], memory: int) -> dict[str, _GroupLoad]:
    """
    Add up what others have of each group.
    """
    found: dict[str, _GroupLoad] = {}
    for pod in others:
        if pod.namespace == RESERVATIONS and GROUP in pod.labels:
            group = found.setdefault(pod.labels[GROUP], _GroupLoad())
            group.is_kept |= pod.requests.get(GPU, 0) > 0
            group.is_left |= pod.phase is PodPhase.TERMINATING
        elif (part := _part(pod)) is not None:
            for name in _names(pod):
                group = found.setdefault(name, _GroupLoad())
                group.others += 1
                group.cores += part.cores
                group.memory += part.memory_on(memory)
    return found


def _part(pod: PodRecord) -> GpuPart | None:
    is_kai = pod.part is not None and pod.part.part.contract == KAI
    return pod.part.part if pod.part is not None and is_kai else None


def _names(pod: PodRecord) -> tuple[str, ...]:
    return groups_of(pod.labels, pod.annotations)


def _all_of(pods: Iterable[PodRecord]) -> Iterator[str]:
    for pod in pods:
        if _part(pod) is not None:
            yield from _names(pod)


def _unknown(pods: Iterable[PodRecord], at: Mapping[str, int]) -> Iterator[str]:
    """
    Name the pods of which nobody knows which GPUs they share.
    """
    for pod in pods:
        part = _part(pod)
        if part is None:
            if pod.shared is not None and pod.part is not None:
                yield f"pod {pod.key} is there under another contract"
            continue
        names = _names(pod)
        if len(names) != part.count or not at.keys() >= set(names):
            yield f"nobody knows which of them pod {pod.key} has"


def _taken(device: int, group: _GroupLoad, memory: int) -> TakenDevice:
    """
    Say what others have of a device; one that is given back is nobody's to share.
    """
    if group.is_left:
        return TakenDevice(device)
    return TakenDevice(device, KAI, min(WHOLE, group.cores), min(memory, group.memory))


def _held(ours: Iterable[PodRecord], at: Mapping[str, int], number: int) -> Devices:
    """
    Give the devices of our pods; some that nobody has where nobody knows which.
    """
    found: dict[str, tuple[GpuDevice, ...]] = {}
    spare = [n for n in range(number) if n not in at.values()]
    for pod in ours:
        part = _part(pod)
        if part is None:
            continue
        numbers = [at[name] for name in _names(pod) if name in at]
        if len(numbers) != part.count:
            numbers = [*spare, *range(number)][: part.count]
        found[pod.key] = tuple(map(GpuDevice, sorted(set(numbers))))
    return found

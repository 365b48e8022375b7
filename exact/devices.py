"""
Parts of GPUs in the small model: one variable per pod, device, and slice to begin at.
"""

from models.gangs import PodPhase, PodSet, pod_sets
from models.gpu_parts import GpuDevice, GpuPart, part_of
from models.snapshot import Snapshot

HOLDING = (PodPhase.RUNNING, PodPhase.TERMINATING)
Held = dict[int, list[tuple[GpuPart, GpuDevice]]]


def held_devices(snapshot: Snapshot) -> dict[str, Held]:
    """
    List per node and device the parts that pods on it have.
    """
    found: dict[str, Held] = {}
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            part = part_of(leaf.requests)
            for pod in leaf.pods if part is not None else ():
                if pod.phase in HOLDING and pod.node:
                    node = found.setdefault(pod.node, {})
                    for place in pod.devices:
                        assert part is not None
                        node.setdefault(place.device, []).append((part, place))
    return found


def asks_for_parts(leaf: PodSet) -> bool:
    """
    Tell whether the pods of a leaf ask for parts of GPUs.
    """
    return part_of(leaf.requests) is not None

"""
What the devices of an empty node hold of one kind of part.
"""

from models.devices.gpu_parts import WHOLE, GpuPart
from models.devices.mig_profiles import MIG_MODELS, MigProfile
from models.nodes import Node
from models.resources import GPU


def profile_on(node: Node, part: GpuPart) -> MigProfile | None:
    """
    Give the profile that a part asks for, as a node's devices have it.
    """
    if node.mig is None:
        return None
    return MIG_MODELS.get(node.mig.model, {}).get(part.profile)


def num_alone(node: Node, part: GpuPart) -> int:
    """
    Count the pods with a part that an empty node holds if nobody else is there.
    """
    devices = max(0, node.allocatable.get(GPU, 0) - node.used.get(GPU, 0))
    if part.profile:
        profile = profile_on(node, part)
        if profile is None or node.mig is None:
            return 0
        each = 1 if profile.is_single else 0
        end = 0
        for start in profile.starts if not each else ():
            if start >= end:
                each, end = each + 1, start + profile.size
        return min(devices, len(node.mig.devices)) * each // part.count
    each = _num_sharers(node, part, 0, 0)
    others = [
        _num_sharers(node, part, one.cores, one.memory)
        for one in node.taken
        if one.contract == part.contract
    ]
    if not each or devices + sum(map(bool, others)) < part.count:
        return 0
    return (devices * each + sum(others)) // part.count


def _num_sharers(node: Node, part: GpuPart, cores: int, memory: int) -> int:
    """
    Count the pods with a part on one device of which so much is taken.
    """
    own = part.memory_on(node.gpu_memory)
    most = [max(0, WHOLE - cores) // part.cores] if part.cores else []
    most += [max(0, node.gpu_memory - memory) // own] if own else []
    return min(most, default=0)

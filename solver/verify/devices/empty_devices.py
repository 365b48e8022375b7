"""
What the devices of an empty node hold of one kind of part.
"""

from models.gpu_parts import WHOLE, GpuPart
from models.mig_profiles import MIG_MODELS, MigProfile
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
    if devices < part.count or part.memory > node.gpu_memory:
        return 0
    memory = part.memory_on(node.gpu_memory)
    most = [WHOLE // part.cores] if part.cores else []
    most += [node.gpu_memory // memory] if memory else []
    return devices * min(most) // part.count

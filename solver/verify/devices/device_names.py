"""
Rules about the devices that a plan names, each by itself.
"""

from collections.abc import Iterator

from models.devices.gpu_parts import DeviceAmounts, GpuDevice, GpuPart, part_of, shown
from models.nodes import Node
from models.plan import Operation
from models.resources import GPU
from models.why.reasons import counted
from solver.verify.devices.empty_devices import profile_on
from solver.verify.evidence import Evidence
from solver.verify.violation import Violation


def device_names(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a pod gets as many different devices as it asks for parts of.

    One that asks for no part names none.  Every device exists on the node; instances
    lie where their profile may begin, on devices that may be cut.
    """
    for step in evidence.steps:
        operation, leaf = step.operation, step.leaf
        node = evidence.nodes.get(operation.node)
        if leaf is None or node is None or operation.op == "Evict":
            continue
        part = part_of(leaf.requests)
        if part is None and not operation.devices:
            continue
        message = _misnamed(part, operation, node)
        if message:
            yield Violation("device-named", operation.pod, message)


def _misnamed(part: GpuPart | None, operation: Operation, node: Node) -> str:
    if part is None:
        return "it asks for no part of a GPU, and the plan names devices"
    found = operation.devices
    have = node.allocatable.get(GPU, 0)
    if len(found) != part.count:
        return f"it asks for {part}, and the plan names {counted(len(found), 'device')}"
    if far := [x.device for x in found if not 0 <= x.device < have]:
        return f"{node.name} has no device {far[0]}, it has {have}"
    said = operation.of_each
    if said is not None and said != DeviceAmounts.of(part, node.gpu_memory):
        return f"it asks for {part}, and the plan gives it {_words(said)}"
    return _miscut(part, found, node) if part.profile else _unlike(part, found)


def _words(said: DeviceAmounts) -> str:
    if said.profile:
        return f"an instance {said.profile}"
    return f"{shown(said.cores)} of the compute and {said.memory:,} MiB of each"


def _unlike(part: GpuPart, found: tuple[GpuDevice, ...]) -> str:
    if any(one.start >= 0 for one in found):
        return "only MIG instances begin at a slice"
    if len({one.device for one in found}) < len(found):
        return f"it asks for {part}, and one device is named twice"
    return ""


def _miscut(part: GpuPart, found: tuple[GpuDevice, ...], node: Node) -> str:
    profile = profile_on(node, part)
    if node.mig is None or profile is None:
        return f"no device of {node.name} has MIG instances {part.profile}"
    for one in found:
        if one.device not in node.mig.devices:
            return f"device {one.device} of {node.name} may not be cut"
        if one.start not in profile.starts:
            return f"{part.profile} does not begin at slice {one.start}"
    return ""

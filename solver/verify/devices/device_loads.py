"""
The rule of what lies on each GPU of a node, now and after the plan.

Whole GPUs are counted, parts lie on devices with names; no device is both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, part_of, shown
from models.gangs import ON_A_NODE, Pod, PodPhase, PodSet, pod_sets
from models.memory.aged_gangs import still
from models.nodes import Node
from models.resources import GPU, GPU_SHARE
from solver.verify.devices.empty_devices import profile_on
from solver.verify.evidence import Evidence
from solver.verify.plan_steps import Step, is_leaving
from solver.verify.tied_pieces import free_pieces
from solver.verify.violation import Violation


@dataclass(slots=True)
class DeviceLoad:
    """
    What lies on one device: who has which part, and slices with those who have them.
    """

    parts: list[tuple[str, GpuPart]] = field(default_factory=list)
    slices: dict[int, list[str]] = field(default_factory=dict)
    media: list[str] = field(default_factory=list)
    is_new: bool = False

    def add(self, name: str, part: GpuPart, start: int, node: Node) -> None:
        """
        Lay a part of a pod on it.
        """
        self.parts.append((name, part))
        profile = profile_on(node, part)
        if profile is not None:
            for at in range(start, start + profile.size):
                self.slices.setdefault(at, []).append(name)
            self.media += [name] * profile.is_single


@dataclass(slots=True)
class _NodeLoad:
    """
    What lies on the devices of one node, and how many pods have whole.

    ``opens`` says that the plan takes devices there of which nobody has a part.
    """

    devices: dict[int, DeviceLoad] = field(default_factory=dict)
    whole: int = 0
    gets_more: bool = False
    opens: bool = False


def device_capacities(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every device holds what lies on it, now and after the plan.

    Per device: one contract, compute ≤ 1, memory ≤ what it has, and no slice twice; per
    node: used + pods' whole GPUs + other devices of which one has a part ≤ allocatable.
    """
    if not any(GPU_SHARE in node.allocatable for node in evidence.nodes.values()):
        return
    for later in (False, True):
        pieces = free_pieces(evidence, later=later)
        loads = _loads(evidence, later=later)
        for name in sorted(loads):
            load, node = loads[name], evidence.nodes[name]
            if not load.gets_more:
                continue
            when = "after the plan" if later else "now"
            for number, device in sorted(load.devices.items()):
                what = overfull(device, node) if device.is_new else ""
                if what:
                    where = f"{name}/{number}"
                    yield Violation("device-capacity", where, f"{when}, {what}")
            free = pieces.get(name, {}).get(GPU, 0)
            message = _too_many(load, node, free) if load.opens else ""
            if message:
                yield Violation("device-capacity", name, f"{when}, {message}")


def _too_many(load: _NodeLoad, node: Node, free: int) -> str:
    """
    Say that more GPUs are taken than there are; those of others are counted as used.

    Of these so many are ``free`` since nobody is tied to them.
    """
    have, used = node.allocatable.get(GPU, 0), node.used.get(GPU, 0) - free
    shared = len(load.devices.keys() - {one.device for one in node.taken})
    if used + load.whole + shared <= have:
        return ""
    whole = f"{used + load.whole} of its {have} GPUs are whole"
    return f"{whole} and {shared} are shared or cut"


def _loads(evidence: Evidence, *, later: bool) -> dict[str, _NodeLoad]:
    """
    Lay all pods out on devices, as they are or as they are after the plan.
    """
    loads = {name: _of_others(node) for name, node in evidence.nodes.items()}
    taken = {step.operation.pod for step in evidence.steps if step.takes}
    for gang in still(evidence.snapshot.gangs):
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                name = f"{gang.namespace}/{pod.name}"
                gone = later and (name in taken or _is_going(evidence, gang.key, pod))
                if pod.phase in ON_A_NODE and pod.node in loads and not gone:
                    assert pod.node is not None
                    node = evidence.nodes[pod.node]
                    _lay(loads[pod.node], node, leaf, name, pod.devices)
    for step in evidence.steps:
        _lay_new(evidence, loads, step, later=later)
    return loads


def _of_others(node: Node) -> _NodeLoad:
    """
    Lay out what work that is not ours has of a node's devices.
    """
    load = _NodeLoad()
    for one in node.taken:
        cores = one.cores if one.contract else WHOLE
        memory = one.memory if one.contract else node.gpu_memory
        part = GpuPart(one.contract or "one who has it whole", cores, memory=memory)
        load.devices[one.device] = DeviceLoad(parts=[("others", part)])
    return load


def _is_going(evidence: Evidence, key: str, pod: Pod) -> bool:
    """
    Tell whether a pod's room can be counted on later; ask by its time as it is now.
    """
    if pod.phase is not PodPhase.TERMINATING:
        return False
    gang = evidence.gangs[key]
    pods = (p for leaf in pod_sets(gang.tree) for p in leaf.pods)
    return any(p.name == pod.name and is_leaving(p) for p in pods)


def _lay_new(
    evidence: Evidence, loads: Mapping[str, _NodeLoad], step: Step, *, later: bool
) -> None:
    operation, leaf, pod = step.operation, step.leaf, step.pod
    node = evidence.nodes.get(operation.node)
    if leaf is None or pod is None or node is None or step.again:
        return
    places = operation.op == "Bind" or (later and operation.op == "Reserve")
    moves = later and operation.op == "Move" and step.takes
    if not moves and not (places and pod.phase not in ON_A_NODE):
        return
    load = loads[operation.node]
    part = part_of(leaf.requests)
    if part is not None or leaf.requests.get(GPU, 0):
        load.gets_more = True
    _lay(load, node, leaf, operation.pod, operation.devices, is_new=True)


def _lay(
    load: _NodeLoad,
    node: Node,
    leaf: PodSet,
    name: str,
    devices: tuple[GpuDevice, ...],
    *,
    is_new: bool = False,
) -> None:
    part = part_of(leaf.requests)
    if part is None:
        load.whole += leaf.requests.get(GPU, 0)
        load.opens |= is_new
        return
    for one in devices:
        load.opens |= is_new and one.device not in load.devices
        device = load.devices.setdefault(one.device, DeviceLoad())
        device.is_new |= is_new
        device.add(name, part, one.start, node)


def overfull(device: DeviceLoad, node: Node) -> str:
    """
    Say what is too much on one device; nothing where all has room.
    """
    parts = [part for _, part in device.parts]
    kinds = sorted({"MIG" if part.profile else part.contract for part in parts})
    if len(kinds) > 1:
        return f"it is shared by {' and '.join(kinds)}"
    cores = sum(part.cores for part in parts)
    if cores > WHOLE:
        return f"{shown(cores)} of its compute is taken"
    memory = sum(part.memory_on(node.gpu_memory) for part in parts)
    if memory > node.gpu_memory:
        return f"{memory} MiB of its {node.gpu_memory} are taken"
    for at, names in sorted(device.slices.items()):
        if len(names) > 1:
            return f"slice {at} is taken by {' and '.join(sorted(names))}"
    if len(device.media) > 1:
        return f"{' and '.join(sorted(device.media))} both have its media engines"
    return ""

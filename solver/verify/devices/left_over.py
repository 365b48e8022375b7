"""
The rule of what a plan says of use that nobody has: counted anew, device by device.

It is counted where nobody leaves and nothing is reserved: then what is there before and
what is bound is all that is there afterwards.  Where nobody asks for parts of GPUs, one
that others share is a whole one that is used.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, is_reckoned, part_of
from models.devices.typical_pods import TypicalPod, typical_pods
from models.gangs import PodPhase, pod_sets
from models.memory.aged_gangs import still
from models.nodes import Node
from models.resources import GPU, GPU_SHARE
from solver.verify.devices.device_loads import DeviceLoad, overfull
from solver.verify.devices.empty_devices import profile_on
from solver.verify.evidence import Evidence
from solver.verify.tied_pieces import left_by_others
from solver.verify.violation import Violation

_TWENTIETH = 50_000
_SLICES = 8
_CHANGES = frozenset({"Evict", "Move", "Reserve"})
On = list[tuple[GpuPart, GpuDevice]]


def expected_fragments(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that what is said to be of no use is what the plan's operations make of it.
    """
    said = [t for t in evidence.plan.tiers if t.name == "expected-fragments"]
    if not said or not _is_calm(evidence):
        return
    typical = typical_pods(evidence.snapshot, evidence.policy)
    free, parts = _laid_out(evidence)
    found = sum(
        _on_node(node, free[name], parts[name], typical)
        for name, node in evidence.nodes.items()
    )
    if typical and found != said[0].value:
        message = f"said to be {said[0].value} twentieths of a GPU, found {found}"
        yield Violation("expected-fragments", "expected-fragments", message)


def _is_calm(evidence: Evidence) -> bool:
    """
    Tell whether nobody leaves, and nobody has or gets a promise.
    """
    there = {
        pod.phase
        for gang in still(evidence.snapshot.gangs)
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }
    done = {step.operation.op for step in evidence.steps}
    phases = there & {PodPhase.TERMINATING, PodPhase.RESERVED}
    return not phases and not done & _CHANGES


def _laid_out(
    evidence: Evidence,
) -> tuple[Mapping[str, Counter[str]], Mapping[str, On]]:
    """
    Take from each node what lies on it after the plan, and list parts with devices.
    """
    free = left_by_others(evidence)
    parts: dict[str, On] = {name: [] for name in evidence.nodes}
    coming = {}
    for step in evidence.steps:
        if step.operation.op == "Bind":
            coming[step.operation.pod] = step.operation.node, step.operation.devices
    for gang in still(evidence.snapshot.gangs):
        for leaf in pod_sets(gang.tree):
            part = part_of(leaf.requests)
            for pod in leaf.pods:
                where, devices = pod.node, pod.devices
                if pod.phase is not PodPhase.RUNNING:
                    name = f"{gang.namespace}/{pod.name}"
                    where, devices = coming.get(name, (None, ()))
                if where not in free:
                    continue
                for resource, amount in leaf.requests.items():
                    free[where][resource] -= amount * (not is_reckoned(resource))
                if part is not None:
                    parts[where] += [(part, device) for device in devices]
    return free, parts


def _on_node(
    node: Node,
    free: Counter[str],
    parts: On,
    typical: tuple[TypicalPod, ...],
) -> int:
    on: dict[int, On] = {}
    counted = set()
    asked = GPU_SHARE in node.allocatable
    for one in node.taken if asked else ():
        counted.add(one.device)
        if one.contract:
            theirs = GpuPart(one.contract, one.cores, memory=one.memory)
            on.setdefault(one.device, []).append((theirs, GpuDevice(one.device)))
    for part, device in parts:
        on.setdefault(device.device, []).append((part, device))
    idle = max(0, free[GPU] - len(on.keys() - counted))
    left = {device: _left(node, there) for device, there in on.items()}
    total = idle * WHOLE + sum(left.values())
    lost = 0
    for pod in typical:
        pods = min((free[r] // n for r, n in pod.requests), default=total)
        used = 0
        if pod.allows(node) and pods > 0:
            used = _used(node, pod, idle, on, left)
        lost += pod.weight * (2 * total - used - min(used, max(0, pods) * pod.size))
    return (lost + _TWENTIETH) // (2 * _TWENTIETH)


def _used(
    node: Node, pod: TypicalPod, idle: int, on: dict[int, On], left: dict[int, int]
) -> int:
    part = pod.part
    if part is None:
        return idle * WHOLE if idle >= pod.gpus else 0
    able = [device for device, there in on.items() if _holds(node, there, part)]
    fresh = idle if part.memory_on(node.gpu_memory) <= node.gpu_memory else 0
    if part.profile:
        known = node.mig is not None and profile_on(node, part) is not None
        fresh = min(idle, len(node.mig.devices)) if known and node.mig else 0
    if len(able) + fresh < part.num_different:
        return 0
    return fresh * WHOLE + sum(left[device] for device in able)


def _slices(node: Node, there: On) -> set[int]:
    taken: set[int] = set()
    for part, place in there:
        profile = profile_on(node, part)
        if profile is not None:
            taken |= {*range(place.start, place.start + profile.size)}
    return taken


def _left(node: Node, there: On) -> int:
    """
    Give the thousandths left of a device: of compute or memory, or of its slices.

    Nothing is left where those who are there have more than there is.
    """
    if _is_overfull(node, there):
        return 0
    if there[0][0].profile:
        return (_SLICES - len(_slices(node, there))) * WHOLE // _SLICES
    cores = WHOLE - sum(part.cores for part, _ in there)
    if not node.gpu_memory:
        return cores
    taken = sum(part.memory_on(node.gpu_memory) for part, _ in there)
    return min(cores, (node.gpu_memory - taken) * WHOLE // node.gpu_memory)


def _is_overfull(node: Node, there: On) -> bool:
    load = DeviceLoad()
    for part, place in there:
        load.add("", part, place.start, node)
    return bool(overfull(load, node))


def _holds(node: Node, there: On, part: GpuPart) -> bool:
    """
    Tell whether a device on which somebody is holds one more part.
    """
    mine = there[0][0]
    if _is_overfull(node, there) or bool(part.profile) != bool(mine.profile):
        return False
    if not part.profile:
        cores = sum(each.cores for each, _ in there) + part.cores
        memory = sum(each.memory_on(node.gpu_memory) for each, _ in there)
        more = part.memory_on(node.gpu_memory)
        fits = cores <= WHOLE and memory + more <= node.gpu_memory
        return fits and mine.contract == part.contract
    profile = profile_on(node, part)
    if profile is None:
        return False
    taken = _slices(node, there)
    profiles = [profile_on(node, each) for each, _ in there]
    has_media = any(one is not None and one.is_single for one in profiles)
    if profile.is_single and has_media:
        return False
    wanted = ({*range(at, at + profile.size)} for at in profile.starts)
    return any(not taken & slices for slices in wanted)

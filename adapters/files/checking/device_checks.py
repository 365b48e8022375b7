"""
What must agree of devices: what a part of a GPU asks for, and where parts run.

That no node could ever hold a part is no fault here: its gang waits and is told why.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from adapters.files.checking.problems import Fault, Path, suggest
from models.devices.gpu_parts import PHALANX
from models.devices.mig_profiles import MIG_MODELS, PROFILE_NAMES
from models.documents.place_specs import GpuDeviceSpec, GpuSpec
from models.documents.scenario import NodeSpec, OnDevices, ReservedSpec, TreeSpec
from models.resources import CLAIMED_GPUS, GPU, is_gpu
from models.why.reasons import does

Nodes = Mapping[str, NodeSpec]
_SIZES = ("fraction", "memory", "share", "mig")
_WAYS = (
    "a part is a fraction, memory or a share of it (with cores or without), "
    "or instances of mig"
)


def node_device_faults(node: NodeSpec, place: Path) -> Iterator[Fault]:
    """
    Find devices that the node has not, and models that nobody can cut.
    """
    yield from _taken_faults(node, (*place, "taken"))
    yield from _tied_faults(node, (*place, "tied"))
    if node.mig is None:
        return
    here: Path = (*place, "mig")
    if node.mig.model not in MIG_MODELS:
        known = sorted(MIG_MODELS)
        hint = suggest(node.mig.model, known, f"known here: {', '.join(known)}")
        yield (*here, "model"), f'no placements of "{node.mig.model}" are known', hint
    have = node.allocatable.get(GPU, 0)
    for index, device in enumerate(node.mig.devices):
        at: Path = (*here, "devices", index)
        if device >= have:
            yield at, _no_such(device, have), ""
        elif device in node.mig.devices[:index]:
            yield at, f"device {device} is listed twice", ""


def _tied_faults(node: NodeSpec, here: Path) -> Iterator[Fault]:
    """
    Find pieces that come to more than what is used of the node.
    """
    total: Counter[str] = Counter()
    for at, piece in enumerate(node.tied):
        total.update(piece)
        for name in piece:
            if total[name] > (used := node.used.get(name, 0)):
                what = f"{total[name]} are tied, and used says {used}"
                yield (*here, at, name), what, "used counts what is tied, too"


def _taken_faults(node: NodeSpec, here: Path) -> Iterator[Fault]:
    """
    Find devices of others that contradict themselves, or what is used of the node.
    """
    have, seen = node.allocatable.get(GPU, 0), set()
    for index, one in enumerate(node.taken):
        at: Path = (*here, index)
        if one.device >= have:
            yield (*at, "device"), _no_such(one.device, have), ""
        elif one.device in seen:
            yield (*at, "device"), f"device {one.device} is listed twice", ""
        seen.add(one.device)
        says_parts = one.cores is not None or one.memory is not None
        if says_parts and one.contract is None:
            hint = "a device that is taken whole says neither"
            yield at, "parts of a device are taken under no contract", hint
        if (one.memory or 0) > node.gpu_memory:
            what = "more memory is taken than the device has"
            yield (*at, "memory"), what, "gpuMemory says what each has"
    used = node.used.get(GPU, 0)
    if len(node.taken) > used:
        taken = does(len(node.taken), "device is", "devices are")
        what = f"{taken} taken, and used says {used}"
        yield here, what, f"used counts them too: {GPU}: {len(node.taken)}"


def _no_such(device: int, have: int) -> str:
    return f"there is no device {device}: the node has {have}, counted from 0"


def part_faults(leaf: TreeSpec, place: Path) -> Iterator[Fault]:
    """
    Find contradictions in what a leaf asks for of devices.
    """
    part = leaf.gpu
    if part is None:
        return
    here: Path = (*place, "gpu")
    ways = [word for word in _SIZES if getattr(part, word)]
    if len(ways) != 1:
        said = " and ".join(ways) or "nothing"
        yield here, f"it says {said}, and one of them is needed", _WAYS
    if part.cores is not None and part.memory is None and part.share is None:
        yield (*here, "cores"), "cores need memory beside them", _WAYS
    if part.mig is None:
        if part.count is not None:
            yield (*here, "count"), "count is of MIG instances", "devices counts GPUs"
    else:
        yield from _instance_faults(part, here)
    whole = next((n for n, amount in leaf.requests.items() if is_gpu(n) and amount), "")
    if whole:
        what = f"parts of GPUs and {whole} are asked for together"
        yield here, what, "a pod has whole GPUs or parts of them"


def _instance_faults(part: GpuSpec, here: Path) -> Iterator[Fault]:
    if part.mig not in PROFILE_NAMES:
        what = f'no GPU has a MIG profile "{part.mig}"'
        yield (*here, "mig"), what, suggest(str(part.mig), sorted(PROFILE_NAMES))
    if part.devices is not None:
        hint = "count says how many, on one device or on several"
        yield (*here, "devices"), "instances are not counted by device", hint
    if part.contract != PHALANX:
        what = f"instances need no contract such as {part.contract}"
        yield (*here, "contract"), what, ""


def asks_for_parts(spec: TreeSpec) -> bool:
    """
    Tell whether anything below a tree node asks for parts of GPUs.
    """
    if spec.groups is None:
        return spec.gpu is not None or CLAIMED_GPUS in spec.requests
    return any(map(asks_for_parts, spec.groups))


def says_devices(spec: TreeSpec) -> bool:
    """
    Tell whether anything below a tree node asks for parts of GPUs or names devices.
    """
    if spec.groups is not None:
        return any(map(says_devices, spec.groups))
    if spec.gpu is not None:
        return True
    for entries in (spec.running, spec.terminating, spec.reserved):
        for entry in entries:
            if entry.devices or (not isinstance(entry, ReservedSpec) and entry.tied):
                return True
    return False


def placed_faults(
    leaf: TreeSpec, place: Path, nodes: Nodes, *, known: bool
) -> Iterator[Fault]:
    """
    Find running, leaving and reserved pods whose devices are not said, or cannot be.

    They need not be said where they are not ``known``.
    """
    for word in ("running", "terminating", "reserved"):
        for index, entry in enumerate(getattr(leaf, word)):
            here: Path = (*place, word, index)
            if word != "reserved" and entry.node in nodes:
                yield from _unknown_pieces(nodes[entry.node], entry.tied, here)
            if leaf.gpu is None and not entry.devices:
                continue
            node = nodes.get(entry.node)
            if node is None and not entry.devices:
                continue  # of a node that is gone nobody knows its devices
            yield from _entry_faults(leaf, entry.devices, here, known=known)
            if node is not None:
                yield from _place_faults(leaf, entry.devices, here, node)


def _unknown_pieces(node: NodeSpec, tied: Sequence[int], here: Path) -> Iterator[Fault]:
    for at, number in enumerate(tied):
        place: Path = (*here, "tied", at)
        if number >= len(node.tied):
            have = f"it has {len(node.tied)}, counted from 0"
            yield place, f"no piece {number} is tied on node {node.name}", have
        elif number in tied[:at]:
            yield place, f"piece {number} is listed twice", ""


def _entry_faults(
    leaf: TreeSpec, devices: OnDevices, here: Path, *, known: bool
) -> Iterator[Fault]:
    part = leaf.gpu
    if part is None:
        wanted = leaf.requests.get(GPU, 0)
        noun = "GPUs"
    else:
        wanted = (part.count if part.mig else part.devices) or 1
        noun = "instances" if part.mig else "devices"
    if len(devices) > wanted or (known and len(devices) < wanted):
        what = f"each of these pods has {wanted} {noun}, but {len(devices)} are said"
        yield (*here, "devices"), what, "say which: devices: [0]"
    for index, device in enumerate(devices):
        at: Path = (*here, "devices", index)
        is_cut = isinstance(device, GpuDeviceSpec)
        if is_cut and (part is None or not part.mig):
            yield at, "only instances of mig begin at a slice", ""
        elif part is not None and part.mig and not is_cut:
            hint = "write {device: 0, start: 4}"
            yield at, "an instance needs the slice that it begins at", hint
        elif not is_cut and device in devices[:index]:
            yield at, f"device {device} is listed twice", ""


def _place_faults(
    leaf: TreeSpec, devices: OnDevices, here: Path, node: NodeSpec
) -> Iterator[Fault]:
    have = node.allocatable.get(GPU, 0)
    for index, one in enumerate(devices):
        at: Path = (*here, "devices", index)
        number = one.device if isinstance(one, GpuDeviceSpec) else one
        if number >= have:
            yield at, _no_such(number, have), ""
        if not isinstance(one, GpuDeviceSpec) or leaf.gpu is None:
            continue
        model = node.mig.model if node.mig is not None else ""
        if node.mig is None or number not in node.mig.devices:
            yield at, f"device {number} is none of those that may be cut", ""
        elif model in MIG_MODELS:
            profile = MIG_MODELS[model].get(leaf.gpu.mig or "")
            if profile is None:
                yield at, f"{model} has no profile {leaf.gpu.mig}", ""
            elif one.start not in profile.starts:
                starts = ", ".join(map(str, profile.starts))
                what = f"{leaf.gpu.mig} never begins at {one.start}"
                yield at, what, f"it begins at {starts}"

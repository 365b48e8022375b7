"""
Dealing devices: which GPUs of its node each pod with a part gets, the same every time.
"""

from collections.abc import Collection, Iterable, Sequence

from models.devices.gpu_parts import GpuDevice, GpuPart
from models.devices.mig_profiles import Sliced, starts_for
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_packing import packed
from solver.devices.device_states import DeviceStates
from solver.devices.packing_items import (
    Bin,
    Instance,
    SharedBin,
    SlicedBin,
    Wanted,
    fresh_share,
)
from solver.devices.part_places import item_of

Pod = tuple[str, GpuPart]
"""
A pod's key, and the part it asks for.
"""


def dealt(
    node: Node, states: DeviceStates, pods: Iterable[Pod], last: Collection[int] = ()
) -> dict[str, tuple[GpuDevice, ...]]:
    """
    Deal the devices of one node to pods that it holds.

    ``states`` are what they have left; idle ones that are ``last`` are opened last.
    """
    by_sort: dict[str, list[Pod]] = {}
    for name, part in sorted(pods):
        by_sort.setdefault(part.contract if not part.profile else "", []).append(
            (name, part)
        )
    idle = idle_of(node, states, last)
    found: dict[str, tuple[GpuDevice, ...]] = {}
    for contract, mine in sorted(by_sort.items(), reverse=True):
        if contract:
            found |= _shared(node, states, contract, mine, idle)
    if "" in by_sort:
        found |= _cut(node, states, by_sort[""], idle)
    return found


def idle_of(node: Node, states: DeviceStates, last: Collection[int] = ()) -> list[int]:
    """
    List idle devices, those that may be cut last and among these the lowest last.
    """
    taken = {*states.shared, *states.sliced, *states.whole}
    plain = [at for at in range(node.allocatable.get(GPU, 0)) if at not in taken]
    cuttable = {*states.cuttable}
    return [
        *sorted(at for at in plain if at not in cuttable and at not in last),
        *sorted(at for at in plain if at not in cuttable and at in last),
        *reversed([at for at in plain if at in cuttable and at in last]),
        *reversed([at for at in plain if at in cuttable and at not in last]),
    ]


def _shared(
    node: Node,
    states: DeviceStates,
    contract: str,
    pods: Sequence[Pod],
    idle: list[int],
) -> dict[str, tuple[GpuDevice, ...]]:
    """
    Deal the devices that one contract shares, and take idle ones from the first on.
    """
    own = sorted(
        (SharedBin(one.cores, one.memory), number)
        for number, one in states.shared.items()
        if one.contract == contract
    )
    bins: tuple[Bin, ...] = tuple(device for device, _ in own)
    order, wanted = _wanted(node, pods)
    result = packed(bins, fresh_share(node.gpu_memory), wanted)
    numbers = [number for _, number in own] + idle[: result.opened]
    del idle[: result.opened]
    return {
        pods[at][0]: tuple(sorted(GpuDevice(numbers[i]) for i in places))
        for at, places in zip(order, result.places, strict=True)
    }


def _wanted(node: Node, pods: Sequence[Pod]) -> tuple[list[int], tuple[Wanted, ...]]:
    """
    Count pods with equal parts, in the order of the parts; say whose turn it is.
    """
    kinds: dict[GpuPart, list[int]] = {}
    for at, (_, part) in enumerate(pods):
        kinds.setdefault(part, []).append(at)
    order, wanted = [], []
    for part, members in sorted(kinds.items()):
        item = item_of(part, node)
        assert item is not None
        times = part.count // part.num_different
        order += [at for at in members for _ in range(times)]
        wanted.append(Wanted(item, part.num_different, len(members) * times))
    return order, tuple(wanted)


def _cut(
    node: Node, states: DeviceStates, pods: Sequence[Pod], idle: list[int]
) -> dict[str, tuple[GpuDevice, ...]]:
    """
    Deal instances, on devices that are cut already and then on the lowest idle ones.
    """
    assert node.mig is not None
    model = node.mig.model
    own = sorted(
        (taken.mask, taken.has_media, number) for number, taken in states.sliced.items()
    )
    before = [Sliced(mask, has_media) for mask, has_media, _ in own]
    bins: tuple[Bin, ...] = tuple(SlicedBin(model, taken) for taken in before)
    order, wanted = _wanted(node, pods)
    result = packed(bins, SlicedBin(model, Sliced()), wanted)
    free = [number for number in reversed(idle) if number in states.cuttable]
    numbers = [number for _, _, number in own] + free[: result.opened]
    names = [
        one.item.name
        for one in wanted
        if isinstance(one.item, Instance)
        for _ in range(one.number)
    ]
    on_device: dict[int, list[int]] = {}
    for at, (device,) in enumerate(result.places):
        on_device.setdefault(device, []).append(at)
    found: dict[str, list[GpuDevice]] = {}
    for device, members in on_device.items():
        taken = before[device] if device < len(own) else Sliced()
        starts = starts_for(model, taken, tuple(names[at] for at in members))
        assert starts is not None
        for at, start in zip(members, starts, strict=True):
            name = pods[order[at]][0]
            found.setdefault(name, []).append(GpuDevice(numbers[device], start))
    return {name: tuple(sorted(places)) for name, places in found.items()}

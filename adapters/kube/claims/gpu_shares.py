"""
What claimed devices count as GPUs: whole ones, slices, and parts of shared ones.

A request counts as the largest device that it may get, so that no quota can be passed
by alternatives; a claim that has its devices counts as these.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from adapters.kube.claims.device_items import Item, ItemPart
from adapters.kube.claims.device_matching import PROFILE, DeviceMatching, consumption
from adapters.kube.claims.device_reader import Amounts, Device, DeviceName, qualified
from adapters.kube.claims.device_requests import DeviceAsk, HeldDevice
from models.devices.gpu_counts import counted_gpus, in_gpus, shown_gpus
from models.devices.gpu_parts import WHOLE
from models.resources import SHARES_PER_GPU

_PROFILE = re.compile(r"([1-7])g\.")
_SEVENTH = SHARES_PER_GPU // 7
_THOUSANDTH = SHARES_PER_GPU // WHOLE


def shares_there(devices: Iterable[Device]) -> int:
    """
    Count a node's GPUs in 1/7000: whole ones, or slices where there are only those.

    Slices that may not all be had at once are of as many GPUs as they have counters.
    """
    gpus = [device for device in devices if _share(device)]
    whole = sum(_profile(device) is None for device in gpus)
    if whole:
        return whole * SHARES_PER_GPU
    sets = {(*each.name[:2], known) for each in gpus for known, _ in each.consumes}
    return len(sets) * SHARES_PER_GPU or sum(map(_share, gpus))


def shares_of(item: Item, kinds: Sequence[Device], matching: DeviceMatching) -> int:
    """
    Count an item in 1/7000 of a GPU, by the kinds of devices; all that match are one.
    """
    return sum(
        max(
            (
                _asked(ask, kinds, matching) * (1 if count is None else count)
                for ask, count in zip(part.asks, part.counts, strict=True)
            ),
            default=0,
        )
        for part in item.parts
    )


def shares_had(
    held: Iterable[HeldDevice], devices: Mapping[DeviceName, Device]
) -> int | None:
    """
    Count what a claim has in 1/7000 of a GPU; none where a device is not known.
    """
    total = 0
    for each in held:
        device = devices.get(each.device)
        if device is None:
            return None
        total += _part_of(_share(device), each.consumed, device)
    return total


def told_of_choices(
    item: Item, kinds: Sequence[Device], matching: DeviceMatching
) -> str:
    """
    Say that the largest alternative counts, where they count differently.
    """
    found = []
    for part in item.parts if len(item.parts) == 1 else ():
        for ask, count in zip(part.asks, part.counts, strict=True):
            one = Item((ItemPart((ask,), (count,)),))
            found.append(shares_of(one, kinds, matching))
    most, least = max(found, default=0), min(found, default=0)
    if most == least:
        return ""
    counts = f"as {counted_gpus(in_gpus(most))}, not as {shown_gpus(in_gpus(least))}"
    return f"claims of {item}: queues count them {counts}, until they have devices"


def _asked(ask: DeviceAsk, kinds: Sequence[Device], matching: DeviceMatching) -> int:
    return max(
        (
            _part_of(_share(device), consumption(ask, device), device)
            for device in matching.those(ask, kinds)
        ),
        default=0,
    )


def is_gpu_device(device: Device) -> bool:
    """
    Tell whether a device is of a driver of GPUs.
    """
    return "gpu" in device.name[0]


def _share(device: Device) -> int:
    """
    Count one device: those of drivers of GPUs, slices by their profiles.
    """
    if not is_gpu_device(device):
        return 0
    number = _profile(device)
    return SHARES_PER_GPU if number is None else number * _SEVENTH


def _profile(device: Device) -> int | None:
    """
    Give the sevenths of a slice; none of a whole GPU.
    """
    said = device.attributes.get(qualified(PROFILE, device.name[0]))
    found = _PROFILE.match(said) if isinstance(said, str) else None
    return None if found is None else int(found[1])


def _part_of(share: int, consumed: Amounts | None, device: Device) -> int:
    """
    Count what is consumed of a device that several have, up to a thousandth.
    """
    if consumed is None or not device.is_shared:
        return share
    thousandths = max(
        (
            -(-amount * WHOLE // device.capacities[name].value)
            for name, amount in consumed
            if name in device.capacities and device.capacities[name].value
        ),
        default=WHOLE,
    )
    return min(share, thousandths * _THOUSANDTH)

"""
What is free of devices, from one look to the next: found anew only where it changed.
"""

from adapters.kube.claims.device_items import items_of
from adapters.kube.claims.device_matching import DeviceMatching
from adapters.kube.claims.device_reading import DeviceReading
from adapters.kube.claims.device_requests import HeldDevice
from tests.helpers.rounds.devices import (
    DRIVER,
    GPU_CLASS,
    asks,
    attribute,
    claim,
    classes,
    cut_gpus,
    gpu,
    node_slice,
)

GPU_0 = HeldDevice((DRIVER, "n", "gpu-0"))


def looked(reading, slices, *requests):
    """
    See slices as some requests need them.
    """
    own = claim("c", *(requests or [asks("r", GPU_CLASS)]))
    reading.read(classes(), slices)
    spec = reading.claim(own).spec
    reading.free.see(each.item for each in items_of(spec))
    return reading.free


def bins(free, held=()):
    return free.bins(held)[0]


def test_another_slice_leaves_the_bins_of_other_nodes_as_they_are():
    reading, n = DeviceReading(), node_slice("n", [gpu(0), gpu(1)])
    before = bins(looked(reading, [n, node_slice("m", [gpu(0)])]))
    after = bins(looked(reading, [n, node_slice("m", [gpu(0), gpu(1)])]))

    assert before["n"] is after["n"]
    assert (1, 2) == (len(before["m"]), len(after["m"]))


def test_who_takes_a_device_leaves_the_bins_of_other_nodes_as_they_are():
    free = looked(DeviceReading(), [*cut_gpus("n", 1), *cut_gpus("m", 1)])
    before, after = bins(free), bins(free, [GPU_0])

    assert before["m"] is after["m"]
    assert (1, 0) == (len(before["n"]), len(after["n"]))


def test_a_selector_is_asked_once_for_all_devices_that_look_the_same_to_it():
    slices = [node_slice(f"n{at}", [gpu(0), gpu(1)]) for at in range(9)]
    free = looked(DeviceReading(), slices)
    devices = [each for pool in free.pools.pools for each in pool.devices]
    ask = free.items[0].parts[0].asks[0]
    matching = DeviceMatching([ask])

    assert 18 == len(devices)
    assert 1 == len(matching.take(devices))
    assert devices == [*matching.those(ask, devices)]


def test_values_of_several_types_are_never_the_same():
    numbers = [gpu(0, attributes={"x": {"int": 1}})]
    words = [gpu(0, attributes={"x": {"bool": True}})]
    request = asks("r", GPU_CLASS, 1, f"{attribute('x')} == 1")
    for first, second in ((numbers, words), (words, numbers)):
        slices = [node_slice("a", first), node_slice("b", second)]
        free = looked(DeviceReading(), slices, request)

        (said,) = free.faults.values()
        assert "(device gpu-0 of driver gpu.nvidia.com)" in said

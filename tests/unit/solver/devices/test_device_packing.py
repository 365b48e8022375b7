"""
Packing parts onto devices: the fewest opened, whatever the order, within what is there.
"""

import tracemalloc
from itertools import permutations, product
from random import Random

import pytest

from benchmarks.cases.mig_orders import CONTENTS
from models.devices.mig_profiles import Sliced
from solver.devices.device_packing import most_more, packed
from solver.devices.packing_bounds import least_opened, most_by_weight
from solver.devices.packing_items import (
    DeviceShare,
    Instance,
    SharedBin,
    SlicedBin,
    Wanted,
)

FRESH = SharedBin(1000, 80)
MIG = SlicedBin("H100-80GB", Sliced())
PROFILES = (
    Instance("1g.10gb", 1),
    Instance("2g.20gb", 2),
    Instance("3g.40gb", 4),
    Instance("4g.40gb", 4),
    Instance("7g.80gb", 8),
)


def share(cores, number=1, devices=1, memory=0):
    return Wanted(DeviceShare(cores, memory), devices, number)


@pytest.mark.parametrize(
    ("bins", "wanted", "opened"),
    [
        ((), (share(500, 16),), 8),
        ((), (share(400, 2), share(600, 2)), 2),
        ((SharedBin(300, 80),), (share(300), share(700)), 1),
        ((), (share(500, 3, devices=2),), 3),
        ((), (share(100, 1, devices=4),), 4),
        ((), (share(450, 2), share(350, 2), share(200, 2)), 2),
        ((), (share(100, 2, memory=50),), 2),
    ],
    ids=["halves", "fits", "open one", "pairs", "four", "thirds", "memory"],
)
def test_the_fewest_idle_devices_are_opened(bins, wanted, opened):
    for order in permutations(wanted):
        assert opened == packed(bins, FRESH, order).opened


def test_no_device_holds_more_than_it_has_and_pods_have_different_ones():
    for sizes in product((200, 350, 500, 700), repeat=3):
        wanted = tuple(share(size, 2, devices=2) for size in sizes)
        found = packed((SharedBin(600, 80),), FRESH, wanted)
        left = [600] + [1000] * found.opened
        pods = [size for size in sizes for _ in range(2)]
        for size, places in zip(pods, found.places, strict=True):
            assert 2 == len(set(places))
            for at in places:
                left[at] -= size

        assert 0 <= min(left)


def test_what_more_fits_is_what_can_be_packed_beside():
    beside = (share(600, 2),)

    assert 2 == most_more((), FRESH, beside, DeviceShare(400, 0), 1, 2)
    assert 0 == most_more((), FRESH, beside, DeviceShare(500, 0), 1, 2)
    assert 2 == most_more((), FRESH, beside, DeviceShare(500, 0), 1, 3)
    assert -1 == most_more((), FRESH, beside, DeviceShare(100, 0), 1, 1)


def test_thousands_of_small_parts_are_counted_beside_memory():
    memory = (share(0, memory=30_000),)
    small = DeviceShare(1, 81)

    assert 7635 == most_more((), SharedBin(1000, 81_500), memory, small, 1, 8)


def test_millions_of_small_parts_are_counted_and_not_listed():
    huge, small = SharedBin(1000, 2**24), DeviceShare(0, 1)
    most_more.cache_clear()
    tracemalloc.start()
    try:
        assert 2**18 == most_more((), SharedBin(1000, 2**15), (), small, 1, 8)
        assert 2**27 == most_more((), huge, (), small, 1, 8)
        assert 2**20 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_every_full_content_fits_one_gpu(content):
    wanted = tuple(
        Wanted(profile, 1, number)
        for profile, number in zip(PROFILES, content, strict=True)
        if number
    )

    assert 1 == packed((), MIG, wanted).opened
    for profile in PROFILES:
        assert 0 == most_more((), MIG, wanted, profile, 1, 1)


def _fewest(sizes, left=()):
    """
    Try every device for each size.
    """
    if not sizes:
        return 0
    first, rest = sizes[0], sizes[1:]
    found = 1 + _fewest(rest, (*left, 1000 - first))
    for at in {room: at for at, room in enumerate(left) if room >= first}.values():
        after = (*left[:at], left[at] - first, *left[at + 1 :])
        found = min(found, _fewest(rest, after))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_packing_opens_as_few_as_trying_everything(seed):
    chance = Random(seed)
    kinds = chance.sample([110, 160, 220, 320, 470, 590, 650, 810], 3)
    wanted = [share(size, chance.randrange(1, 4)) for size in kinds]
    sizes = [one.item.cores for one in wanted for _ in range(one.number)]

    assert _fewest(tuple(sizes)) == packed((), FRESH, tuple(wanted)).opened


@pytest.mark.parametrize("seed", range(40))
def test_bounds_by_weight_never_forbid_what_fits(seed):
    chance = Random(seed)
    left = [SharedBin(chance.randrange(0, 1000), 80) for _ in range(3)]
    wanted, free = [], list(left)
    for _ in range(6):
        item = DeviceShare(chance.randrange(50, 500), chance.randrange(0, 40))
        at = chance.randrange(3)
        if after := free[at].put(item):
            free[at] = after
            wanted.append(Wanted(item, 1, 1))

    assert 0 == least_opened(left, FRESH, wanted)
    if wanted:
        beside, more = wanted[:-1], wanted[-1]
        assert 1 <= most_by_weight(left, FRESH, beside, more)

"""
Items with a choice: what nodes hold of them, and what is dealt and written.
"""

import itertools
import random

import pytest

from adapters.kube.claims.allocation import allocation
from adapters.kube.claims.dealing import dealt
from adapters.kube.claims.device_bins import contents, largest
from adapters.kube.claims.device_choices import (
    TooManyError,
    chosen,
    chosen_contents,
    less,
    options_of,
    sums,
)
from adapters.kube.claims.device_items import items_of
from adapters.kube.claims.device_reading import DeviceReading
from adapters.kube.claims.device_requests import claim_spec
from adapters.kube.claims.device_rows import device_rows
from benchmarks.cases.partitions import exact_case, random_case, whole_or_halves
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    MIG_CLASS,
    asks,
    claim,
    classes,
    cut_gpus,
    first_of,
    profile,
)

WHOLE_OR_HALVES = ((1, 0), (0, 2))
"""
What one GPU holds of whole ones and of halves.
"""


def either(name, *numbers):
    """
    A request for some whole GPUs, or else for so many halves.
    """
    found = first_of(name, (GPU_CLASS, ()), (MIG_CLASS, (profile("3g.40gb"),)))
    for alternative, number in zip(found["firstAvailable"], numbers, strict=True):
        alternative["count"] = number
    return found


def held_one_by_one(bins, asked):
    """
    List the largest numbers of items, by trying every way to choose.
    """
    most = sums(bins)
    found = set()
    for numbers in itertools.product(range(7), repeat=len(asked)):
        ways = [
            itertools.combinations_with_replacement(options, number)
            for options, number in zip(asked, numbers, strict=True)
        ]
        for way in itertools.product(*ways):
            taken = [0] * len(bins[0][0])
            for at, number in itertools.chain(*way):
                taken[at] += number
            if any(
                all(a <= b for a, b in zip(taken, one, strict=True)) for one in most
            ):
                found.add(numbers)
                break
    return sorted(largest(found))


@pytest.mark.parametrize("seed", range(3))
def test_nodes_hold_what_some_way_to_choose_lets_them(seed):
    chance = random.Random(seed)
    bins = tuple(
        tuple(sorted(largest({tuple(chance.choices(range(2), k=3)) for _ in range(3)})))
        for _ in range(2)
    )
    asked = tuple(
        tuple(
            (at, chance.randint(1, 2))
            for at in chance.sample(range(3), chance.randint(1, 3))
        )
        for _ in range(2)
    )

    assert held_one_by_one(bins, asked) == [*chosen_contents(bins, asked)]


def either_of(chance):
    """
    A request for some devices of one sort, or else of another.
    """
    sorts = ["", "3g.40gb", "2g.20gb", "1g.10gb"]
    some = chance.sample(sorts, 2)
    found = first_of(
        "r", *((MIG_CLASS, (profile(x),)) if x else (GPU_CLASS, ()) for x in some)
    )
    for alternative in found["firstAvailable"]:
        alternative["count"] = chance.choice((1, 1, 2, 3))
    return found


def let_through(gpus, *requests):
    """
    Say what rows let through of the kinds of items there are, and what a node holds.
    """
    reading = DeviceReading()
    reading.read(classes(), cut_gpus("n", gpus))
    specs = [claim_spec(claim("p", r)["spec"], reading.classes) for r in requests]
    free = reading.free
    free.see(each.item for spec in specs for each in items_of(spec))
    bins = free.of_node("n", ())
    asked = tuple(options_of(item, free.singles) for item in free.items)
    held = chosen_contents(tuple(sorted(contents(x.free) for x in bins)), asked)
    rows = device_rows(free.items, free.singles, {"n": bins})
    there = rows.offered["n"]
    found = set()
    tops = [max(one[at] for one in held) for at in range(len(asked))]
    for numbers in itertools.product(*(range(top + 1) for top in tops)):
        wanted = dict(zip(free.items, numbers, strict=True))
        if all(there[row] >= n for row, n in rows.asked(wanted).items()):
            found.add(numbers)
    return found, {
        less
        for one in held
        for less in itertools.product(*(range(number + 1) for number in one))
    }


def test_two_pods_of_halves_on_two_gpus_leave_no_slice():
    slice_ = first_of("r", (MIG_CLASS, (profile("1g.10gb"),)), (GPU_CLASS, ()))
    through, held = let_through(2, either("r", 2, 2), slice_)

    assert (1, 8) in held
    assert (2, 1) not in held
    assert through == held


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(40))
def test_rows_let_through_what_nodes_hold_and_nothing_else(seed):
    chance = random.Random(seed)
    try:
        through, held = let_through(
            chance.randint(1, 3), either_of(chance), either_of(chance)
        )
    except TooManyError:
        return
    assert through == held


def test_the_first_come_gets_its_first_option_that_leaves_room():
    options, half = ((0, 1), (1, 1)), ((1, 1),)
    left = sums((WHOLE_OR_HALVES,))

    assert ((0, 1),) == chosen(left, [options])
    assert ((1, 1), (1, 1)) == chosen(left, [options, options])
    assert ((1, 1), (1, 1)) == chosen(left, [options, half])
    assert () == less(left, ((1, 3),))


def test_eight_gpus_and_many_sorts_are_told_apart_or_said_to_be_too_many():
    gpu = ((1, 0, 0), (0, 2, 0), (0, 1, 2), (0, 0, 4))
    asked = (((0, 1), (1, 2)), ((1, 1), (2, 3)))
    many = tuple(tuple(int(a == b) for b in range(9)) for a in range(9))

    assert (8, 0) in chosen_contents((gpu,) * 8, asked)
    with pytest.raises(TooManyError):
        sums((many,) * 8)


def test_devices_of_one_request_are_all_of_one_alternative():
    spec = claim_of(either("r", 2, 2))
    (only,) = items_of(spec)

    assert [2, 2] == [number for _, number in only.item.choices]
    assert 1 == only.times


def claim_of(*requests):
    reading = DeviceReading()
    reading.read(classes(), cut_gpus("n", 1))
    return claim_spec(claim("p", *requests)["spec"], reading.classes)


def test_requests_without_a_choice_are_items_of_one_device_each():
    first, second = items_of(claim_of(asks("a", GPU_CLASS, 3), either("b", 1, 1)))

    assert (3, 1) == (first.times, second.times)
    assert [(first.item, 1)] == [*first.item.choices]
    assert [(second.item, 1)] == [*second.item.choices]


def test_the_exact_model_knows_that_two_pods_can_have_halves():
    assert 1 == exact_case(whole_or_halves())
    assert exact_case(random_case(5)) <= len(random_case(5).gangs)


def test_what_is_written_names_the_request_of_its_own_claim():
    reading = DeviceReading()
    reading.read(classes(), cut_gpus("n", 3))
    specs = [
        claim_spec(claim("p", either(name, 1, 2))["spec"], reading.classes)
        for name in ("first", "second")
    ]
    reading.free.see(each.item for spec in specs for each in items_of(spec))
    wanted = [
        (at, [options_of(each.item, reading.free.singles) for each in items_of(spec)])
        for at, spec in enumerate(specs)
    ]
    ways = dealt(reading.free.of_node("n", ()), wanted)
    written = [
        allocation(spec, ways[at], "n", str)["devices"]["results"]
        for at, spec in enumerate(specs)
    ]

    assert [["first/a0"], ["second/a0"]] == [
        [each["request"] for each in results] for results in written
    ]


def test_two_halves_are_written_as_two_results_of_their_alternative():
    reading = DeviceReading()
    reading.read(classes(), cut_gpus("n", 1))
    spec = claim_spec(claim("p", either("r", 2, 2))["spec"], reading.classes)
    reading.free.see(each.item for each in items_of(spec))
    options = [options_of(each.item, reading.free.singles) for each in items_of(spec)]
    (ways,) = dealt(reading.free.of_node("n", ()), [("p", options)]).values()
    results = allocation(spec, ways, "n", str)["devices"]["results"]

    assert ["r/a1", "r/a1"] == [each["request"] for each in results]
    assert 2 == len({each["device"] for each in results})

"""
Rows of devices: they hold exactly when all that they let through can be dealt.
"""

import itertools
import random
from itertools import starmap

import numpy as np
import pytest

from adapters.kube.claims.dealing import dealt
from adapters.kube.claims.device_bins import (
    MOST_OF_A_KIND,
    Bin,
    TooManyError,
    contents,
)
from adapters.kube.claims.facets import facets_of, most_of
from adapters.kube.claims.node_bins import NodeBin, Way
from models.devices.mig_profiles import MIG_MODELS

PROFILES = MIG_MODELS["H100-80GB"]
ONE = ((0, 1),)
FIVE = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")


def cut(profiles, taken=0):
    """
    A GPU of which some slices are taken.
    """
    puts = []
    for name in profiles:
        masks = (PROFILES[name].mask(start) for start in PROFILES[name].starts)
        puts.append(tuple((mask, ()) for mask in masks if not mask & taken))
    return Bin(tuple(puts))


def any_bin(chance, kinds):
    """
    Some devices that share a counter, each for some kinds.
    """
    devices, room = chance.choice([1, 1, 2, 3]), chance.randint(1, 4)
    puts = [
        tuple(
            (1 << device, (chance.choice([1, 1, 2]),))
            for device in range(devices)
            if chance.random() < 0.6
        )
        for _ in range(kinds)
    ]
    return Bin(tuple(puts), (room,))


def together(bins):
    """
    All numbers of kinds that some bins hold.
    """
    found = {(0,) * len(bins[0].puts)}
    for each in bins:
        inside = {
            less
            for most in contents(each)
            for less in itertools.product(*(range(n + 1) for n in most))
        }
        found = {tuple(map(sum, zip(a, b, strict=True))) for a in found for b in inside}
    return found


def let_through(bins):
    """
    All numbers of kinds that the rows let through.
    """
    held = [contents(each) for each in bins]
    number = len(bins[0].puts)
    units = [tuple(int(a == b) for b in range(number)) for a in range(number)]
    rows = {*units, *facets_of(frozenset(held), number)}
    counts = [most_of(np.array([*rows]), each) for each in held]
    most = dict(zip(rows, map(sum, zip(*counts, strict=True)), strict=True))
    tops = [most[unit] for unit in units]
    return {
        numbers
        for numbers in itertools.product(*(range(top + 1) for top in tops))
        if all(
            sum(a * x for a, x in zip(row, numbers, strict=True)) <= room
            for row, room in most.items()
        )
    }


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_rows_are_exact_for_every_choice_of_profiles(number):
    for profiles in itertools.combinations(FIVE, number):
        for copies in (1, 2) if number < 5 else (1,):
            bins = [cut(profiles)] * copies
            assert together(bins) == let_through(bins), profiles


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
def test_kinds_that_have_their_bins_for_themselves_are_counted_in_any_order(order):
    """
    What fits beside the last kind on one device may leave none for the third.
    """

    def seen(*rows):
        return tuple(sorted(tuple(row[at] for at in order) for row in rows))

    mixed = seen((2, 1, 0, 0), (1, 2, 0, 0), (0, 0, 0, 1))
    whole = seen((0, 0, 1, 0), (0, 0, 0, 1))

    assert {seen((1, 1, 3, 3))[0], seen((0, 0, 1, 1))[0]} <= {
        *facets_of(frozenset({mixed, whole}), 4)
    }


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_exact_where_slices_are_taken(seed):
    chance = random.Random(seed)
    for _ in range(12):
        profiles = chance.sample(FIVE, chance.choice([2, 3, 4]))
        masks = [0, 0, 1, 2, 3, 16, 0x0F, 0xF0, 0x81, 5]
        bins = [
            cut(profiles, chance.choice(masks)) for _ in range(chance.randint(1, 3))
        ]
        assert together(bins) == let_through(bins), (profiles, bins)


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_exact_for_bins_of_any_kind(seed):
    chance = random.Random(seed)
    for _ in range(12):
        kinds = chance.randint(2, 4)
        bins = [any_bin(chance, kinds) for _ in range(chance.randint(1, 4))]
        assert together(bins) == let_through(bins), bins


@pytest.mark.parametrize("seed", range(10))
def test_what_rows_let_through_is_dealt_and_nobody_gets_what_another_has(seed):
    chance = random.Random(seed)
    for _ in range(12):
        kinds = chance.randint(2, 4)
        bins = [any_bin(chance, kinds) for _ in range(chance.randint(1, 4))]
        numbers = chance.choice(sorted(let_through(bins)))
        wanted = [
            (f"{kind}-{n}", [((kind, 1),)])
            for kind, top in enumerate(numbers)
            for n in range(top)
        ]
        chance.shuffle(wanted)
        found = dealt(list(starmap(_named, enumerate(bins))), wanted)

        assert {who for who, _ in wanted} == found.keys()
        used = {str(at): (0, each.left) for at, each in enumerate(bins)}
        for who, (((kind, _),),) in wanted:
            (way,) = found[who]
            _take(used, bins, kind, way)


def _named(at, free):
    """
    A bin whose ways say in which bin they are, and where.
    """
    ways = [
        tuple(Way((), (((str(at), str(number)), 1),)) for number in range(len(puts)))
        for puts in free.puts
    ]
    return NodeBin(free, tuple(ways))


def _take(used, bins, kind, way):
    """
    Take what a way says, which must be free.
    """
    ((at, number), _) = way.taken[0]
    mask, taken = bins[int(at)].puts[kind][int(number)]
    before, left = used[at]
    assert not before & mask
    rest = tuple(a - b for a, b in zip(left, taken, strict=True))
    assert min(rest, default=0) >= 0
    used[at] = (before | mask, rest)


def test_who_comes_first_gets_the_first_alternative_that_leaves_room():
    whole, halves = (0b111, ()), ((0b001, ()), (0b010, ()))
    free = Bin(((whole, *halves),))
    ways = (Way((), (), 0), Way((), (), 1), Way((), (), 1))
    alone = dealt([NodeBin(free, (ways,))], [("a", [ONE])])
    two = dealt([NodeBin(free, (ways,))], [("a", [ONE]), ("b", [ONE])])
    three = dealt([NodeBin(free, (ways,))], [(who, [ONE]) for who in "abc"])

    assert 0 == alone["a"][0].rank
    assert [1, 1] == [two[who][0].rank for who in "ab"]
    assert {"a", "b"} == three.keys()


def test_too_many_kinds_for_one_bin_are_said():
    puts = tuple(((1 << at, (1,)),) for at in range(6))
    held = frozenset([contents(Bin(puts, (3,)))])

    with pytest.raises(
        TooManyError, match="6 kinds of items compete, and at most 5 are planned"
    ):
        facets_of(held, 6)


def test_contents_without_number_are_given_up_soon_and_known_of_equal_bins():
    sizes = (41, 23, 19, 17, 13, 11, 7, 5)
    free = Bin(tuple(((0, (size,)),) for size in sizes), (4000,))

    for _ in range(2):
        with pytest.raises(TooManyError, match="more than"):
            contents(free)
    assert ((97, 0, 0, 0, 0, 0, 0, 0),) == contents(free.only([0]))


def test_so_small_a_share_is_counted_as_often_as_pods_may_have_it():
    tiny = Bin((((0, (2**30,)),), ((0, (1,)),)), (2**33,))

    assert {(8, 0), (7, MOST_OF_A_KIND)} == {*contents(tiny)}

"""
Partitions of Koordinator: what is read of them, and what fits into free sets.
"""

import json
import random
from itertools import combinations_with_replacement

import pytest

from adapters.kube.objects.parts.gpu_partitions import POLICY, TABLE
from adapters.kube.objects.parts.node_devices import both, koordinator_devices
from models.linked_gpus import asked_of_links, names_of_links, offered_of_links
from models.resources import summed
from tests.helpers.rounds.shared_gpus import device

MODEL = {"node.koordinator.sh/gpu-model": "H100"}
HONOR = {POLICY: "Honor"}
PAIRS = {
    "1": [{"minors": [at]} for at in range(4)],
    "2": [
        {"minors": [0, 1], "allocationScore": 1},
        {"minors": [2, 3], "allocationScore": 2, "gpuLinkType": "NVLink"},
    ],
}


def read(table=None, minors=range(8), said=None, **labels):
    """
    Read a Device object with a table and labels of its own, on a node with labels.
    """
    raw = device(minors=tuple(minors))
    raw["metadata"]["labels"] = said or {}
    if table is not None:
        text = table if isinstance(table, str) else json.dumps(table)
        raw["metadata"]["annotations"] = {TABLE: text}
    _, found = koordinator_devices(raw)
    return both(None, found, labels)


def sets_of(gpus):
    return {tuple(sorted(one.numbers)) for one in gpus.partitions.sets}


def test_a_table_says_which_gpus_are_linked_and_its_object_whether_they_must_be():
    found = read(PAIRS, range(4), HONOR)

    assert {(0,), (1,), (2,), (3,), (0, 1), (2, 3)} == sets_of(found)
    assert found.must_be_linked
    assert not read(PAIRS, range(4), **HONOR).must_be_linked
    assert (2, 3) == found.partitions.choose(2, range(4)), "the better score"


def test_sets_are_of_numbers_and_a_set_with_a_gpu_that_is_not_there_is_none():
    found = read({"2": [{"minors": [3, 5]}, {"minors": [5, 6]}]}, (3, 5), HONOR)

    assert {(0, 1)} == sets_of(found)


@pytest.mark.parametrize("where", [{"said": HONOR}, HONOR])
def test_of_some_models_the_sets_are_known(where):
    found = read(**where, **MODEL) if "said" in where else read(**where | MODEL)

    assert {8: 1, 4: 2, 2: 4, 1: 8} == {
        size: len(sets) for size, sets in found.partitions.by_size.items()
    }
    assert found.must_be_linked
    assert not found.partitions.problem


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (None, "nobody says which of its GPUs are linked"),
        ("{", "nobody says"),
        ("[]", "nobody says"),
        ({"2": [{"minors": [0, 0]}]}, "nobody says"),
        ({"2": [{"minors": ["0", "1"]}]}, "nobody says"),
        ({"2": [{"minors": [0, 1]}, {"minors": [1, 2]}]}, "overlap"),
        ({"2": [{"minors": [0, 1]}], "3": [{"minors": [0, 1, 2]}]}, "not unions"),
    ],
)
def test_what_cannot_be_planned_is_a_problem_only_where_it_is_a_must(table, what):
    assert what in read(table, said=HONOR).partitions.problem
    easy = read(table).partitions
    assert easy is None or not easy.problem


def test_of_equal_sets_the_one_is_chosen_that_leaves_most_of_larger_ones():
    sets = read(**MODEL).partitions

    assert (6, 7) == sets.choose(2, range(8))
    assert (0,) == sets.choose(1, {0, 2, 3})
    assert (2, 3) == sets.choose(2, {2, 3, 4, 5, 6, 7})
    assert sets.choose(2, {1, 2}) is None
    assert sets.choose(3, range(8)) is None


def fits(sets, sizes, free):
    """
    Tell by trying all ways whether pods of some sizes get free sets.
    """
    if not sizes:
        return True
    size, *rest = sizes
    return any(
        fits(sets, rest, free - one.numbers)
        for one in sets.by_size.get(size, ())
        if one.numbers <= free
    )


def test_what_is_counted_fits_if_and_only_if_it_can_be_dealt_out():
    draw = random.Random(1)
    sets = read(**MODEL).partitions
    names = names_of_links({1, 2, 3, 4, 8}, [sets.by_size])
    for _ in range(60):
        free = {n for n in range(8) if draw.random() < 0.7}
        offered = offered_of_links(
            {size: sets.num_free(size, free) for size in sets.by_size}, names
        )
        for number in range(1, 5):
            for sizes in combinations_with_replacement((8, 4, 3, 2, 1), number):
                asked = summed(asked_of_links(size, names) for size in sizes)
                counted = all(n <= offered[name] for name, n in asked.items())
                assert counted == fits(sets, sizes, frozenset(free)), (free, sizes)
                if counted:
                    left = set(free)
                    for size in sizes:
                        left -= set(sets.choose(size, left))

"""
Where instances may lie: the table's counts, and a start for each of some instances.
"""

from itertools import combinations_with_replacement, permutations

import pytest

from models.devices.mig_profiles import MIG_MODELS, Sliced, starts_for

MODEL = "H100-80GB"
PLAIN = ("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
DOUBLE = (*PLAIN, "1g.20gb")
ALL = (*DOUBLE, "1g.10gb+me")


def counted(names):
    """
    Count placements, layouts, contents, and contents that no other one holds.
    """
    profiles = MIG_MODELS[MODEL]
    places = [(name, start) for name in names for start in profiles[name].starts]
    layouts = set()
    todo = [(frozenset(), Sliced())]
    while todo:
        layout, taken = todo.pop()
        if layout in layouts:
            continue
        layouts.add(layout)
        for name, start in places:
            if taken.fits(profiles[name], start):
                more = taken.with_one(profiles[name], start)
                todo.append((layout | {(name, start)}, more))
    contents = {tuple(sorted(name for name, _ in layout)) for layout in layouts}
    full = [
        one
        for one in contents
        if not any(tuple(sorted((*one, name))) in contents for name in names)
    ]
    most = [one for one in full if not any(_covers(other, one) for other in full)]
    # The empty device is a layout, and none of the counts.
    return len(places), len(layouts) - 1, len(contents) - 1, len(most)


def _covers(other, one):
    return other != one and all(other.count(n) >= one.count(n) for n in one)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (PLAIN, (14, 297, 37, 12)),
        (DOUBLE, (18, 722, 77, 28)),
        (ALL, (25, 2318, 127, 44)),
    ],
    ids=["plain", "double memory", "media"],
)
def test_the_table_has_the_counts_that_are_known_of_it(names, expected):
    assert expected == counted(names)


def test_every_order_of_a_content_has_the_same_starts_for_its_instances():
    for number in range(1, 5):
        for content in combinations_with_replacement(PLAIN, number):
            fits = {
                starts_for(MODEL, Sliced(), order) is not None
                for order in permutations(content)
            }

            assert 1 == len(fits), content


def test_starts_are_legal_and_do_not_overlap():
    names = ("1g.10gb", "3g.40gb", "2g.20gb", "1g.10gb")
    starts = starts_for(MODEL, Sliced(), names)
    taken = Sliced()
    for name, start in zip(names, starts, strict=True):
        profile = MIG_MODELS[MODEL][name]
        assert taken.fits(profile, start)
        taken = taken.with_one(profile, start)

    assert starts_for(MODEL, taken, ("3g.40gb",)) is None

"""
Missing patterns: what a node holds at most, against all that it can hold.
"""

from itertools import product
from random import Random

import pytest

from solver.patterns import missing_patterns
from solver.patterns.filled_node import EqualNodes
from solver.patterns.missing_patterns import MissingPatterns
from solver.problem.node_room import MANY


def nodes(room, asks):
    said = {
        shape: tuple((at, number) for at, number in enumerate(row) if number)
        for shape, row in asks.items()
    }
    return EqualNodes(nodes=(0,), room=room, asks=said, parts={}, gpu=0, devices=None)


def drawn(seed):
    rnd = Random(seed)
    asks = {s: (rnd.randint(1, 4), rnd.choice((0, 3, 5, 7))) for s in range(4)}
    equal = [nodes((rnd.randint(3, 8), rnd.randint(5, 20)), asks) for _ in range(3)]
    worth = {shape: rnd.randint(0, 9) for shape in asks}
    return equal, asks, worth, [rnd.randint(0, 3) for _ in asks]


def fits(room, asks, counts):
    sums = [sum(n * asks[s][at] for s, n in enumerate(counts)) for at in range(2)]
    return all(used <= has for used, has in zip(sums, room, strict=True))


def most_by_hand(room, asks, worth, wanted):
    every = product(*(range(number + 1) for number in wanted))
    return max(
        sum(worth[s] * n for s, n in enumerate(counts))
        for counts in every
        if fits(room, asks, counts)
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_node_holds_what_no_other_content_betters(seed):
    equal, asks, worth, wanted = drawn(seed)
    kinds = MissingPatterns(equal)

    most = kinds.lay(worth, wanted)

    for at, one in enumerate(equal):
        content = dict(kinds.content(at))
        counts = [content.get(shape, 0) for shape in asks]
        assert fits(one.room, asks, counts)
        assert all(a <= b for a, b in zip(counts, wanted, strict=True))
        assert sum(worth[s] * n for s, n in content.items()) == most[at]
        assert most[at] == most_by_hand(one.room, asks, worth, wanted)


@pytest.mark.parametrize("seed", range(40))
def test_with_wider_steps_a_node_holds_no_less(seed, monkeypatch):
    equal, asks, worth, wanted = drawn(seed)
    monkeypatch.setattr(missing_patterns, "_MOST_CELLS", 20)

    most = MissingPatterns(equal).lay(worth, wanted)

    by_hand = [most_by_hand(one.room, asks, worth, wanted) for one in equal]
    assert all(a >= b for a, b in zip(most, by_hand, strict=True))


def test_what_nodes_have_without_end_bounds_nothing():
    asks = {0: (2, 5), 1: (3, 1)}
    equal = [nodes((8, MANY), asks), nodes((4, 5), asks)]

    assert MissingPatterns(equal).lay({0: 1, 1: 1}, [9, 9]) == [4, 2]

"""
The least need of a tree: exact on small trees, quick on large ones.
"""

from itertools import product
from random import Random

import pytest

from solver.problem.gang_state import (
    least_need,
    least_pods,
    satisfied_after,
    standing,
)
from tests.helpers.build import gang, group, leaf
from tests.helpers.rounds.odd_trees import odd_snapshot


def by_hand(state, prices, places):
    """
    Try every number of pods of every leaf; a leaf or group with pods is satisfied.
    """
    best = None
    for counts in product(*(range(number + 1) for number in places)):
        after = satisfied_after(state, dict(enumerate(counts)))
        used = [
            at
            for at, node in enumerate(state.nodes)
            if any(counts[i] for i in node.leaves)
        ]
        late = [
            t for i, here in enumerate(state.leaves) if counts[i] for t in here.after
        ]
        if after[0] and all(after[at] for at in used):
            leaves = state.leaves
            if all(leaves[t].counted + counts[t] >= leaves[t].minimum for t in late):
                cost = sum(p * n for p, n in zip(prices, counts, strict=True))
                best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(150))
def test_least_need_is_that_of_the_cheapest_way(seed):
    chance = Random(seed)
    for each in odd_snapshot(seed).gangs:
        state = standing(each)
        places = [chance.randint(0, min(3, len(x.pending))) for x in state.leaves]
        if len(places) > 6:
            continue
        for largest in (5, 2**50):
            prices = [chance.choice([0, 1, largest]) for _ in state.leaves]

            assert by_hand(state, prices, places) == least_need(
                state, prices.__getitem__, places.__getitem__
            )


LARGE = {
    "pods of many shapes": gang(
        "g", *[leaf(f"l{i}", 0, 5000) for i in range(8)], min_pods=20_000
    ),
    "pods below groups": gang(
        "g",
        *[
            group(f"g{j}", *[leaf(f"l{j}{i}", i, 400) for i in range(5)], min_pods=300)
            for j in range(5)
        ],
        min_pods=4000,
    ),
    "half of very many groups": gang(
        "g", *[leaf(f"l{i}", 1, 1) for i in range(2000)], min_groups=1000
    ),
    "a long row of roles": gang(
        "g",
        *[leaf(f"l{i}", 1, 1, after=(f"l{i - 1}",) if i else ()) for i in range(1000)],
    ),
    "very many roles": gang(
        "g",
        *[leaf(f"a{i}", 1, 1) for i in range(30)],
        *[leaf(f"b{i}", 1, 1, after=(f"a{i}",)) for i in range(30)],
        min_groups=30,
    ),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LARGE)
def test_least_need_of_a_large_tree_takes_no_minutes(name):
    state = standing(LARGE[name])

    assert least_need(state, lambda i: 10**6 + i) is not None


@pytest.mark.parametrize(
    ("tree", "needs"),
    [
        (gang("any", leaf("a", 0, 2), leaf("b", 0, 2), min_groups=2), 2),
        (gang("nobody", leaf("a", 0, 2), min_groups=0), 0),
        (gang("roles", leaf("a", 3), leaf("b", 1, after=("a",)), min_groups=1), 3),
        (gang("whole", leaf("a", 1, 2), leaf("b", 4), min_groups=0, min_pods=5), 5),
        (gang("large", leaf("a", 0, 2), leaf("b", 4), min_groups=0, min_pods=3), 4),
        (gang("short", leaf("a", 0, 1), leaf("b", 0, 1), min_groups=0, min_pods=3), 3),
        (gang("one", minimum=2, replicas=4), 2),
    ],
    ids=lambda found: getattr(found, "name", ""),
)
def test_the_least_pods_of_a_gang_are_those_that_it_may_start_with(tree, needs):
    assert least_pods(tree) == needs

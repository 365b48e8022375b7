"""
What is lost at least: who would lose too much is not even let go by way of trial.
"""

from itertools import chain, combinations
from random import Random

import numpy as np
import pytest

from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.victim_table import VictimTable
from tests.helpers.rounds.greedy_evictions import (
    GPU,
    planned,
    reclaimable,
    runs,
    stage,
    started,
    waits,
)

LONG, SHORT = 3600, 60


def full(number, seconds):
    """
    Give nodes that a queue without quota fills, and a gang that is entitled to one.
    """
    running = [runs(f"v{i}", (f"n{i}", seconds)) for i in range(number)]
    return reclaimable([*running, waits("want")], number)


def let_go(monkeypatch, given, evict):
    """
    Plan by hand; say who was let go on the way, and what starts.
    """
    asked = []
    known = Leavers.let_go

    def told(self, at, rule):
        asked.append(at)
        return known(self, at, rule)

    monkeypatch.setattr(Leavers, "let_go", told)
    return asked, started(planned(given, evict))


@pytest.mark.parametrize(
    ("seconds", "starts"), [(LONG, set()), (SHORT, {"want"})], ids=["long", "short"]
)
def test_nobody_is_let_go_where_all_would_lose_too_much(monkeypatch, seconds, starts):
    asked, found = let_go(monkeypatch, full(3, seconds), {"maxLostPerGpu": SHORT})

    assert found == starts
    assert bool(asked) == bool(starts)


def test_without_a_bound_the_same_leave(monkeypatch):
    asked, found = let_go(monkeypatch, full(3, LONG), {})

    assert found == {"want"}
    assert asked


@pytest.mark.parametrize("seed", range(40))
def test_no_choice_of_who_leaves_loses_less(seed):
    rnd = Random(seed)
    running = [
        runs(f"v{i}", (f"n{i % 3}", rnd.randint(1, 90)), gpus=rnd.randint(1, 4))
        for i in range(rnd.randint(1, 6))
    ]
    problem, victims = stage(reclaimable([*running, waits("want")], 3))
    table = VictimTable(problem, victims)
    at = problem.room.resources.index(GPU)
    short = np.zeros_like(problem.room.now[0])
    short[at] = rnd.randint(1, 12)
    items = range(len(table.items))
    subsets = chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))
    least = min(
        (
            sum(table.items[i].victim.work for i in some)
            for some in subsets
            if table.rows[[*some], at].sum() >= short[at]
        ),
        default=float("inf"),
    )

    leaving = np.ones(len(table.sorts.pods), dtype=bool)
    bound = table.least_lost(leaving, short, 1)

    assert bound <= least
    assert (bound == float("inf")) == (least == float("inf"))

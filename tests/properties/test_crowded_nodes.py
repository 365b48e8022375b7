"""
Whoever leaves a node: listed in choices or one by one, a plan comes to the same.
"""

from dataclasses import replace
from random import Random

import pytest

from benchmarks.cases.victims import victim_case
from solver import decide
from solver.tuning import DEFAULT
from tests.helpers.rounds.drawn import of_day
from tests.helpers.rounds.full_of_parts import full_of_parts
from tests.odd.full import full_round
from tests.odd.rounds import read

ONE_BY_ONE = replace(DEFAULT, encode=replace(DEFAULT.encode, most_choices=0))
LOT = 10


@pytest.mark.drawn
@pytest.mark.parametrize("first", range(0, 60, LOT))
def test_victims_one_by_one_are_worth_as_much_as_listed_ones(first):
    for at in range(first, first + LOT):
        compare(victim_case(at, tiny=at % 2 == 0))


@pytest.mark.drawn
@pytest.mark.parametrize("first", range(0, 60, LOT))
def test_it_is_so_where_gangs_ask_for_much_else(first):
    for at in range(first, first + LOT):
        document = full_round(Random(f"crowded-{at}"))
        if read(document) is not None:
            compare(document)


def test_most_small_full_clusters_of_shared_gpus_are_planned_without_a_gap():
    rounds = [read(full_of_parts(seed)) for seed in of_day(range(12))]
    plans = [decide(given.snapshot, given.policy) for given in rounds]
    closed = [all(t.value == t.bound for t in plan.tiers) for plan in plans]

    assert sum(closed) >= len(closed) - 1
    assert not any(plan.cut for plan in plans)


def compare(document):
    given = read(document)
    listed = decide(given.snapshot, given.policy)
    crowded = decide(given.snapshot, given.policy, tuning=ONE_BY_ONE)
    both = zip(listed.tiers, crowded.tiers, strict=True)
    proven = [
        (one, other)
        for one, other in both
        if one.proof == "proven" and other.proof == "proven"
    ]

    assert all(one.value == other.value for one, other in proven), document

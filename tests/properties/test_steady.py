"""
What is kept from round to round decides nothing: with nothing kept the same comes out.
"""

from random import Random

import pytest

from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from tests.helpers.changing_cluster import ChangingCluster
from tests.helpers.mutations import worlds

DIALECTS = dialects()
STEPS = 25


def snapshots_are_the_same(events: int, seed: int) -> None:
    """
    Let so many things happen in random clusters, and look after each in both ways.
    """
    every = worlds()
    names = sorted(every)
    for case in range(events // STEPS):
        chance = Random(f"{seed}-{case}")
        some = chance.sample(names, chance.choice((1, 2, 3)))
        cluster = ChangingCluster([raw for name in some for raw in every[name]], chance)
        kept = Assembler(DIALECTS)
        told = []
        for _ in range(STEPS):
            told += [cluster.step() for _ in range(chance.choice((1, 1, 1, 2, 4)))]
            seen = cluster.seen
            with_memo = kept.assembled(*seen, cluster.now)
            afresh = Assembler(DIALECTS).assembled(*seen, cluster.now)
            why = f"{some}, seed {seed}-{case}: {told}"

            assert afresh.snapshot == with_memo.snapshot, why
            assert afresh.snapshot.warnings == with_memo.snapshot.warnings, why
            assert afresh.summary == with_memo.summary, why
            assert afresh.claims == with_memo.claims, why


def test_a_snapshot_of_what_changed_is_that_of_all_there_is():
    snapshots_are_the_same(250, 1)


@pytest.mark.slow
def test_snapshots_of_10_000_changes_are_those_of_all_there_is():
    snapshots_are_the_same(10_000, 2)

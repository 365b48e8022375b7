"""
Proofs are for the whole plan: names, order and seed change nothing that is proven.
"""

from random import Random

import pytest

from benchmarks.cases.victims import victim_case
from tests.helpers.rounds.renamed import aged, renamed
from tests.helpers.truth.proofs import check_names, check_outcomes

TINY = range(10_000, 10_300)
MANY = range(20_000, 23_000)
RACKS = range(30_000, 30_120)
FOUND = (20_079, 20_267, 20_570, 21_514, 22_724)
"""
Where names once decided who waits, what is lost, or whether there was a plan at all.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("seed", TINY)
def test_names_order_and_seed_change_nothing_that_is_proven(seed):
    check_names(aged(victim_case(seed, tiny=True)), seed)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FOUND)
def test_where_names_once_decided_they_do_not(seed):
    check_names(aged(victim_case(seed)), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_names_order_and_seed_change_nothing_that_is_proven_in_many_cases(seed):
    check_names(aged(victim_case(seed)), seed)


def in_preferred_racks(seed):
    """
    Let most of those who wait prefer one rack, where nodes of all racks are alike.
    """
    document = aged(victim_case(seed))
    rnd = Random(f"racks-{seed}")
    for gang in document["given"]["gangs"]:
        if not gang.get("running") and "topology" not in gang and rnd.random() < 0.8:
            gang["topology"] = {"preferred": "rack"}
    return document


@pytest.mark.drawn
@pytest.mark.parametrize("seed", RACKS)
def test_names_change_nothing_that_is_proven_beside_preferred_racks(seed):
    check_names(in_preferred_racks(seed), seed)


def test_same_seed_gives_the_same_names():
    document = aged(victim_case(7))

    assert renamed(document, 3) == renamed(document, 3)


# --- against the exact model, over all optimal outcomes -------------------------


@pytest.mark.drawn
@pytest.mark.parametrize("seed", TINY[:60])
def test_no_outcome_is_better_than_what_is_proven(seed):
    check_outcomes(aged(victim_case(seed, tiny=True)))


def after_evictions(seed, *, tiny=True):
    """
    Bound what is lost for each GPU, and let some of those who wait be evicted before.
    """
    document = aged(victim_case(seed, tiny=tiny))
    rnd = Random(f"evicted-{seed}")
    document["policy"]["evict"]["maxLostPerGpu"] = rnd.choice((60, 600, 3600, 20_000))
    for gang in document["given"]["gangs"]:
        if not gang.get("running") and rnd.random() < 0.25:
            gang.setdefault("evictedAgo", rnd.choice(("30s", "10m")))
    return document


@pytest.mark.drawn
@pytest.mark.parametrize("seed", TINY[60:120])
def test_no_outcome_after_evictions_and_with_a_bound_is_better(seed):
    check_outcomes(after_evictions(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY[500:1000])
def test_no_outcome_after_evictions_and_with_a_bound_is_better_in_many_cases(seed):
    check_outcomes(after_evictions(seed, tiny=False))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY[:500])
def test_no_outcome_is_better_than_what_is_proven_in_many_cases(seed):
    check_outcomes(aged(victim_case(seed)))

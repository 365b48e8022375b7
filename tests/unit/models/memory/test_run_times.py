"""
The record of run times: what is counted, and what is forgotten.
"""

import pytest

from models.memory.run_times import (
    EDGES,
    MOST_KINDS,
    RunTimes,
    bin_of,
    kind_of,
    run_kind,
    summed_counts,
)
from tests.helpers.build import gang

KIND = kind_of("q", "team", 8)


def test_each_gang_that_ended_is_counted_in_its_bin():
    record = RunTimes().having(KIND, 580).having(KIND, 600).having(KIND, 6000)

    assert {KIND: {bin_of(600): 2, bin_of(6000): 1}} == record.ended


@pytest.mark.parametrize("seconds", [1, 7, 60, 3600, 86400, 10**7])
def test_a_bin_ends_less_than_a_fifth_later(seconds):
    assert seconds <= EDGES[bin_of(seconds)] <= max(2, seconds * 1.25)


@pytest.mark.parametrize("at", [0, 1, 50, len(EDGES) - 1])
def test_the_end_of_a_bin_is_in_it(at):
    assert at == bin_of(EDGES[at])


def test_what_ran_for_longer_than_all_bins_is_in_the_last():
    assert len(EDGES) - 1 == bin_of(10**12)


def test_sizes_up_to_the_same_power_of_two_are_alike():
    assert [0, 1, 2, 4, 4, 8, 8, 16] == [
        kind_of("q", "team", gpus).gpus for gpus in (0, 1, 2, 3, 4, 5, 8, 9)
    ]


def test_all_pods_that_a_gang_may_have_are_its_size():
    one = gang("a", minimum=1, replicas=3, gpus=2, queue="q", namespace="team")

    assert KIND == run_kind(one)


def test_the_older_count_less_once_there_are_many():
    record = RunTimes({KIND: {bin_of(60): 1000, bin_of(6000): 24}})

    counts = record.having(KIND, 60).ended[KIND]
    assert {bin_of(60): 501, bin_of(6000): 12} == counts


def test_of_too_many_kinds_the_least_counted_is_forgotten():
    kinds = [kind_of("q", f"team-{i:04}", 8) for i in range(MOST_KINDS)]
    record = RunTimes({kind: {0: 2} for kind in kinds} | {kinds[7]: {0: 1}})

    ended = record.having(KIND, 60).ended
    assert (MOST_KINDS, False, True) == (len(ended), kinds[7] in ended, KIND in ended)


def test_counts_of_several_kinds_add_up():
    assert {1: 3, 2: 1} == summed_counts([{1: 1}, {1: 2, 2: 1}])

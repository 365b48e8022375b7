"""
The fair share of kai.md 1d, with its worked example.
"""

import pytest

from models.queues import QueueResource
from models.resources import CPU, GPU
from solver.shares.fair_share import fair_shares
from tests.helpers.build import queue


def gpu_shares(queues, total, **wanted):
    requested = {name: {GPU: amount} for name, amount in wanted.items()}
    shares = fair_shares(queues, {GPU: total}, requested)
    return {name: row[GPU] for name, row in shares.items()}


WORKED = [
    queue("A", quota=4, weight=2),
    queue("B", quota=4, weight=1),
    queue("C", quota=2, weight=1, priority=50),
]


def test_remainders_go_to_the_same_band_before_the_next_one():
    expected = {"A": 11, "B": 7, "C": 2}

    assert expected == gpu_shares(WORKED, 20, A=20, B=20, C=5)


def test_the_worked_example_is_the_same_when_the_band_below_asks_for_less():
    expected = {"A": 11, "B": 7, "C": 2}

    assert expected == gpu_shares(WORKED, 20, A=20, B=20, C=2)


def test_the_band_below_gets_what_the_band_above_does_not_want():
    assert {"A": 8, "B": 7, "C": 5} == gpu_shares(WORKED, 20, A=8, B=7, C=9)


def test_quotas_are_never_scaled_down():
    queues = [queue("a", quota=8), queue("b", quota=8)]

    assert {"a": 8, "b": 8} == gpu_shares(queues, 10, a=9, b=9)


def test_an_unlimited_quota_is_the_total():
    queues = [queue("a", quota=None), queue("b", quota=3)]

    assert {"a": 10, "b": 3} == gpu_shares(queues, 10, a=20, b=9)


def test_a_limit_bounds_what_a_queue_asks_for():
    queues = [queue("a", limit=3), queue("b")]

    assert {"a": 3, "b": 7} == gpu_shares(queues, 10, a=9, b=9)


def test_what_one_queue_does_not_want_is_divided_again():
    queues = [queue("a"), queue("b", weight=2), queue("c")]

    assert {"a": 1, "b": 6, "c": 3} == gpu_shares(queues, 10, a=1, b=9, c=9)


def test_equal_remainders_go_by_name():
    queues = [queue("c"), queue("b"), queue("a")]

    assert {"a": 4, "b": 3, "c": 3} == gpu_shares(queues, 10, a=9, b=9, c=9)


def test_the_largest_remainder_comes_first():
    queues = [queue("a"), queue("b", weight=3)]

    assert {"a": 0, "b": 1} == gpu_shares(queues, 1, a=9, b=9)
    assert {"a": 1, "b": 4} == gpu_shares(queues, 5, a=9, b=9)


def test_a_queue_without_weight_gets_its_quota_only():
    queues = [queue("a", quota=2, weight=0), queue("b", weight=1)]

    assert {"a": 2, "b": 3} == gpu_shares(queues, 10, a=9, b=3)


def test_children_divide_the_share_of_their_parent():
    queues = [
        queue("left", quota=6),
        queue("right", quota=4),
        queue("a", "left", quota=1),
        queue("b", "left", quota=1),
        queue("c", "right", quota=1),
    ]
    expected = {"left": 6, "right": 4, "a": 3, "b": 3, "c": 4}

    assert expected == gpu_shares(queues, 10, a=9, b=9, c=9)


def test_the_first_phase_of_children_may_exceed_their_parent():
    queues = [
        queue("top", quota=2, limit=2),
        queue("a", "top", quota=4),
        queue("b", "top", quota=4),
    ]

    assert {"top": 2, "a": 4, "b": 4} == gpu_shares(queues, 10, a=4, b=4)


def test_a_parent_asks_for_the_raw_sum_of_its_children():
    queues = [queue("top"), queue("a", "top", limit=2), queue("other")]

    assert {"top": 5, "a": 2, "other": 5} == gpu_shares(queues, 10, a=9, other=9)


def test_resources_are_divided_independently():
    rules = {CPU: QueueResource(quota=1000), GPU: QueueResource(quota=2)}
    queues = [queue("a", resources=rules), queue("b", resources={})]
    requested = {"a": {CPU: 500, GPU: 9}, "b": {CPU: 9000, GPU: 9, "memory": 4}}

    shares = fair_shares(queues, {CPU: 4000, GPU: 8, "memory": 9}, requested)

    assert {"a": {CPU: 500, GPU: 5}, "b": {CPU: 3500, GPU: 3}} == shares


def test_a_resource_that_no_queue_names_has_no_share():
    shares = fair_shares([queue("a", resources={})], {GPU: 8}, {"a": {GPU: 8}})

    assert {"a": {}} == shares


def test_a_resource_that_the_cluster_lacks_divides_nothing():
    assert {"a": 2} == gpu_shares([queue("a", quota=2)], 0, a=9)
    assert {"a": {GPU: 0}} == fair_shares([queue("a")], {}, {"a": {GPU: 9}})


@pytest.mark.parametrize("parent", ["gone", "a"], ids=["missing", "itself"])
def test_queues_below_a_missing_parent_get_nothing(parent):
    queues = [queue("a", parent, quota=4), queue("b")]

    assert {"a": 0, "b": 8} == gpu_shares(queues, 8, a=9, b=9)


def test_demand_of_unknown_queues_is_ignored():
    assert {"a": 3} == gpu_shares([queue("a")], 8, a=3, x=9)


def test_one_more_gpu_may_move_a_remainder_but_never_shrinks_the_sum():
    queues = [queue("a", weight=6), queue("b", weight=6), queue("c", weight=2)]

    assert {"a": 4, "b": 4, "c": 2} == gpu_shares(queues, 10, a=99, b=99, c=99)
    assert {"a": 5, "b": 5, "c": 1} == gpu_shares(queues, 11, a=99, b=99, c=99)

"""
Pod values: what a pod is worth, whichever record of its requests is shown.
"""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.resources import GPU_SHARE, SHARES_PER_THOUSANDTH, unit_of
from solver.problem.pod_values import LARGEST, SCALE, PodValues

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("requests", "value"),
    [
        ({GPU: 2}, SCALE // 4),
        ({GPU: 1, "cpu": 3}, 3 * SCALE // 10),
        ({GPU: 3, "cpu": 1}, 3 * SCALE // 8),
        ({"cpu": 10**6}, LARGEST),
        ({"unknown": 5}, 1),
        ({}, 1),
    ],
)
def test_a_value_is_the_largest_share_of_the_cluster(requests, value):
    assert value == PodValues({GPU: 8, "cpu": 10}).of_pod(requests)


@given(
    st.integers(1000, 10**6),
    st.sampled_from([GPU, "amd.com/gpu", GPU_SHARE, "cpu", "memory", "rdma/hca"]),
    st.lists(st.integers(0, 64), min_size=1, max_size=5),
)
def test_each_unit_is_worth_the_same_however_many_a_pod_asks_for(
    total, resource, asked
):
    step = SHARES_PER_THOUSANDTH if resource == GPU_SHARE else unit_of(resource)
    values = PodValues({resource: total * step})

    assert values.of_pod({resource: step * (sum(asked) + 1)}) == values.of_pod(
        {resource: step}
    ) + sum(values.of_pod({resource: step * n}) for n in asked if n)
    assert abs(values.of_pod({resource: step * total}) - SCALE) < total


@pytest.mark.parametrize("gpus", [8, 24, 480, 8192])
@pytest.mark.parametrize("number", [1, 3, 8])
def test_who_asks_for_as_much_of_all_counts_by_gpus(gpus, number):
    each = {GPU: 1, "cpu": 12_000, "memory": 96 * 2**30}
    values = PodValues({name: amount * gpus for name, amount in each.items()})

    asked = {name: amount * number for name, amount in each.items()}
    assert values.of_pod(asked) == number * values.of_pod({GPU: 1})


def test_shares_too_small_to_be_counted_by_units_are_rounded_up():
    values = PodValues({"memory": 2**30 * 10**8})

    assert values.of_pod({"memory": 2**30 * 10**7 + 1}) == SCALE // 10 + 1


@pytest.mark.parametrize(
    ("totals", "requests", "work"),
    [
        ({GPU: 8, "cpu": 10}, {GPU: 2, "cpu": 9}, 120),
        ({GPU: 8, "cpu": 10}, {"cpu": 5}, 240),
        ({GPU: 8, "cpu": 10**6}, {"cpu": 1}, 1),
        ({"cpu": 10}, {"cpu": 5}, 30_000),
    ],
)
def test_work_is_gpus_times_seconds_or_the_same_part_of_the_cluster(
    totals, requests, work
):
    assert work == PodValues(totals).work(requests, 60)


def test_records_that_come_and_go_keep_their_own_values():
    values = PodValues({GPU: 100})
    found = [values.of_pod({GPU: number}) for number in range(1, 100)]

    assert found == [number * SCALE // 100 for number in range(1, 100)]


def test_a_copy_in_another_process_prices_what_it_is_shown():
    values = PodValues({GPU: 100})
    kept = [{GPU: number} for number in range(1, 100)]
    found = [values.of_pod(requests) for requests in kept]
    copied = pickle.loads(pickle.dumps(values))  # noqa: S301 - our own
    del kept

    fresh = [{GPU: number} for number in range(99, 0, -1)]
    assert found[::-1] == [copied.of_pod(requests) for requests in fresh]

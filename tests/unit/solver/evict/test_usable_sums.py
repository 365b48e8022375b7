"""
Room is cut to what the requests of a step can add up to.
"""

from random import Random

import numpy as np
import pytest

from solver.encode.conversion.usable_room import sums_of_requests


def all_sums(requests, most):
    """
    Add up the requests one by one, up to so many steps.
    """
    step = int(np.gcd.reduce(requests))
    reached = {0}
    for amount in range(step, most * step + 1, step):
        if any(amount - one in reached for one in requests):
            reached.add(amount)
    return sorted(reached)


@pytest.mark.parametrize("seed", range(60))
def test_the_sums_are_all_that_can_be_added_up(seed):
    chance = Random(f"sums-{seed}")
    most, times = chance.choice((64, 1000, 4096)), chance.choice((1, 7, 125))
    number = chance.randint(1, 9)
    requests = [times * chance.randint(3, most // 8) for _ in range(number)]
    found = sums_of_requests(np.array([0, *requests], dtype=np.int64), most)

    if found is None:
        assert min(requests) == np.gcd.reduce(requests)
    else:
        assert all_sums(requests, most) == found.tolist()


@pytest.mark.parametrize("requests", [[1, 5], [2, 6, 9], [0]])
def test_there_are_none_where_all_amounts_can_be_had_or_they_are_many(requests):
    assert sums_of_requests(np.array(requests, dtype=np.int64), 8) is None

"""
What parts could use of equal GPUs: all contents of one, counted by hand.
"""

import pytest

from benchmarks.cases.contents import most_used


@pytest.mark.parametrize(
    ("gpus", "waiting", "most"),
    [
        (1, {125: 8}, 1),
        (1, {125: 9}, 1),
        (2, {875: 2}, 1.75),
        (2, {875: 2, 125: 1}, 1.875),
        (2, {625: 2, 250: 4}, 1.75),
        (3, {500: 3}, 1.5),
    ],
    ids=str,
)
def test_parts_use_at_most_what_their_best_contents_hold(gpus, waiting, most):
    assert most == most_used(gpus, waiting)

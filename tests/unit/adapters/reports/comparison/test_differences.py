"""
What the page of a comparison says about tiers.
"""

import pytest

from adapters.reports.comparison.differences import in_order


@pytest.mark.parametrize(
    ("lists", "order"),
    [
        ([], []),
        ([["a", "b"], ["a", "b"]], ["a", "b"]),
        ([["a", "c"], ["a", "b", "c"]], ["a", "b", "c"]),
        ([["c"], ["a"], ["a", "b", "c"]], ["a", "b", "c"]),
        ([["a", "b"], ["b", "a"]], ["a", "b"]),
        ([["a", "b"], ["b", "a"], ["a", "b", "d"]], ["a", "b", "d"]),
    ],
)
def test_tiers_of_many_policies_keep_the_order_of_each(lists, order):
    assert order == in_order(lists)

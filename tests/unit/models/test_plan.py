"""
The gap of a tier: what may be missing of the larger of value and bound.
"""

import pytest

from models.plan import TierResult


@pytest.mark.parametrize(
    ("direction", "value", "bound", "gap"),
    [
        ("max", 75, 100, 0.25),
        ("min", 100, 75, 0.25),
        ("max", 0, 100, 1.0),
        ("min", 100, 0, 1.0),
        ("max", 0, 0, 0.0),
    ],
)
def test_a_gap_is_a_part_of_the_larger_of_value_and_bound(direction, value, bound, gap):
    tier = TierResult(
        name="any",
        band=None,
        direction=direction,
        value=value,
        bound=bound,
        proof="gap",
    )

    assert gap == tier.gap

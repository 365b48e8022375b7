"""
Times in objects: what is one, and what is none.
"""

import pytest

from adapters.kube.objects.fields import moment_of

NINE = 1769850000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-01-31T09:00:00Z", NINE),
        ("2026-01-31T09:00:00.500000Z", NINE + 0.5),
        ("2026-01-31T10:00:00.123456789+01:00", NINE + 0.123456),
        ("2026-01-31T09:00:00", None),
        ("2026-01-31T09:00:00." + "0" * 100 + "Z", None),
        (7, None),
    ],
)
def test_a_time_is_short_and_says_its_zone(text, seconds):
    assert seconds == moment_of(text)

"""
Usage in hours: written, read, and fading.
"""

import pytest

from models.errors import QuantityError
from models.memory.usage_hours import format_usage, parse_usage, used_later
from models.resources import CPU, GPU, MEMORY

DAY = 86400
HOUR = 10**6


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [(GPU, 12, 12 * HOUR), (GPU, "0.25", HOUR // 4), (CPU, "1500m", 1500 * HOUR)],
)
def test_hours_are_read_in_millionths(resource, text, amount):
    assert amount == parse_usage(resource, text)


@pytest.mark.parametrize("resource", [GPU, CPU, MEMORY])
@pytest.mark.parametrize("amount", [1, 999_999, 123_456_789_012_345])
def test_what_is_written_is_read_again(resource, amount):
    assert amount == parse_usage(resource, format_usage(resource, amount))


@pytest.mark.parametrize("text", ["much", "-1", "1e40", True])
def test_what_is_no_usage_is_refused(text):
    with pytest.raises(QuantityError):
        parse_usage(GPU, text)


def test_usage_counts_half_after_each_half_life():
    assert 25 * HOUR == used_later(100 * HOUR, 0, 14 * DAY, 7 * DAY)


def test_what_is_used_adds_up_while_it_is_young():
    hour = used_later(0, 8, 3600, 365 * DAY)

    assert 0.9999 * 8 * HOUR < hour < 8 * HOUR


def test_it_matters_little_how_often_somebody_looks():
    once = used_later(5 * HOUR, 3, DAY, 7 * DAY)
    often = 5 * HOUR
    for _ in range(1440):
        often = used_later(often, 3, 60, 7 * DAY)

    assert abs(once - often) <= 1440


def test_a_use_that_never_ends_comes_to_a_bound():
    """
    Half-life ÷ ln 2 hours of it.
    """
    used = used_later(0, 1, 7000 * DAY, 7 * DAY)

    assert 242_372_000 < used < 242_373_000

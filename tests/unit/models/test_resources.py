"""
Quantities and durations: what is read, what is refused, and where the limits are.
"""

import pytest

from models.errors import QuantityError
from models.resources import (
    CPU,
    GPU,
    LARGEST_TOTAL,
    MEMORY,
    format_quantity,
    parse_duration,
    parse_quantity,
)

READ = [
    (CPU, 96, 96_000),
    (CPU, "500m", 500),
    (CPU, 0.1, 100),
    (CPU, "0.0001", 1),
    (CPU, "1e3", 1_000_000),
    (CPU, 10**6, 10**9),
    (MEMORY, "16Gi", 16 * 2**30),
    (MEMORY, "1.5", 2),
    (MEMORY, "1Pi", 2**50),
    (GPU, "8", 8),
    (GPU, 8.0, 8),
    (GPU, 10**6, 10**6),
]


@pytest.mark.parametrize(("resource", "text", "amount"), READ)
def test_quantities_are_integers_in_the_unit_of_their_resource(resource, text, amount):
    assert amount == parse_quantity(resource, text)


REFUSED = [
    (CPU, 10**6 + 1, "at most 1000000"),
    (CPU, "1e99", "at most 1000000"),
    (CPU, "-1", "negative"),
    (CPU, True, "not a quantity"),
    (CPU, float("nan"), "not a quantity"),
    (CPU, float("inf"), "not a quantity"),
    (MEMORY, 2**50 + 1, "at most 1024Ti"),
    (MEMORY, "16GB", "not a quantity"),
    (MEMORY, "9" * 65, "not a quantity"),
    (MEMORY, "٣", "not a quantity"),
    (GPU, "16Gi", "at most 1000000"),
    (GPU, "0.5", "whole pieces"),
    (GPU, "1e-300", "whole pieces"),
]


@pytest.mark.parametrize(("resource", "text", "word"), REFUSED)
def test_what_is_no_quantity_of_a_node_is_refused_in_one_line(resource, text, word):
    with pytest.raises(QuantityError, match=word) as caught:
        parse_quantity(resource, text)

    assert len(str(caught.value)) < 200


def test_totals_may_be_larger_than_what_one_node_has():
    assert 2**60 == parse_quantity(MEMORY, "1Ei", most=LARGEST_TOTAL)
    with pytest.raises(QuantityError, match="too much"):
        parse_quantity(MEMORY, "1025Pi", most=LARGEST_TOTAL)


def test_every_limit_can_be_written_and_read_again():
    for resource in (CPU, MEMORY, GPU, "hugepages-2Mi"):
        text = format_quantity(resource, LARGEST_TOTAL)

        assert parse_quantity(resource, text, most=LARGEST_TOTAL) == LARGEST_TOTAL


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("1.5m", 90), (7, 7), (2.9, 2), ("0", 0)],
)
def test_durations_are_whole_seconds(text, seconds):
    assert seconds == parse_duration(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (-1, "negative"),
        (True, "not a duration"),
        ("1 hour", "not a duration"),
        ("٣s", "not a duration"),
        ("9" * 70 + "s", "not a duration"),
        (float("nan"), "100 years"),
        ("1000000h", "100 years"),
        (10**12, "100 years"),
    ],
)
def test_what_is_no_duration_is_refused(text, word):
    with pytest.raises(QuantityError, match=word):
        parse_duration(text)

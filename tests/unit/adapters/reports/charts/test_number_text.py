import pytest

from adapters.reports.charts.number_text import (
    DAY,
    HOUR,
    SPACE,
    amount,
    count_axis,
    period,
    power_axis,
    share,
    short_names,
    short_time,
    span,
    time_axis,
    wait_axis,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0, "0 s"),
        (0.0001, "0 s"),
        (0.35, "0.35 s"),
        (9.97, "10 s"),
        (59.4, "59 s"),
        (59.6, "1m00s"),
        (842, "14m02s"),
        (3_599.7, "1h00m"),
        (28_260, "7h51m"),
        (86_399.9, "1d00h"),
        (273_600, "3d04h"),
        (-9_900, "−2h45m"),
        (1e9, "11,574d01h"),
    ],
)
def test_duration_is_written_with_its_two_largest_units(seconds, text):
    assert text.replace(" ", SPACE) == span(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(300, "5 minutes"), (3_600, "1 hour"), (172_800, "2 days"), (90, "1m30s")],
)
def test_chosen_period_is_written_in_words(seconds, text):
    assert text == period(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0042, "4.2 ms"), (0.0412, "41 ms"), (0.0999, "0.10 s"), (2.5, "2.50 s")],
)
def test_measured_time_has_the_digits_it_is_worth(seconds, text):
    assert text.replace(" ", SPACE) == short_time(seconds)


def test_part_and_amount_say_when_there_is_none():
    assert ["–", "–"] == [share(None), amount(None)]
    assert ["12.5\N{NO-BREAK SPACE}%", "−1,234"] == [share(0.125), amount(-1_234.0)]


def test_names_in_a_chart_are_short_and_differ():
    names = ["a/x.yaml", "b/x.yaml", "c/long-name.json", "c/long-name.json", "<b>\x1b"]

    short = short_names(names)

    assert len(names) == len(set(short))
    assert ["a/x.yaml", "b/x.yaml"] == short[:2]
    assert "<b>\\x1b" == short[4]


def test_axis_of_waits_names_its_floor_and_holds_every_value():
    axis, floor = wait_axis([0, 40, 90_000], "wait")

    assert 10.0 == axis.low == floor
    assert 7 * DAY == axis.high
    assert "≤ 10 s" == axis.ticks[0][1]


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [1e-9, 1e12]])
def test_axis_of_powers_has_two_ends(values):
    axis, floor = power_axis(values, "pods")

    assert 0 < axis.low == floor < axis.high
    assert all(axis.low <= value <= axis.high for value in values if value > 0)


@pytest.mark.parametrize("most", [0, 1, 7, 53, 1_000, 12_345_678])
def test_axis_of_counts_has_whole_and_few_ticks(most):
    axis = count_axis(most, "cases")

    assert len(axis.ticks) <= 11
    assert all(value == int(value) for value, _ in axis.ticks)
    assert axis.high >= most


@pytest.mark.parametrize(
    ("length", "unit"), [(HOUR, "minutes"), (DAY, "hours"), (30 * DAY, "days")]
)
def test_axis_of_time_counts_in_a_unit_of_its_length(length, unit):
    axis, seconds = time_axis(0, length, "time")

    assert f"time, {unit}" == axis.title
    assert length == axis.high * seconds

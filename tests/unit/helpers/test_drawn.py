from datetime import date, timedelta

from tests.helpers.rounds.drawn import PART, is_drawn

DAYS = [f"{date(2026, 2, 27) + timedelta(days=n)}" for n in range(PART)]


def test_each_case_is_drawn_on_one_of_as_many_days_as_there_are_parts():
    drawn = [sum(is_drawn(at, day) for day in DAYS) for at in range(100)]

    assert {1} == set(drawn)


def test_a_day_draws_from_each_of_as_many_kinds_by_turns_as_there_are_parts():
    drawn = {at % PART for at in range(PART * PART) if is_drawn(at, DAYS[0])}

    assert set(range(PART)) == drawn


def test_all_are_drawn_where_all_are_asked_for():
    assert all(is_drawn(at, "all") for at in range(100))

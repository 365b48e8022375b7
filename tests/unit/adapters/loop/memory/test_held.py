import json
from dataclasses import replace

import pytest

from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.held import HeldTime
from models.plan import Hold
from tests.helpers.build import nodes, plan, snapshot

DAY = 86400
NOW = 1_700_000_000.0


def test_what_idles_adds_up_until_less_does():
    held = HeldTime()
    held.note(8, NOW)
    held.note(2, NOW + 3600)
    held.note(0, NOW + 7200)

    assert 10 * 3600 == held.within(NOW + 9000)


@pytest.mark.parametrize(("later", "left"), [(0, 8), (DAY - 900, 8), (DAY + 7200, 0)])
def test_what_is_older_than_the_window_is_forgotten(later, left):
    held = HeldTime()
    held.note(8, NOW)
    held.note(0, NOW + 1)

    assert left == held.within(NOW + later)


def test_what_a_clock_counted_that_was_ahead_is_forgotten_once_it_is_right():
    held = HeldTime()
    held.note(8, NOW)
    held.note(0, NOW + 1)
    held.note(8, NOW + 100 * DAY)
    held.note(0, NOW + 100 * DAY + 3600)

    assert 8 == held.within(NOW + 900)


def test_it_says_when_less_of_it_counts():
    held = HeldTime()
    before = held.eases_in(NOW)
    held.note(8, NOW)
    held.note(0, NOW + 1000)
    first = held.within(NOW + 2000)
    told = held.eases_in(NOW + 2000)

    assert (None, 8000) == (before, first)
    assert told is not None
    assert first == held.within(NOW + 2000 + told - 1)
    assert first > held.within(NOW + 2000 + told) > 0


@pytest.mark.parametrize("window", [60, 900, 3600, 7 * DAY])
def test_a_window_of_any_length_counts_what_idled_in_it(window):
    held = HeldTime(window)
    held.note(8, NOW)
    counted = [held.within(NOW + part * window / 4) for part in (1, 2, 3, 6, 8)]

    assert [2 * window, 4 * window, 6 * window] == counted[:3]
    assert all(0.9 * 8 * window <= each <= 8 * window for each in counted[3:])


@pytest.mark.parametrize(("window", "kept"), [(60, 480), (7200, 57_600), (DAY, 80_000)])
def test_what_was_kept_by_another_window_counts(window, kept):
    before, after = HeldTime(), HeldTime(window)
    before.note(8, NOW - 10_000)
    before.within(NOW)
    assert after.restore(before.document())

    assert after.within(NOW) == pytest.approx(kept, rel=0.05)


def test_only_nodes_for_which_something_idles_are_held_for_long():
    memory, seen = Memory(), snapshot(nodes(1))
    holds = (Hold(gang="default/g", nodes=("n0",), expected=700),)

    def told(held, now):
        memory.planned(seen, replace(plan(), held=held, holds=holds), now)
        return memory.document().get("holds", {}).get("held", [])

    assert [] == told(0, NOW)
    assert [["default/g", 0.0, 700]] == told(4, NOW + 60)


def test_a_day_of_it_is_kept_in_a_hundred_numbers():
    held = HeldTime()
    for minute in range(0, 3 * DAY, 60):
        held.note(minute % 7, NOW + minute)
        held.within(NOW + minute)

    assert len(held.document()["slots"]) <= 97


def test_rounds_know_what_idled_before_a_restart_and_not_what_did_in_between():
    before, after = Memory(), Memory()
    seen = snapshot(nodes(1))
    before.planned(seen, replace(plan(), held=4), NOW)
    assert 4 * 60 == before.applied(seen, NOW + 60).held
    after.restore(json.loads(json.dumps(before.document())), NOW + 1000)

    assert 4 * 60 == after.applied(seen, NOW + 1000).held

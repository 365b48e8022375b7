import json
from random import Random

import pytest

from adapters.loop.memory.start_memory import GAP, MOST_NOTED, StartMemory
from models.memory.start_record import DAY, class_of
from tests.helpers.build import gang

HOUR = 3600


def played(days=20, seed=0):
    """
    Let a gang come every six minutes, wait for about two hours, and start.
    """
    memory, chance = StartMemory(), Random(seed)
    waiting = {}
    for now in range(0, days * DAY, 360):
        key = f"g-{now}"
        waiting[key] = now + chance.randint(1, 4 * HOUR)
        memory.comes(key, "q", 1)
        for started in [key for key, at in waiting.items() if at <= now]:
            memory.starts(started, now)
            del waiting[started]
        line = {key: ("q", 1, at + 1) for at, key in enumerate(waiting)}
        memory.waits(line, now)
    return memory, days * DAY, line


def test_who_is_noted_and_starts_teaches_when_others_do():
    memory, now, line = played()
    record = memory.record(now)
    expected = record.expected("q", len(line))
    said = record.likely(1, expected)

    assert said.half < said.most < said.nearly
    assert said.most == pytest.approx(0.8 * 4 * HOUR, rel=0.5)


def test_what_is_kept_over_a_restart_says_the_same():
    memory, now, _ = played(8)
    again = StartMemory()

    assert again.restore(json.loads(json.dumps(memory.document())))
    assert again.document() == json.loads(json.dumps(memory.document()))
    assert again.record(now).gpus == memory.record(now).gpus
    assert again.record(now).started == memory.record(now).started
    assert again.record(now).levels.keys() == memory.record(now).levels.keys()


@pytest.mark.parametrize("document", [[], {"since": "x"}, {"since": 1.0}, 7])
def test_what_cannot_be_read_is_as_if_nothing_was_seen(document):
    memory, _, _ = played(2)

    assert not memory.restore(document)
    assert memory.document() is None


def test_who_is_gone_without_a_start_teaches_nothing():
    memory, now, line = played(8)
    before = memory.record(now).started
    for key in line:
        memory.leaves(key)
        memory.starts(key, now)

    assert before == memory.record(now).started


@pytest.mark.drawn
def test_notes_are_bounded_and_the_oldest_count_as_late():
    memory, now, _ = played(4)
    for slot in range(2 * MOST_NOTED):
        now += GAP
        memory.comes("fast", "q", 9)
        memory.starts("fast", now)
        memory.waits({f"w-{slot}": ("q", 1, 5)}, now)
    late = memory.record(now).late

    assert len(memory.document()["noted"]) <= MOST_NOTED
    assert late


def test_who_ran_when_we_began_is_no_start():
    memory = StartMemory()
    memory.note([gang("runs", queue="q", gpus=4, running=["n0"])], 0.0)

    assert memory.record(DAY).gpus == {}


def test_a_gang_that_came_and_runs_is_a_start_of_its_queue():
    memory = StartMemory()
    memory.note([gang("a", queue="q", gpus=4)], 0.0)
    memory.waits({}, 0.0)
    memory.note([gang("a", queue="q", gpus=4, running=["n0"])], 9.0 * HOUR)
    record = memory.record(10.0 * HOUR)

    assert {"q": 4} == record.gpus
    assert 10 * HOUR == record.expected("q", 4)
    assert class_of(4, 10 * HOUR) == (1, 2)


def test_a_clock_that_was_far_ahead_for_a_while_leaves_nothing_behind():
    memory, year, noted = StartMemory(), 365 * DAY, []
    memory.comes("early", "q", 1)
    memory.waits({"early": ("q", 1, 1)}, year)
    memory.starts("early", year)
    for now in range(0, 6 * HOUR, 360):
        memory.comes(f"g-{now}", "q", 1)
        noted += memory.waits({f"g-{now}": ("q", 1, 1)}, now)
        memory.starts(f"g-{now}", now + 1)
    record = memory.record(6 * HOUR)

    assert noted
    assert {"q": 60} == record.gpus
    assert 6 * HOUR == record.seconds

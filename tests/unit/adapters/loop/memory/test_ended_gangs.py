"""
What a loop records of gangs that have ended.
"""

import json

import pytest

from adapters.loop.memory.ended_gangs import EndedGangs
from adapters.loop.memory.gangs import Memory
from models.memory.run_times import NOTHING_SEEN, RunTimes, bin_of, kind_of
from tests.helpers.build import gang, nodes, snapshot

NOW = 1_700_000_000.0
HOUR = 3600
KIND = kind_of("default", "default", 2)


def seen(memory: Memory, moment: float, *gangs) -> RunTimes:
    return memory.applied(snapshot(nodes(1), gangs), NOW + moment).run_times


def running(seconds: int = 0):
    found = gang("g", minimum=2, running=["n0", "n0"])
    for pod in found.tree.pods:
        object.__setattr__(pod, "seconds", seconds)
    return found


def test_a_gang_that_is_gone_has_run_since_it_was_seen():
    memory = Memory()

    assert NOTHING_SEEN == seen(memory, 0, running())
    assert NOTHING_SEEN == seen(memory, HOUR, running(HOUR))
    assert {KIND: {bin_of(2 * HOUR): 1}} == seen(memory, 2 * HOUR).ended
    assert {KIND: {bin_of(2 * HOUR): 1}} == seen(memory, 9 * HOUR).ended


def test_a_gang_whose_pods_have_succeeded_has_ended():
    memory = Memory()
    seen(memory, 0, running())

    done = gang("g", minimum=2, succeeded=2)
    assert {KIND: {bin_of(HOUR): 1}} == seen(memory, HOUR, done).ended


def test_what_ran_before_we_saw_it_counts_from_its_start():
    memory = Memory()
    seen(memory, 0, running(5 * HOUR))

    assert {KIND: {bin_of(6 * HOUR): 1}} == seen(memory, HOUR).ended


def test_what_only_waited_has_not_ended():
    memory = Memory()
    seen(memory, 0, gang("g", minimum=2))

    assert NOTHING_SEEN == seen(memory, HOUR)


@pytest.mark.parametrize(("evicted", "counted"), [(-1.0, True), (HOUR - 1, False)])
def test_what_had_to_leave_says_nothing(evicted, counted):
    ended = EndedGangs()
    ended.note(snapshot(nodes(1), [running()]), NOW, {})

    empty = snapshot(nodes(1), [gang("g", minimum=2)])
    record = ended.note(empty, NOW + HOUR, {"default/g": NOW + evicted})

    assert counted == bool(record)


def test_what_came_true_of_what_was_told_is_kept_over_a_restart():
    memory, after = Memory(), Memory()
    for at in range(25):
        seen(memory, 2 * at * HOUR, running())
        seen(memory, (2 * at + 1) * HOUR)
    kept = seen(memory, 60 * HOUR)

    assert 0 == after.restore(json.loads(json.dumps(memory.document())), NOW)
    assert {0} == set(kept.levels)
    assert kept == seen(after, 60 * HOUR)


def test_the_record_is_kept_over_a_restart():
    memory, after = Memory(), Memory()
    seen(memory, 0, running())
    record = seen(memory, HOUR)

    assert 0 == after.restore(json.loads(json.dumps(memory.document())), NOW)
    assert record == seen(after, HOUR)


@pytest.mark.parametrize(
    "said",
    ["much", {"a": 1}, [["q", "o", 1]], [["q", "o", -1, [[1, 1]]]], [[1, "o", 1, []]]],
)
def test_what_cannot_be_read_is_forgotten_and_counted(said):
    memory = Memory()

    assert 1 == memory.restore({"ended": said}, NOW)
    assert NOTHING_SEEN == seen(memory, 0)

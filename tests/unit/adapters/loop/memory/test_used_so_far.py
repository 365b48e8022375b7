import json

import pytest

from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.used_so_far import UsageMemory
from models.queues import QueueResource
from models.resources import CPU, GPU
from tests.helpers.build import gang, nodes, queue, snapshot

NOW = 1_700_000_000.0
DAY = 86400
WEEK = 7 * DAY


def seen(memory: Memory, moment: float, *, pods: int = 8, quota: int | None = 2):
    """
    Give what the only queue used so far, in whole GPU-hours.
    """
    runs = gang("g", minimum=1, running=["n0"] * pods) if pods else gang("g")
    there = snapshot(nodes(1), [runs], queues=[queue("default", quota=quota)])
    (found,) = memory.applied(there, NOW + moment).queues
    return round(found.usage.get(GPU, 0) / 10**6)


def test_what_runs_beyond_the_quota_is_counted():
    memory = Memory(half_life=WEEK)
    seen(memory, 0)

    assert 6 == seen(memory, 3600)


def test_what_runs_within_the_quota_is_not():
    memory = Memory(half_life=WEEK)
    seen(memory, 0, quota=8)

    assert 0 == seen(memory, DAY, quota=8)


def test_a_queue_without_a_bound_to_its_quota_uses_nothing_beyond_it():
    memory = Memory(half_life=WEEK)
    seen(memory, 0, quota=None)

    assert 0 == seen(memory, DAY, quota=None)


def test_what_only_other_queues_name_has_no_quota():
    memory = Memory(half_life=WEEK)
    rule = {CPU: QueueResource(quota=8)}
    queues = [queue("default", resources=rule), queue("other", quota=2)]
    runs = gang("g", minimum=1, running=["n0"] * 4)
    there = snapshot(nodes(1), [runs], queues=queues)
    memory.applied(there, NOW)
    found, _ = memory.applied(there, NOW + 3600).queues

    assert 4 == round(found.usage[GPU] / 10**6)


def test_usage_fades_once_nothing_runs():
    memory = Memory(half_life=WEEK)
    seen(memory, 0)
    seen(memory, DAY, pods=0)

    assert 137 == seen(memory, DAY, pods=0)
    assert 69 == seen(memory, DAY + WEEK, pods=0)


def test_without_a_half_life_nothing_is_counted_or_kept():
    memory = Memory()
    seen(memory, 0)

    assert (0, False) == (seen(memory, DAY), "usage" in memory.document())


def test_usage_is_known_after_a_restart_with_what_ran_meanwhile():
    before, after = Memory(half_life=WEEK), Memory(half_life=WEEK)
    seen(before, 0)
    seen(before, 3600)
    lost = after.restore(json.loads(json.dumps(before.document())), NOW + 5400)

    assert (0, 12) == (lost, seen(after, 7200))


def test_usage_that_cannot_be_read_is_lost_and_said():
    memory = Memory(half_life=WEEK)
    lost = memory.restore({"usage": {"until": 1.0, "used": {"q": 3}, "uses": {}}}, NOW)

    assert (1, 0) == (lost, seen(memory, 0))


def test_a_queue_that_is_gone_is_forgotten():
    memory = Memory(half_life=WEEK)
    seen(memory, 0)
    seen(memory, DAY)
    memory.applied(snapshot(nodes(1)), NOW + DAY)

    assert 0 == seen(memory, DAY)


def test_who_only_looks_sees_what_the_loop_counts():
    memory = Memory(half_life=WEEK)
    seen(memory, 0)
    kept = UsageMemory.kept(memory.document()["usage"])
    (found,) = kept.applied([queue("default")], NOW + 3600)

    assert (WEEK, 6) == (kept.half_life, round(found.usage[GPU] / 10**6))


@pytest.mark.parametrize("said", [None, "x", {"half_life": True}, {"half_life": 60}])
def test_what_cannot_be_read_shows_nothing(said):
    plain = queue("default")

    assert (plain,) == UsageMemory.kept(said).applied([plain], NOW)

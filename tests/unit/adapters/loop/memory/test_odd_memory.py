"""
What is remembered and was not written as we write it stops nobody from leading.
"""

import pytest

from adapters.loop.memory.gangs import Memory
from models.memory.start_record import NO_STARTS
from tests.helpers.build import bind, gang, nodes, plan, snapshot

NOW = 1_700_000_000.0


@pytest.mark.parametrize("odd", ["much", {"slots": None}, {"slots": {"a": 1}}])
def test_what_idled_and_cannot_be_read_is_forgotten_and_counted(odd):
    memory = Memory()

    assert 1 == memory.restore({"held": odd}, NOW)
    assert 0 == memory.applied(snapshot(nodes(1)), NOW).held


@pytest.mark.parametrize("odd", [10**400, float("nan"), float("inf"), True])
def test_a_number_that_nobody_writes_is_passed_by(odd):
    memory = Memory(evict_after=600)
    promise = {"gang": "default/g", "pod": "default/g-0", "node": "n0", "until": odd}
    memory.restore(
        {
            "gangs": {"default/g": {"waited": odd, "evicted_at": odd}},
            "promises": [promise],
            "first_led": odd,
        },
        NOW,
    )
    (found,) = memory.applied(snapshot(nodes(1), [gang("g", minimum=1)]), NOW).gangs

    assert (0, None) == (found.passed_over, found.evicted_ago)
    assert 0 == memory.calm_for(NOW)
    assert 0 == memory.promises.document()[0]["until"]


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_moment_that_is_none_since_when_nothing_changed_is_passed_by(odd):
    before, after = Memory(), Memory()
    runs = snapshot(nodes(1), [gang("g", minimum=1, running=["n0"])])
    before.applied(runs, NOW)
    before.planned(runs, plan(bind("g-0", op="Evict", rule="reclaim")), NOW)
    kept = before.document()
    kept["unchanged"] = {**kept["unchanged"], "since": odd}

    assert 1 == after.restore(kept, NOW)
    assert after.applied(runs, NOW).unchanged_for is None


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_what_was_expected_at_no_moment_is_forgotten_and_counted(odd):
    memory = Memory()
    noted = [["default/g", odd, 5, 0, 0, []]]
    said = {"since": NOW, "noted": noted}
    said |= {word: [] for word in ("started", "late", "levels", "hours")}

    assert 1 == memory.restore({"starts": said}, NOW)
    assert NO_STARTS == memory.applied(snapshot(nodes(1)), NOW).starts

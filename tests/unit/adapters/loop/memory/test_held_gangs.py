"""
For how long nodes were held for gangs.
"""

import json
from dataclasses import replace

import pytest

from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.held_gangs import HoldMemory
from models.plan import Hold
from tests.helpers.build import bind, gang, nodes, plan, snapshot

NOW = 1_700_000_000.0
HOUR = 3600


def hold(gang: str = "default/g", expected: int = HOUR) -> Hold:
    return Hold(gang=gang, nodes=("n0",), expected=expected)


def test_time_adds_up_while_nodes_are_held_and_the_first_forecast_stays():
    memory = HoldMemory()
    memory.planned([hold()], NOW)
    memory.planned([], NOW + 600)
    memory.planned([hold(expected=9 * HOUR)], NOW + HOUR)

    assert (600 + HOUR, HOUR) == memory.of("default/g", NOW + 2 * HOUR)


def test_who_starts_is_forgotten():
    memory = HoldMemory()
    memory.planned([hold()], NOW)
    memory.forget(["default/g"])

    assert (0, None) == memory.of("default/g", NOW + HOUR)


@pytest.mark.parametrize(("held_on", "seconds"), [(False, 600), (True, 600 + HOUR)])
def test_what_was_held_is_kept_over_a_restart(held_on, seconds):
    memory, after = HoldMemory(), HoldMemory()
    memory.planned([hold()], NOW)
    memory.planned([hold()], NOW + 600)

    said = json.loads(json.dumps(memory.document()))
    assert after.restore(said, held_on=held_on)
    after.planned([], NOW + 600 + HOUR)
    assert (seconds, HOUR) == after.of("default/g", NOW + 9 * HOUR)


@pytest.mark.parametrize("said", [7, {"held": [["g"]]}, {"held": [["g", -1, 2]]}])
def test_what_cannot_be_read_is_forgotten_and_counted(said):
    assert 1 == Memory().restore({"holds": said}, NOW)


def test_who_was_lent_nodes_is_known_until_it_starts_elsewhere():
    guest = gang("guest", minimum=1)
    before, after = Memory(), Memory()
    seen = snapshot(nodes(1), [guest])
    hold = Hold(gang="default/head", nodes=("n0",), expected=600, lent=(guest.key,))
    before.planned(seen, replace(plan(bind("guest-0", "n0")), holds=(hold,)), NOW)
    after.restore(json.loads(json.dumps(before.document())), NOW)
    runs = snapshot(nodes(1), [gang("guest", minimum=1, running=["n0"])])
    known = [memory.applied(runs, NOW).gangs[0].lent_by for memory in (before, after)]
    after.planned(seen, plan(bind("guest-0", "n0")), NOW + 60)

    assert [("default/head",)] * 2 == known
    assert () == after.applied(runs, NOW + 60).gangs[0].lent_by

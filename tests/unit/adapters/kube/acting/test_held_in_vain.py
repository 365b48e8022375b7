"""
A gang that is given up while nothing can be stored, and then gets other nodes.
"""

import pytest

from adapters.kube.api.errors import answer_error
from adapters.loop.interfaces import Turn
from tests.adapters.kube.api_server import PODS
from tests.helpers.build import bind, gang, plan, snapshot
from tests.unit.adapters.kube.acting.devices import test_bind_request_binder as binder
from tests.unit.adapters.kube.acting.test_volume_binder import Stage

ELSEWHERE = [bind(f"g-{i}", f"n{1 - i}", uid=f"uid-g-{i}") for i in range(2)]


def not_stored(stage, turn):
    """
    Carry binds out while the intent cannot be stored.
    """

    def fault(method: str, path: str) -> None:
        if method == "PUT" and "configmaps" in path:
            raise answer_error("put", 500, "no space left on device")

    stage.api.fault = fault
    results = stage.results(turn)
    stage.api.fault = lambda _method, _path: None
    return results


def test_what_is_planned_after_a_vain_wait_waits_for_its_volumes_too():
    stage = Stage()
    stage.begin()
    stage.hear(0, 1)
    stage.time = 601.0
    ended = stage.sink.due()

    lost = not_stored(stage, ended)
    there = snapshot(gangs=[gang("g", minimum=2)])
    again = Turn(there, plan(*ELSEWHERE), (), "r2")
    for _ in range(2):
        stage.sink.hold(again)
        last = stage.results(again)
        stage.hear(0, 1)

    assert ["skipped", "skipped"] == lost
    assert ["held", "held"] == last
    assert [None, None] == stage.nodes
    assert ["n1", "n0"] == stage.selected()


@pytest.mark.parametrize("made", [Stage, binder.Stage], ids=["volumes", "requests"])
@pytest.mark.parametrize("deleted", [False, True], ids=["stays", "is deleted"])
def test_the_end_of_a_held_gang_is_tried_again_and_then_nothing_is_promised(
    made, deleted
):
    stage = made()
    stage.begin()
    stage.hear() if made is binder.Stage else stage.hear(0, 1)
    stage.time = 601.0
    lost = not_stored(stage, stage.sink.due())
    if deleted:
        stage.cache.shelf(PODS).replace({}, "9")
    rests = stage.sink.due()
    ended = stage.results(stage.sink.due())

    assert ({"skipped"}, None) == (set(lost), rests)
    assert {"refused"} == set(ended)
    assert () == stage.sink._held.promised


def test_a_gang_whose_volumes_are_there_is_bound_once_that_can_be_stored():
    stage = Stage()
    stage.begin()
    for i in range(2):
        stage.bound(i)
    lost = not_stored(stage, stage.sink.due())
    rests = stage.sink.due()
    done = stage.results(stage.sink.due())

    assert (["skipped"] * 2, None, ["done"] * 2) == (lost, rests, done)
    assert ["n0", "n1"] == stage.nodes
    assert () == stage.sink._held.promised

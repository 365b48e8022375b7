"""
A gang that is given up while nothing can be stored, and then gets other nodes.
"""

from adapters.kube.api.errors import answer_error
from adapters.loop.interfaces import Turn
from tests.helpers.build import bind, gang, plan, snapshot
from tests.unit.adapters.kube.acting.test_volume_binder import Stage

ELSEWHERE = [bind(f"g-{i}", f"n{1 - i}", uid=f"uid-g-{i}") for i in range(2)]


def test_what_is_planned_after_a_vain_wait_waits_for_its_volumes_too():
    stage = Stage()
    stage.begin()
    stage.hear(0, 1)
    stage.time = 601.0
    ended = stage.sink.due()

    def fault(method: str, path: str) -> None:
        if method == "PUT" and "configmaps" in path:
            raise answer_error("put", 500, "no space left on device")

    stage.api.fault = fault
    lost = stage.results(ended)
    stage.api.fault = lambda _method, _path: None
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

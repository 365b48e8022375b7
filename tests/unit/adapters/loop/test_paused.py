"""
A plan that nobody carries out, as it is told while the scheduler is paused.
"""

from adapters.loop.paused import withheld
from models.policy import Policy
from models.why.reasons import Reason, Waiting
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot

WHY = Waiting(Reason.PAUSED, {"by": "alice", "detail": "a new fabric"})


def told(*gangs, size=1):
    plan = withheld(decide(snapshot(nodes(size), list(gangs)), Policy()), WHY)
    assert not plan.operations
    return {line.name: line for line in plan.gangs}


def test_who_would_start_waits_for_the_pause_with_its_reason():
    line = told(gang("g", minimum=2))["default/g"]

    assert ("Waiting", WHY, 0) == (line.state, line.waiting, line.pods.binding)
    assert line.waiting.message == (
        "would have pods bound or places reserved now, "
        "but the scheduler is paused by alice: a new fabric"
    )


def test_who_would_grow_runs_and_who_waits_keeps_its_own_reason():
    grows = gang("g", minimum=1, replicas=2, running=["n0"])
    lines = told(grows, gang("h", minimum=2, gpus=64))

    assert ("Running", WHY) == (lines["default/g"].state, lines["default/g"].waiting)
    assert Reason.PAUSED is not lines["default/h"].waiting.reason


def test_who_would_get_a_place_reserved_is_not_said_to_start_now():
    lends = gang("lends", minimum=1, gpus=8, running=["n0"])
    entitled = gang("entitled", minimum=1, gpus=8, priority=9)
    line = told(entitled, lends)["default/entitled"]

    assert ("Waiting", Reason.PAUSED) == (line.state, line.waiting.reason)
    assert "or places reserved now" in line.waiting.message

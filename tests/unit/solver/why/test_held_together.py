"""
Who waits for what pods have together is told whose it is, how much, and what helps.
"""

import pytest

from adapters.files import scenario_of
from models.changes import EvictedGangs
from models.why.reasons import Reason
from solver import remedies_of, why_waits
from solver.round import decide

NEEDS = "is entitled and needs {}; 0 are free{}, and only protected work is in its way"
KEPT = ": {} held by default/kept (not preemptible)"


def waiting_for(gpus, own):
    """
    Give a round in which two pods have a GPU together, and ``own`` ones each.
    """
    total = 1 + 2 * own
    holder = {"queue": "o", "min": 1, "requests": {"nvidia.com/gpu": own, "pods": 1}}
    there = {"running": [{"node": "n", "tied": [0]}]}
    wanted = {"nvidia.com/gpu": gpus, "pods": 1}
    amounts = {"nvidia.com/gpu": {"quota": total}}
    given = {
        "nodes": [
            {
                "name": "n",
                "allocatable": {"nvidia.com/gpu": total, "pods": 9},
                "used": {"nvidia.com/gpu": 1},
                "tied": [{"nvidia.com/gpu": 1}],
            }
        ],
        "queues": [
            {"name": "q", "resources": amounts},
            {"name": "o", "resources": {"nvidia.com/gpu": {"quota": 0}}},
        ],
        "gangs": [
            {"name": "kept", "preemptible": False, **holder, **there},
            {"name": "may", **holder, **there},
            {"name": "w", "queue": "q", "min": 1, "requests": wanted},
        ],
    }
    document = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}
    return scenario_of("tied", document)


@pytest.mark.parametrize(
    ("gpus", "own", "told"),
    [
        (1, 0, NEEDS.format("1 GPU", "") + KEPT.format(1)),
        (
            3,
            1,
            NEEDS.format("3 GPUs", ", 1 more once others have left") + KEPT.format(2),
        ),
    ],
)
def test_what_is_held_together_is_counted_with_who_is_protected(gpus, own, told):
    given = waiting_for(gpus, own)

    plan = decide(given.snapshot, given.policy)

    (line,) = [line for line in plan.gangs if line.name == "default/w"]
    assert Reason.PREEMPTION_PROTECTED == line.waiting.reason
    assert told == line.waiting.message


@pytest.mark.parametrize("own", [0, 1])
def test_who_holds_something_with_others_only_is_on_the_menu(own):
    given = waiting_for(1 + 2 * own, own)
    asked = given.snapshot, given.policy, decide(given.snapshot, given.policy)

    found = remedies_of(*asked, why_waits(*asked, "default/w"))

    first = EvictedGangs(gangs=("default/kept",))
    assert (first,) == found.found[0].changes

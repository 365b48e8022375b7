"""
What is told to groups of Kubernetes itself.
"""

import pytest

from adapters.kube.dialects.native.gangs import DIALECT
from tests.helpers.kube.dialects import (
    after,
    claim,
    examples,
    golden,
    standing,
)
from tests.helpers.kube.native_objects import GANG, WORKLOAD, child, composite, group


def test_a_gang_that_starts_is_scheduled_for_ever():
    found = claim(DIALECT, group(meta=", generation: 3"))

    (patch,) = DIALECT.answer(found, standing("Starting", binding=2))
    told = after(found, [patch])

    assert patch.subresource == "status"
    assert patch.patch["status"]["conditions"] == [
        {
            "type": "PodGroupInitiallyScheduled",
            "status": "True",
            "reason": "Scheduled",
            "message": "",
            "observedGeneration": 3,
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }
    ]
    lost = standing(reason="Fragmented", message="m")
    assert list(DIALECT.answer(told, lost)) == []


MESSAGES = {
    "InsufficientCapacity": (
        "Unschedulable",
        (
            "minCount (5) cannot be satisfied: 0 scheduled, 5 remaining; "
            "InsufficientCapacity: why"
        ),
    ),
    "WaitingForPods": (
        "Unschedulable",
        "waiting for minCount pods from a gang to appear; WaitingForPods: why",
    ),
    "ConfigConflict": ("SchedulerError", "ConfigConflict: why"),
    "InvalidGang": ("SchedulerError", "InvalidGang: why"),
}


@pytest.mark.parametrize("reason", MESSAGES)
def test_a_waiting_gang_says_why(reason):
    found = claim(DIALECT, group())

    patch, event = DIALECT.answer(found, standing(reason=reason, message="why"))

    (condition,) = patch.patch["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == MESSAGES[reason]
    assert condition["status"] == "False"
    assert event.event == ("Warning", "FailedScheduling", MESSAGES[reason][1])


def test_nothing_is_said_twice_and_the_time_is_that_of_the_status():
    found = claim(DIALECT, group())
    waits = standing(reason="Fragmented", message="m", now=1.0)
    told = after(found, DIALECT.answer(found, waits))

    again = list(DIALECT.answer(told, waits))
    other, _ = DIALECT.answer(
        told, standing(reason="InsufficientCapacity", message="m", now=9.0)
    )

    assert again == []
    (condition,) = other.patch["status"]["conditions"]
    assert condition["lastTransitionTime"] == "1970-01-01T00:00:01Z"


def test_other_conditions_are_kept():
    foreign = {"type": "DisruptionTarget", "status": "False"}
    found = claim(DIALECT, group(status={"conditions": [foreign]}))

    (patch,) = DIALECT.answer(found, standing("Starting", binding=2))

    assert patch.patch["status"]["conditions"][0] == foreign


@pytest.mark.parametrize("mode", ["{all: {}}", "PodGroup"])
def test_a_group_that_is_evicted_whole_is_marked(mode):
    whole = claim(DIALECT, group(f"{{{GANG}, disruptionMode: {mode}}}"))
    evicting = standing("Evicting", running=5)

    (patch,) = DIALECT.answer(whole, evicting)

    (condition,) = patch.patch["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == (
        "DisruptionTarget",
        "PreemptionByScheduler",
    )
    assert list(DIALECT.answer(claim(DIALECT, group()), evicting)) == []


@pytest.mark.parametrize(
    ("least", "answered"), [(2, ["top", "g0", "g1"]), (1, ["top"])]
)
def test_a_tree_is_answered_where_the_counts_say_it(least, answered):
    found = claim(DIALECT, WORKLOAD, composite(least=least), child("g0"), child("g1"))

    writes = list(DIALECT.answer(found, standing("Starting", binding=4)))

    assert [write.name for write in writes] == answered
    assert (writes[0].plural, writes[0].version) == ("compositepodgroups", "v1alpha3")
    (condition,) = writes[0].patch["status"]["conditions"]
    assert condition["type"] == "CompositePodGroupInitiallyScheduled"


def test_a_tree_that_waits_says_so_on_every_group():
    found = claim(DIALECT, WORKLOAD, composite(), child("g0"), child("g1"))

    writes = DIALECT.answer(found, standing(reason="WaitingForPods", message="m"))

    said = {w.name: w.event[2] for w in writes if w.event}
    assert said == {
        "top": (
            'waiting for composite pod group "top" tree to meet quorum; '
            "WaitingForPods: m"
        ),
        "g0": "waiting for minCount pods from a gang to appear; WaitingForPods: m",
        "g1": "waiting for minCount pods from a gang to appear; WaitingForPods: m",
    }


def test_the_documented_examples_are_read_and_answered_as_ever():
    assert golden("native") == examples("native")

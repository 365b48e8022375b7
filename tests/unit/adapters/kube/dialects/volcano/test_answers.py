"""
What is told to groups of Volcano: phases, conditions and events in its words.
"""

import pytest

from tests.helpers.kube.dialects import (
    after,
    claim,
    claims,
    examples,
    golden,
    standing,
)
from tests.helpers.kube.volcano_objects import ROC, VERSIONS, VOLCANO, group, pod

NO_PODS = {"minimum": 10, "total": 0, "reason": "WaitingForPods", "message": "m"}


def test_a_gang_without_pods_is_ten_of_none():
    found = claim(ROC, group("{minMember: 10}", version=VERSIONS["roc"]))

    patch, event = ROC.answer(found, standing(**NO_PODS))

    (condition,) = patch.patch["status"]["conditions"]
    assert condition == {
        "type": "Unschedulable",
        "status": "True",
        "reason": "NotEnoughResources",
        "message": (
            "10/0 tasks in gang unschedulable: pod group is not ready, 10 minAvailable"
        ),
        "transitionID": "r1",
        "lastTransitionTime": "1970-01-01T00:00:00Z",
    }
    assert (patch.group, patch.version) == ("scheduling.roc", "v1beta1")
    assert patch.subresource == ""
    assert event.event[1] == "Unschedulable"


@pytest.mark.parametrize(
    ("spec", "facts", "phase"),
    [
        ("{minMember: 10}", {}, "Inqueue"),
        ("{minMember: 10, minResources: {cpu: 1}}", {}, "Pending"),
        ("{minMember: 10, minResources: {cpu: 1}}", {"gate": "open"}, "Inqueue"),
    ],
)
def test_pods_may_be_made_once_the_gate_is_open(spec, facts, phase):
    found = claim(VOLCANO, group(spec))

    patch, _ = VOLCANO.answer(found, standing(**NO_PODS, facts=facts))

    assert patch.patch["status"]["phase"] == phase


def test_a_gang_that_starts_says_volcanos_sentence():
    found = claim(VOLCANO, group())

    patch, event = VOLCANO.answer(found, standing("Starting", binding=5))

    assert patch.patch["status"]["phase"] == "Running"
    (condition,) = patch.patch["status"]["conditions"]
    assert condition["type"] == "Scheduled"
    assert condition["reason"] == "tasks in gang are ready to be scheduled"
    assert event.event == ("Normal", "Scheduled", "pod group is ready")


SENTENCES = {
    "resources": (
        {"reason": "Fragmented", "message": "no room"},
        "NotEnoughResources",
        (
            "5/5 tasks in gang unschedulable: pod group is not ready, 5 Pending, "
            "5 minAvailable; Pending: 5 Unschedulable. "
            "Origin reason is Fragmented: no room"
        ),
    ),
    "pods": (
        {"reason": "WaitingForPods", "total": 3, "facts": {"have": 3, "needs": 5}},
        "NotEnoughTasks",
        "Not enough valid tasks for gang-scheduling, valid: 3, min: 5",
    ),
    "pods with gates": (
        {"reason": "WaitingForPods", "total": 5, "facts": {"have": 0, "needs": 5}},
        "NotEnoughTasks",
        "Not enough valid tasks for gang-scheduling, valid: 0, min: 5",
    ),
    "pods of a task": (
        {
            "reason": "WaitingForPods",
            "facts": {"have": 1, "needs": 2, "where": " in worker"},
        },
        "NotEnoughPodsOfTask",
        (
            "Not enough valid pods of each task for gang-scheduling in worker: "
            "valid: 1, min: 2"
        ),
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_waiting_gang_says_why_in_volcanos_words(name):
    said, reason, message = SENTENCES[name]
    found = claim(VOLCANO, group())

    patch, _ = VOLCANO.answer(found, standing(**said))

    (condition,) = patch.patch["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == (reason, message)


@pytest.mark.parametrize(
    ("reason", "where", "event"),
    [
        (
            "QuotaLimitReached",
            "",
            ("Normal", "queue resource quota insufficient: insufficient cpu"),
        ),
        (
            "InsufficientCapacity",
            " as its minResources",
            ("Normal", "resource in cluster is overused: cpu"),
        ),
    ],
)
def test_an_event_says_which_resource(reason, where, event):
    found = claim(VOLCANO, group())
    facts = {"resource": "cpu", "where": where}

    _, said = VOLCANO.answer(found, standing(reason=reason, message="m", facts=facts))

    assert (said.event[0], said.event[2]) == event


PHASES = {
    "waits for room": (standing(reason="Fragmented", message="m"), "Inqueue"),
    "waits for quota": (standing(reason="QuotaLimitReached", message="m"), "Pending"),
    "waits for its queue": (standing(reason="QueueClosed", message="m"), "Pending"),
    "waits at the gate": (
        standing(
            reason="InsufficientCapacity",
            message="m",
            facts={"where": " as its minResources"},
        ),
        "Pending",
    ),
    "in part": (standing(reason="Fragmented", message="m", running=2), "Unknown"),
    "runs": (standing("Running", running=5), "Running"),
    "grows": (standing("Growing", running=5, binding=1, total=6), "Running"),
    "ended": (standing("Finished", succeeded=5), "Completed"),
    "one failed": (standing("Finished", succeeded=5, failed=1, total=6), "Completed"),
}


@pytest.mark.parametrize("name", PHASES)
def test_the_phase_follows_the_counts(name):
    decided, expected = PHASES[name]
    found = claim(VOLCANO, group())

    first, *_ = VOLCANO.answer(found, decided)

    assert first.patch["status"]["phase"] == expected


def test_a_group_let_in_stays_let_in():
    found = claim(VOLCANO, group(status={"phase": "Inqueue"}))

    patch, _ = VOLCANO.answer(found, standing(reason="QueueClosed", message="m"))

    assert "phase" not in patch.patch["status"]


@pytest.mark.parametrize("name", PHASES)
def test_nothing_is_said_twice(name):
    decided, _ = PHASES[name]
    found = claim(VOLCANO, group())

    told = after(found, VOLCANO.answer(found, decided))

    assert list(VOLCANO.answer(told, decided)) == []


def test_conditions_are_kept_one_of_each_type_the_newest_last():
    found = claim(VOLCANO, group())
    waits = standing(reason="Fragmented", message="m", now=1.0)
    starts = standing("Starting", binding=5, now=2.0)
    told = after(found, VOLCANO.answer(found, waits))
    told = after(told, VOLCANO.answer(told, starts))

    again = after(told, VOLCANO.answer(told, standing(**vars_of(waits, now=3.0))))

    kinds = [c["type"] for c in again.source["status"]["conditions"]]
    assert kinds == ["Scheduled", "Unschedulable"]


def vars_of(decided, **more):
    said = {"reason": decided.reason, "message": decided.message}
    return said | more


def test_a_gang_that_only_annotations_describe_gets_no_answer():
    words = "scheduling.volcano.sh/group-min-member: '3'"
    (found,) = claims(VOLCANO, pod(group_name="", annotations=words)).values()

    assert list(VOLCANO.answer(found, standing("Running", running=5))) == []


@pytest.mark.parametrize("folder", ["volcano", "roc"])
def test_the_documented_examples_are_read_and_answered_as_ever(folder):
    assert golden(folder) == examples(folder)

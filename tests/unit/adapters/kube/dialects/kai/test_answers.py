"""
What is told to groups of KAI, in its words.
"""

import pytest

from adapters.kube.dialects.kai.gangs import DIALECT
from tests.helpers.kube.dialects import (
    after,
    claim,
    examples,
    golden,
    standing,
)
from tests.helpers.kube.kai_objects import MARK, group

LIMIT = {
    "reason": "QuotaLimitReached",
    "message": "ours",
    "facts": {
        "resource": "nvidia.com/gpu",
        "queue": "q",
        "needs": 8,
        "used": 4,
        "limit": 10,
    },
}

SAID = {
    "OverLimit": LIMIT,
    "NonPreemptibleOverQuota": LIMIT
    | {"facts": LIMIT["facts"] | {"work": " of non-preemptible work"}},
    "QueueDoesNotExist": {
        "reason": "QueueNotFound",
        "message": "ours",
        "facts": {"queue": "q"},
    },
    "PodSchedulingErrors": {"reason": "Fragmented", "message": "no room"},
}


@pytest.mark.parametrize("word", SAID)
def test_a_waiting_gang_is_marked_with_the_reason_in_kais_words(word):
    found = claim(DIALECT, group())

    condition, event = DIALECT.answer(found, standing(**SAID[word]))

    (mark,) = condition.patch["status"]["schedulingConditions"]
    assert condition.subresource == "status"
    assert mark["type"] == "UnschedulableOnNodePool"
    assert mark["reasons"][0]["reason"] == word
    assert mark["message"].startswith(f"{word}: ")
    assert (mark["transitionID"], mark["status"]) == ("1", "True")
    assert event.event[1] == "Unschedulable"


def test_a_gang_over_its_limit_says_all_numbers():
    found = claim(DIALECT, group())

    condition, _ = DIALECT.answer(found, standing(**LIMIT))

    (mark,) = condition.patch["status"]["schedulingConditions"]
    assert mark["reasons"][0] == {
        "reason": "OverLimit",
        "message": (
            "q quota has reached the allowable limit of nvidia.com/gpu. "
            "Limit is 10 nvidia.com/gpu, currently 4 nvidia.com/gpu allocated "
            "and workload requested 8 nvidia.com/gpu"
        ),
        "details": {
            "queueDetails": {
                "name": "q",
                "podGroupRequestedResources": {"nvidia.com/gpu": "8"},
                "queueResourceLimits": {"nvidia.com/gpu": "10"},
                "queueAllocatedResources": {"nvidia.com/gpu": "4"},
            }
        },
    }


def test_a_gang_that_waits_for_pods_is_not_ready():
    found = claim(DIALECT, group())
    facts = {"needs": 5, "have": 3}

    _, event = DIALECT.answer(
        found, standing(reason="WaitingForPods", message="ours", facts=facts)
    )

    assert event.event == (
        "Normal",
        "NotReady",
        (
            "PodSchedulingErrors: Job is not ready for scheduling. "
            "Waiting for 5 pods, currently 3 existing"
        ),
    )


def test_nothing_is_said_twice_and_a_new_reason_is_the_next_transition():
    found = claim(DIALECT, group())
    fragmented = standing(**SAID["PodSchedulingErrors"])
    told = after(found, DIALECT.answer(found, fragmented))

    again = list(DIALECT.answer(told, fragmented))
    other, _ = DIALECT.answer(told, standing(**LIMIT))

    assert again == []
    (mark,) = other.patch["status"]["schedulingConditions"]
    assert mark["transitionID"] == "2"


def test_the_mark_goes_once_the_pods_run_and_others_stay():
    foreign = MARK | {"nodePool": "other"}
    found = claim(DIALECT, group(status={"schedulingConditions": [MARK, foreign]}))

    (patch,) = DIALECT.answer(found, standing("Running", running=5))

    assert patch.patch == {"status": {"schedulingConditions": [foreign]}}
    binding = list(DIALECT.answer(found, standing("Growing", running=4, binding=1)))
    assert binding == []


def test_a_start_keeps_its_time_and_an_eviction_too():
    found = claim(DIALECT, group())

    (start,) = DIALECT.answer(found, standing("Starting", binding=5, now=60.0))
    (evict,) = DIALECT.answer(found, standing("Evicting", running=5, now=60.0))

    assert start.patch == {
        "metadata": {
            "annotations": {
                "kai.scheduler/last-start-timestamp": "1970-01-01T00:01:00Z"
            }
        }
    }
    assert list(evict.patch["metadata"]["annotations"]) == [
        "kai.scheduler/last-eviction-timestamp"
    ]


def test_the_stale_stamp_is_set_once_and_taken_away():
    found = claim(DIALECT, group())
    short = standing(running=3, reason="Fragmented", message="m", now=60.0)
    (stamp,) = DIALECT.answer(found, short)
    stale = after(found, [stamp])

    (gone,) = DIALECT.answer(stale, standing("Running", running=5))

    assert stamp.patch["metadata"]["annotations"] == {
        "kai.scheduler/stale-podgroup-timestamp": "1970-01-01T00:01:00Z"
    }
    assert list(DIALECT.answer(stale, short)) == []
    assert gone.patch["metadata"]["annotations"] == {
        "kai.scheduler/stale-podgroup-timestamp": None
    }


def test_a_gang_that_is_never_stale_gets_no_stamp():
    found = claim(DIALECT, group("{stalenessGracePeriod: -1s}"))
    short = standing(running=3, reason="Fragmented", message="m")

    assert list(DIALECT.answer(found, short)) == []


def test_the_documented_examples_are_read_and_answered_as_ever():
    assert golden("kai") == examples("kai")

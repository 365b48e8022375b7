"""
What is told to gangs of Koordinator: annotations, phases and counts.
"""

import pytest

from adapters.kube.dialects.coscheduling.koordinator import DIALECT, Koordinator
from models.why.reasons import Reason
from tests.helpers.kube.koordinator_objects import annotated
from tests.unit.adapters.kube.dialects.family import (
    SIGS,
    claim,
    group,
    standing,
)


def answers(reader=DIALECT, *, status=None, notes=None, **fields):
    raw = group(minMember=2, status=status, notes=notes)
    return list(
        reader.answer(claim(DIALECT, raws=[raw]), standing(minimum=2, **fields))
    )


ROOM = {"reason": Reason.INSUFFICIENT_CAPACITY, "message": "needs 2 cpu", "total": 2}

SAID = "GangGroup default/g is rejected: gang default/g needs 2 cpu"


def test_a_gang_without_an_object_is_not_answered():
    assert [] == list(DIALECT.answer(annotated(), standing(minimum=2, **ROOM)))


def test_a_waiting_gang_is_told_why_and_how_many_are_scheduled():
    counted, kept, told = answers(**ROOM)

    assert ("podgroups", "status") == (counted.plural, counted.subresource)
    assert {"status": {"scheduled": 0}} == counted.patch
    note = {"phalanx/waiting": f"InsufficientCapacity: {SAID}"}
    assert {"metadata": {"annotations": note}} == kept.patch
    assert ("Warning", "FailedScheduling", SAID) == told.event
    assert (SIGS, "v1alpha1", "default", "g") == (
        told.group,
        told.version,
        told.namespace,
        told.name,
    )


def test_what_is_said_already_is_not_said_again():
    note = {"phalanx/waiting": f"InsufficientCapacity: {SAID}"}

    assert [] == answers(status={"scheduled": 0}, notes=note, **ROOM)


def test_new_numbers_change_the_annotation_and_make_no_event():
    note = {"phalanx/waiting": "InsufficientCapacity: other numbers"}
    (kept,) = answers(status={"scheduled": 0}, notes=note, **ROOM)

    assert kept.event is None


def test_a_missing_member_is_a_failed_check():
    *_, told = answers(reason=Reason.WAITING_FOR_PODS, message="needs 2 pods")

    assert "basic check failed" in told.event[2]


def test_a_start_takes_the_reason_away():
    note = {"phalanx/waiting": "InsufficientCapacity: x"}
    counted, kept, told = answers(notes=note, state="Starting", binding=2, total=2)

    assert {"status": {"scheduled": 2}} == counted.patch
    assert {"metadata": {"annotations": {"phalanx/waiting": None}}} == kept.patch
    assert "Normal" == told.event[0]


def test_phases_and_counters_belong_to_the_controller():
    (counted,) = answers(state="Running", running=2, total=2)

    assert {"scheduled"} == set(counted.patch["status"])


@pytest.mark.parametrize(
    ("counts", "phase"),
    [
        ({"total": 1}, "Pending"),
        ({"total": 2}, "PreScheduling"),
        ({"total": 2, "binding": 1}, "Scheduling"),
        ({"total": 2, "binding": 2}, "Scheduled"),
        ({"total": 2, "running": 2}, "Running"),
        ({"total": 2, "running": 1, "failed": 1}, "Failed"),
        ({"total": 2, "succeeded": 2}, "Finished"),
    ],
)
def test_phases_where_no_controller_is(counts, phase):
    owner = Koordinator(owns_status=True)
    found = [w for w in answers(owner, state="Running", now=60.0, **counts) if w.patch]
    status = found[0].patch["status"]

    assert phase == status["phase"]
    assert counts.get("failed", 0) == status["failed"]
    begun = phase in {"Scheduling", "Scheduled"}
    assert begun == ("scheduleStartTime" in status)
    if begun:
        assert "1970-01-01T00:01:00Z" == status["scheduleStartTime"]


def test_a_podgroup_that_schedules_for_two_days_is_left():
    old = {"phase": "Scheduling", "scheduleStartTime": "1970-01-01T00:00:00Z"}
    owner = Koordinator(owns_status=True)
    status = {**old, "scheduled": 0}

    assert [] == answers(owner, status=status, state="Running", now=3 * 86400.0)

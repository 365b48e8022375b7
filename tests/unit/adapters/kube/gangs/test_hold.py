"""
Holds are read alike in the words of every dialect.
"""

import pytest

from adapters.kube.gangs.holds import HELD_BY, HELD_SINCE, HOLD
from models.snapshot import Snapshot
from models.why.reasons import Reason
from tests.adapters.kube.status_cases import CASES
from tests.helpers.kube.manifests import assembled, in_group, node, obj, pod, pod_group

WORDS = {HOLD: "no  data\nyet", HELD_BY: "alice", HELD_SINCE: "2026-11-22T20:00:00Z"}
SENTENCE = "is held by alice since 2026-11-22T20:00:00Z: no data yet"


def only(*raws):
    found: Snapshot = assembled(node(), *raws).snapshot
    (gang,) = found.gangs
    return gang


def annotated(raw, words):
    meta = raw["metadata"]
    both = {**meta.get("annotations", {}), **words}
    return {**raw, "metadata": {**meta, "annotations": both}}


def of(case):
    """
    Write a gang of two pods in the words of a dialect: its object, if any, and pods.
    """
    group, said = CASES[case]("train", 2)
    words = {key: dict(value) for key, value in said.items()}
    pods = [pod(f"train-{i}", namespace="team", **words) for i in range(2)]
    return group, pods


@pytest.mark.parametrize("case", CASES)
def test_a_pod_that_is_held_holds_its_gang_in_every_dialect(case):
    group, pods = of(case)
    raws = ([group] if group else []) + pods
    held = ([group] if group else []) + [pods[0], annotated(pods[1], WORDS)]

    assert only(*raws).refused is None
    assert Reason.HELD is only(*held).refused.reason
    assert SENTENCE == only(*held).refused.message


@pytest.mark.parametrize("case", [case for case in CASES if of(case)[0]])
def test_the_object_of_a_gang_holds_it_in_every_dialect(case):
    group, pods = of(case)

    assert SENTENCE == only(annotated(group, WORDS), *pods).refused.message


def test_the_owner_of_a_plain_workload_holds_it():
    job = obj("batch/v1", "Job", "train", "default", {"annotations": {HOLD: ""}})
    made = only({**job, "spec": {}}, pod("train-0", owner=("batch/v1", "Job", "train")))

    assert "is held" == made.refused.message


def test_false_holds_nobody_nor_does_a_pod_that_has_ended():
    _, (first, second) = of("ack")
    ended = annotated({**second, "status": {"phase": "Succeeded"}}, WORDS)

    assert only(annotated(pod("a-0"), {HOLD: "False"})).refused is None
    assert only(first, ended).refused is None


def test_a_time_that_is_none_is_left_out_and_a_long_reason_cut():
    held = only(annotated(pod(), {HOLD: "x" * 300, HELD_SINCE: "yesterday"})).refused

    assert {"detail"} == held.facts.keys()
    assert 200 == len(held.facts["detail"])


def test_what_is_wrong_as_it_is_written_is_said_before_the_hold():
    broken = annotated(pod_group("g", -1), WORDS)

    assert Reason.INVALID_GANG is only(broken, pod(labels=in_group("g"))).refused.reason

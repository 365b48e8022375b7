"""
The priority of a gang, from its pods and from its group.
"""

import pytest

from tests.helpers.kube.group_objects import members
from tests.helpers.kube.manifests import (
    Words,
    gang_of,
    obj,
    pod,
    pod_group,
    refusal,
)


def priority_class(name, value, **fields):
    return obj("scheduling.k8s.io/v1", "PriorityClass", name, value=value, **fields)


HIGH = priority_class("high", 1000)

PRIORITIES = {
    "no class": ({}, [HIGH], 0),
    "the global default": ({}, [priority_class("d", 7, globalDefault=True)], 7),
    "a class": ({"priorityClassName": "high"}, [HIGH], 1000),
    "what admission wrote": ({"priorityClassName": "x", "priority": 5}, [HIGH], 5),
    "of the cluster": (
        {"priorityClassName": "system-cluster-critical"},
        [],
        2_000_000_000,
    ),
    "of the node": ({"priorityClassName": "system-node-critical"}, [], 2_000_001_000),
}


@pytest.mark.parametrize("case", PRIORITIES)
def test_the_priority_of_a_gang_is_that_of_its_pods(case):
    spec, classes, expected = PRIORITIES[case]

    assert expected == gang_of(pod(**spec), *classes).priority


def test_an_unknown_class_makes_the_gang_invalid():
    reason, detail = refusal(pod(priorityClassName="hihg"), HIGH)

    assert "InvalidGang" == reason
    assert "there is no priority class hihg" in detail


def test_pods_that_differ_in_priority_are_a_conflict():
    group = pod_group("g", 2)
    same = (*members(0, priority=5), *members(1, priority=5))
    differ = (*members(0, priority=5), *members(1, priority=6))

    assert refusal(*same, group) is None
    assert "ConfigConflict" == refusal(*differ, group)[0]


def test_a_finished_pod_has_no_say_in_the_priority():
    done = members(1, priority=6, status={"phase": "Succeeded"})

    assert refusal(*members(0, priority=5), *done, pod_group("g", 1)) is None


def test_the_group_says_its_priority_where_its_dialect_means_so():
    words = (Words("volcano", "a"),)
    pods = [pod(f"p-{i}", labels={"a": "x"}, priority=i) for i in (5, 6)]
    gang = gang_of(*pods, words=words)

    assert (None, 0) == (gang.refused, gang.priority)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("koord-prod", 9000),
        ("koord-mid", 7000),
        ("koord-batch", 5000),
        ("koord-free", 3000),
    ],
)
def test_the_classes_of_koordinator_are_known_unless_an_object_says_others(name, value):
    other = obj("scheduling.k8s.io/v1", "PriorityClass", name, value=5)

    assert value == gang_of(pod(priorityClassName=name)).priority
    assert 5 == gang_of(pod(priorityClassName=name), other).priority

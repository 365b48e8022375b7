"""
Sub-groups of Volcano start whole or not at all, also where none of them is needed.
"""

import pytest

from models.policy import Policy
from solver import decide
from tests.helpers.kube.manifests import assembled, node, obj, pod

KEY = "volcano.sh/partition-id"
SIZED = {"name": "s", "subGroupSize": 4, "matchLabelKeys": [KEY]}


def members(labels):
    """
    Make a pod of the group for each of these values of its key; none is no label.
    """
    return [
        pod(
            f"p{at}",
            gpus=1,
            annotations={"scheduling.k8s.io/group-name": "g"},
            labels={} if value is None else {KEY: value},
        )
        for at, value in enumerate(labels)
    ]


def starting(*policies, gpus=3, labels="01010101", **spec):
    """
    Plan one PodGroup on two nodes; count the pods that start by their label, or refuse.
    """
    group = obj("scheduling.volcano.sh/v1beta1", "PodGroup", "g")
    group["spec"] = {"subGroupPolicy": list(policies), **spec}
    pods = members(labels)
    nodes = [node(name, gpus=gpus) for name in ("a", "b")]
    snapshot = assembled(*nodes, group, *pods).snapshot
    (gang,) = snapshot.gangs
    if gang.refused is not None:
        return gang.refused.reason.value
    plan = decide(snapshot, Policy())
    placed = {step.pod.rpartition("/")[2] for step in plan.operations}
    found = {}
    for each, value in zip(pods, labels, strict=True):
        found[value] = found.get(value, 0) + (each["metadata"]["name"] in placed)
    return found


def test_two_halves_of_two_groups_do_not_start():
    assert [0, 4] == sorted(starting(SIZED, minMember=4).values())
    assert [4, 4] == sorted(starting(SIZED, minMember=4, gpus=4).values())


def test_without_a_key_there_are_no_groups():
    keyless = {"name": "s", "subGroupSize": 4}

    assert 6 == sum(starting(keyless, minMember=4).values())


def test_pods_in_no_group_start_one_by_one():
    labels = [*"0000", None, None]

    assert {"0": 4, None: 2} == starting(SIZED, labels=labels, minMember=1)
    assert {"0": 0, None: 2} == starting(SIZED, labels=labels, minMember=1, gpus=1)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [({"pods": 4}, "UnsupportedConstraint"), ({"pods": 5}, {"0": 4, "1": 0})],
)
def test_beside_minimums_of_tasks_only_those_in_vain_are_planned(tasks, expected):
    found = starting(SIZED, minMember=4, minTaskMember=tasks)

    if isinstance(expected, dict):
        assert sorted(expected.values()) == sorted(found.values())
    else:
        assert expected == found


def test_where_all_pods_are_needed_the_groups_change_nothing():
    found = starting(SIZED, minMember=8, minTaskMember={"pods": 8}, gpus=4)

    assert {"0": 4, "1": 4} == found

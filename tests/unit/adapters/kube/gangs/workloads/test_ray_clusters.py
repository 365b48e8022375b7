"""
A RayCluster has as many workers as its operator makes, and needs as many as that needs.
"""

import pytest

from models.gangs import pod_sets
from tests.helpers.kube.manifests import assembled, node, obj, pod

MOST = 2**31 - 1
"""
What an API server fills in for ``maxReplicas``.
"""


def leaves(group, **spec):
    """
    Give the size and the minimum of each role of a cluster with one group of workers.
    """
    group = {"groupName": "w", **group}
    ray = obj("ray.io/v1", "RayCluster", "c", "default")
    ray["spec"] = {"headGroupSpec": {}, "workerGroupSpecs": [group], **spec}
    pods = [
        pod(name, labels={"ray.io/cluster": "c", "ray.io/group": group})
        for name, group in (("h", "headgroup"), ("w-0", "w"), ("w-1", "w"))
    ]
    (gang,) = assembled(node(), ray, *pods).snapshot.gangs
    assert gang.refused is None
    return {leaf.name: leaf.minimum for leaf in pod_sets(gang.tree)}


@pytest.mark.parametrize(
    ("group", "workers"),
    [
        ({"replicas": 2}, 2),
        ({"minReplicas": 2}, 2),
        ({"replicas": 0, "minReplicas": 2, "maxReplicas": MOST}, 2),
        ({"replicas": 1, "minReplicas": 2}, 2),
        ({"replicas": 5, "maxReplicas": 2}, 2),
        ({"replicas": 2, "maxReplicas": MOST}, 2),
        ({"minReplicas": 1, "numOfHosts": 2}, 2),
        ({}, 0),
        ({"minReplicas": 2, "suspend": True}, 0),
    ],
)
def test_its_workers_are_between_the_fewest_and_the_most(group, workers):
    assert {"head": 1, "w": workers} == leaves(group)


@pytest.mark.parametrize(("group", "workers"), [({"minReplicas": 1}, 1), ({}, 0)])
def test_one_that_scales_itself_needs_the_fewest(group, workers):
    found = leaves({"replicas": 2, **group}, enableInTreeAutoscaling=True)

    assert {"head": 1, "w": workers} == found

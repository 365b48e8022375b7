"""
Every field of every kind that is read, with something in it that nobody expects.

No object ends the reading of the others: it is left out, refused or named.
"""

import datetime as dt
from copy import deepcopy
from random import Random

import pytest

from tests.helpers.kube.manifests import assembled, node, obj, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SELECTOR = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
}
NEAR = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": SELECTOR,
    "namespaces": ["x"],
    "namespaceSelector": SELECTOR,
    "matchLabelKeys": ["a"],
    "mismatchLabelKeys": ["c"],
}
APART = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": SELECTOR,
    "matchLabelKeys": ["a"],
}
NODES = [
    {
        "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["b"]},
            {"key": "a", "operator": "Gt", "values": ["3"]},
        ],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
    }
]
SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
NOW = "2026-01-01T00:00:00Z"


def running():
    return pod(
        labels={"a": "b", "c": "d", "phalanx/queue": "q"},
        annotations={
            "gpu-fraction": "0.5",
            "scheduling.koordinator.sh/device-allocated": "{}",
            "kueue.x-k8s.io/podset-required-topology": "r",
        },
        owner=("apps/v1", "ReplicaSet", "rs-1"),
        nodeName="n",
        schedulingGates=[{"name": "g"}],
        priority=3,
        priorityClassName="x",
        schedulingGroup={"podGroupName": "g"},
        workloadRef={"name": "w"},
        nodeSelector={"a": "b"},
        tolerations=[
            {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
            {"key": "a", "operator": "Gt", "value": "3"},
        ],
        affinity={
            "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": NODES}},
            "podAffinity": {REQUIRED: [NEAR]},
            "podAntiAffinity": {REQUIRED: [NEAR, APART]},
        },
        topologySpreadConstraints=[SPREAD],
        resourceClaims=[{"name": "c"}],
        overhead={"cpu": "1"},
        resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        hostNetwork=True,
        containers=[
            {
                "name": "main",
                "resources": {
                    "requests": {"cpu": "1"},
                    "limits": {"volcano.sh/vgpu-number": "1"},
                },
                "ports": [{"hostPort": 3, "containerPort": 4}],
            }
        ],
        initContainers=[{"name": "i", "restartPolicy": "Always"}],
        volumes=[
            {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "e", "ephemeral": {"x": 1}},
        ],
        status={
            "phase": "Pending",
            "startTime": NOW,
            "conditions": [{"type": "PodScheduled", "reason": "Unschedulable"}],
            "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "2"}}],
        },
        meta={
            "uid": "u",
            "creationTimestamp": NOW,
            "deletionTimestamp": NOW,
            "deletionGracePeriodSeconds": 30,
        },
    )


def waiting():
    made = running()
    del made["spec"]["nodeName"]
    del made["metadata"]["deletionTimestamp"]
    made["metadata"]["name"] = "p-1"
    return made


def template():
    return {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]}


TASK = {"name": "a", "replicas": 2, "template": template()}
CONTROLLER = {"kind": "Deployment", "controller": True, "name": "d"}
OBJECTS = {
    "a node": node(
        labels={"a": "b"},
        conditions=[{"type": "Ready", "status": "True"}],
        taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}],
    ),
    "a running pod": running(),
    "a waiting pod": waiting(),
    "a ReplicaSet": obj(
        "apps/v1", "ReplicaSet", "rs-1", "default", {"ownerReferences": [CONTROLLER]}
    ),
    "a Job": obj(
        "batch/v1",
        "Job",
        "j",
        "default",
        {"labels": {"a": "b"}, "ownerReferences": []},
        spec={"parallelism": 2, "completions": 2, "template": template()},
        status={"conditions": [{"type": "x", "status": "True"}]},
    ),
    "a JobSet": obj(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "js",
        "default",
        spec={
            "replicatedJobs": [
                {"name": "a", "template": {"spec": {"template": template()}}}
            ],
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
        },
    ),
    "a Job of Volcano": obj(
        "batch.volcano.sh/v1alpha1",
        "Job",
        "vc",
        "default",
        spec={"queue": "q", "minAvailable": 2, "tasks": [TASK]},
        status={"state": {"phase": "Running"}},
    ),
    "a LeaderWorkerSet": obj(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "lws",
        "default",
        spec={
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 2, "workerTemplate": template()},
        },
    ),
    "a claim": obj(
        "v1",
        "PersistentVolumeClaim",
        "c",
        "default",
        spec={"volumeName": "v", "accessModes": ["ReadWriteOncePod"]},
    ),
    "a volume": obj("v1", "PersistentVolume", "v", spec={"nodeAffinity": {}}),
    "a budget": obj(
        "policy/v1",
        "PodDisruptionBudget",
        "b",
        "default",
        spec={"selector": SELECTOR, "minAvailable": 1},
        status={"disruptionsAllowed": 1},
    ),
}
ODD = (
    *({}, [], None, True, -1, 3.5, "x", "", [[]], [{}], [3], {"a": {}}, {"a": []}),
    *(10**30, "\ud800", float("nan"), b"x", dt.date(2026, 1, 1)),
)


def places(value, at=()):
    """
    Walk the places of all values inside another.
    """
    if at and at[0] not in {"apiVersion", "kind"}:
        yield at
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, each in inner:
        yield from places(each, (*at, key))


@pytest.mark.drawn
@pytest.mark.parametrize("name", OBJECTS)
def test_nothing_odd_in_one_object_loses_the_others(name):
    chance = Random(name)
    raw = OBJECTS[name]
    others = [each for other, each in OBJECTS.items() if other != name]
    others.append(pod("bystander"))
    for at in places(raw):
        for odd in chance.sample(ODD, 4):
            made = here = deepcopy(raw)
            for key in at[:-1]:
                here = here[key]
            here[at[-1]] = odd
            keys = {gang.key for gang in assembled(made, *others).snapshot.gangs}
            assert "default/bystander" in keys, (at, odd)


@pytest.mark.parametrize("operator", [{}, [], 3])
def test_a_toleration_whose_operator_is_no_text_is_a_fault_of_its_pod(operator):
    odd = pod("odd", tolerations=[{"operator": operator}])
    snapshot = assembled(node(), odd, pod("even")).snapshot

    refused = {gang.name: gang.refused for gang in snapshot.gangs}
    assert refused["even"] is None
    assert "spec.tolerations[0].operator" in str(refused["odd"].facts["detail"])

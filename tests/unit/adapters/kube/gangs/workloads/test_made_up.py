"""
Pods that nobody has submitted are made up of manifests, by the table of workloads.
"""

import pytest

from adapters.kube.dialects.registry import dialects
from adapters.kube.dialects.workloads import IN_MANIFESTS, RESOURCES
from adapters.kube.gangs.assemble import Assembler
from models.gangs import pod_sets
from models.resources import GPU
from tests.helpers.kube.manifests import NOW, assembled, node, obj, objects, pod


def template(gpus=1, **meta):
    container = {"name": "main", "resources": {"limits": {GPU: str(gpus)}}}
    spec = {"schedulerName": "phalanx", "containers": [container]}
    return {"metadata": meta, "spec": spec}


def owner(version, kind, **spec):
    return obj(version, kind, "train", "ml", spec=spec)


def job(**spec):
    return owner("batch/v1", "Job", template=template(), **spec)


def roles(**numbers):
    return {
        role: {"replicas": number, "template": template()}
        for role, number in numbers.items()
    }


LWS = {"leaderWorkerTemplate": {"size": 3, "workerTemplate": template()}}
RAY = {
    "headGroupSpec": {"template": template(0)},
    "workerGroupSpecs": [
        {"groupName": "Small_GPU", "replicas": 2, "template": template()}
    ],
}
INNER = {"spec": {"parallelism": 2, "template": template()}}
TASKS = [
    {"name": "ps", "replicas": 1, "template": template()},
    {"name": "worker", "replicas": 2, "template": template()},
]
KUBEFLOW = {
    "TFJob": ("tf", {"PS": 1, "Worker": 2}, {"ps": 1, "worker": 2}),
    "PyTorchJob": ("pytorch", {"Master": 1, "Worker": 3}, {"master": 1, "worker": 3}),
    "XGBoostJob": ("xgb", {"Master": 1, "Worker": 1}, {"master": 1, "worker": 1}),
    "JAXJob": ("jax", {"Worker": 2}, {"train": 2}),
    "PaddleJob": ("paddle", {"Master": 1, "Worker": 1}, {"master": 1, "worker": 1}),
    "MPIJob": ("mpi", {"Launcher": 1, "Worker": 2}, {"launcher": 1, "worker": 2}),
}
CASES = {
    "Job": (job(parallelism=3, completions=2), {"train": 2}),
    "Job of one": (job(), {"train": 1}),
    "StatefulSet": (
        owner("apps/v1", "StatefulSet", replicas=2, template=template()),
        {"train": 2},
    ),
    "Deployment": (owner("apps/v1", "Deployment", template=template()), {"train": 1}),
    "ReplicaSet": (
        owner("apps/v1", "ReplicaSet", replicas=3, template=template()),
        {"train": 3},
    ),
    "JobSet": (
        owner(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            replicatedJobs=[
                {"name": "driver", "template": {"spec": {"template": template()}}},
                {"name": "worker", "replicas": 2, "template": INNER},
            ],
        ),
        {"driver": 1, "worker": 4},
    ),
    "LeaderWorkerSet": (
        owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2, **LWS),
        {"leader": 1, "worker": 2},
    ),
    "RayCluster": (
        owner("ray.io/v1", "RayCluster", **RAY),
        {"head": 1, "small-gpu": 2},
    ),
    "Job of Volcano": (
        owner("batch.volcano.sh/v1alpha1", "Job", tasks=TASKS),
        {"ps": 1, "worker": 2},
    ),
    **{
        kind: (
            owner(
                "kubeflow.org/v2beta1" if kind == "MPIJob" else "kubeflow.org/v1",
                kind,
                **{f"{prefix}ReplicaSpecs": roles(**numbers)},
            ),
            sizes,
        )
        for kind, (prefix, numbers, sizes) in KUBEFLOW.items()
    },
}
UNMADE = {"RayJob", "SparkApplication"}
"""
Kinds whose pods are not made up: another object makes them, or no template says them.
"""


@pytest.mark.parametrize("name", CASES)
def test_a_workload_without_pods_is_planned_from_its_manifest(name):
    raw, sizes = CASES[name]
    snapshot = assembled(node(), raw).snapshot

    expected = [f"ml/train-{i}" for i in (0, 1)] if "LeaderW" in name else ["ml/train"]
    assert expected == [gang.key for gang in snapshot.gangs]
    for gang in snapshot.gangs:
        leaves = list(pod_sets(gang.tree))
        named = {leaf.name.removesuffix("-0") or "train": leaf for leaf in leaves}
        found = {name: len(leaf.pods) for name, leaf in named.items()}
        assert sizes == found
        assert gang.refused is None
    pods = sum(sizes.values()) * len(expected)
    (said,) = snapshot.warnings
    assert said.startswith(f"made up: {pods} pod")


def test_every_kind_that_is_watched_is_tried():
    watched = {each.kind for each in (*RESOURCES, *IN_MANIFESTS)}

    assert watched - UNMADE <= {raw["kind"] for raw, _ in CASES.values()}


def test_a_workload_of_which_one_pod_is_there_is_left_as_it_is():
    there = pod("train-0", namespace="ml", owner=("batch/v1", "Job", "train"))
    (gang,) = assembled(node(), job(parallelism=3), there).snapshot.gangs

    (leaf,) = pod_sets(gang.tree)
    assert (1, 3) == (len(leaf.pods), leaf.minimum)


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"suspend": True}, {}),
        ({"parallelism": 0}, {}),
        ({}, {"completionTime": "2026-10-01T10:00:00Z"}),
    ],
)
def test_what_wants_no_pods_gets_none(spec, status):
    raw = {**job(**spec), "status": status}

    assert not assembled(node(), raw).snapshot.gangs


def test_what_a_template_says_of_its_pods_is_kept():
    said = template(4, labels={"scheduling.x-k8s.io/pod-group": "g"})
    group = obj(
        "scheduling.x-k8s.io/v1alpha1", "PodGroup", "g", "ml", spec={"minMember": 2}
    )
    raw = owner("batch/v1", "Job", parallelism=2, template=said)

    (gang,) = assembled(node(), group, raw).snapshot.gangs
    (leaf,) = pod_sets(gang.tree)
    assert ("ml/g", 2) == (gang.key, len(leaf.pods))
    assert 4 == leaf.requests[GPU]


def test_a_job_of_volcano_says_scheduler_and_queue_for_all_its_pods():
    raw = owner("batch.volcano.sh/v1alpha1", "Job", tasks=TASKS, queue="q")
    raw["spec"]["schedulerName"] = "volcano"

    (gang,) = assembled(node(), raw, schedulers=("volcano",)).snapshot.gangs
    assert "q" == gang.queue


@pytest.mark.parametrize(
    "spec",
    [
        {"parallelism": "many"},
        {"parallelism": -1},
        {"parallelism": 10**9},
        {"parallelism": 200_000, "completions": 200_000},
        {"template": {"spec": 3}},
        {"template": {"metadata": [], "spec": {}}},
        {"template": {"metadata": {"labels": 4}}},
    ],
)
def test_a_manifest_that_cannot_be_read_is_named_and_makes_no_pods(spec):
    snapshot = assembled(
        node(), pod("other"), {**job(), "spec": {**job()["spec"], **spec}}
    )

    assert ["default/other"] == [gang.key for gang in snapshot.snapshot.gangs]
    assert any("Job ml/train" in text for text in snapshot.snapshot.warnings)


def test_a_workload_without_a_template_is_named():
    (said,) = assembled(node(), owner("batch/v1", "Job")).snapshot.warnings

    assert said.startswith("no pods are there of Job ml/train: ")


def test_in_a_cluster_nothing_is_made_up():
    made = Assembler(dialects()).assembled([], [], objects(node(), job()), NOW)

    assert not made.snapshot.gangs

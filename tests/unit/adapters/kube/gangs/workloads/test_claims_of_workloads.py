"""
Volumes for which a workload's controller makes claims are named, and wait for nothing.
"""

import pytest

from tests.helpers.kube.manifests import assembled, node, obj

DATA = {"metadata": {"name": "data"}}


def template(*volumes):
    """
    A template whose volumes of these names are of claims that nobody has made.
    """
    claimed = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in volumes
    ]
    spec = {"schedulerName": "phalanx", "containers": [{"name": "main"}]}
    return {"spec": {**spec, "volumes": claimed}}


def stateful_set(*volumes):
    spec = {"volumeClaimTemplates": [DATA], "template": template(*volumes)}
    return obj("apps/v1", "StatefulSet", "db", "ml", spec=spec)


def leader_worker_set(*volumes):
    made = {"volumeClaimTemplates": [DATA], "workerTemplate": template(*volumes)}
    spec = {"leaderWorkerTemplate": made}
    return obj("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "db", "ml", spec=spec)


def job_set(*volumes):
    each = {"name": "w", "template": {"spec": {"template": template(*volumes)}}}
    spec = {"replicatedJobs": [each], "volumeClaimPolicies": [{"templates": [DATA]}]}
    return obj("jobset.x-k8s.io/v1alpha2", "JobSet", "db", "ml", spec=spec)


def job_of_volcano(*volumes):
    tasks = [{"name": "w", "replicas": 1, "template": template(*volumes)}]
    spec = {"tasks": tasks, "volumes": [{"mountPath": "/data", "volumeClaim": {}}]}
    return obj("batch.volcano.sh/v1alpha1", "Job", "db", "ml", spec=spec)


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (stateful_set, "spec.volumeClaimTemplates"),
        (leader_worker_set, "spec.leaderWorkerTemplate.volumeClaimTemplates"),
        (job_set, "spec.volumeClaimPolicies"),
        (job_of_volcano, "spec.volumes"),
    ],
)
def test_claims_that_a_workload_would_make_are_named(made, field):
    said = assembled(node(), made()).snapshot.warnings

    assert any(f"{field} is not read" in text for text in said)


@pytest.mark.parametrize("made", [stateful_set, leader_worker_set])
@pytest.mark.parametrize(("volume", "waits"), [("data", False), ("other", True)])
def test_a_volume_of_its_name_is_one_that_is_made(made, volume, waits):
    (gang,) = assembled(node(), made(volume)).snapshot.gangs

    assert waits == (gang.refused is not None)


@pytest.mark.parametrize("name", [None, 3, ["data"], {"a": 1}])
def test_names_that_are_no_words_are_those_of_no_claim(name):
    raw = stateful_set("data")
    raw["spec"]["volumeClaimTemplates"].append({"metadata": {"name": name}})
    raw["spec"]["template"]["spec"]["volumes"].append({"name": name, "emptyDir": {}})

    assert assembled(node(), raw).snapshot.warnings

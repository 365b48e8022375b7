"""
Workloads of one name in one namespace are planned each, with pods of their own.
"""

from models.gangs import pod_sets
from models.policy import Policy
from solver import decide
from tests.helpers.kube.manifests import assembled, node, obj, pod

TEMPLATE = {"spec": {"schedulerName": "phalanx", "containers": [{"name": "main"}]}}
TASKS = [{"name": "t", "replicas": 3, "template": TEMPLATE}]


def workload(version, kind, **spec):
    return obj(version, kind, "x", "ml", spec={"template": TEMPLATE, **spec})


JOB = workload("batch/v1", "Job", parallelism=2, completions=2)
SET = workload("apps/v1", "StatefulSet", replicas=2)
OF_VOLCANO = obj("batch.volcano.sh/v1alpha1", "Job", "x", "ml", spec={"tasks": TASKS})
OF_VOLCANO["spec"]["schedulerName"] = "phalanx"


def starting(*raws):
    """
    Plan manifests, and give the pods of each gang that start.
    """
    snapshot = assembled(node(), *raws).snapshot
    plan = decide(snapshot, Policy())
    found = {}
    for step in plan.operations:
        found.setdefault(step.gang, []).append(step.pod)
    named = [name for g in snapshot.gangs for p in pod_sets(g.tree) for name in p.pods]
    assert len(set(named)) == len(named)
    return {gang: len(pods) for gang, pods in found.items()}


def test_a_job_and_a_stateful_set_of_one_name_start():
    assert {"ml/job.x": 2, "ml/statefulset.x": 2} == starting(JOB, SET)


def test_two_kinds_of_job_of_one_name_start():
    assert {"ml/job.x": 2, "ml/x": 3} == starting(JOB, OF_VOLCANO)


def test_a_pod_that_is_there_keeps_its_name():
    there = [pod(name) for name in ("x-0", "x-job-1")]
    for raw in there:
        raw["metadata"]["namespace"] = "ml"

    assert {"ml/x": 2, "ml/x-0": 1, "ml/x-job-1": 1} == starting(JOB, *there)

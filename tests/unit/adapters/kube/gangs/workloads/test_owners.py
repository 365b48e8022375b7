"""
Gangs without a group object: the workload table, by labels alone and with the owner.

What each kind starts is shown by the scenarios under ``scenarios/workloads``.
"""

from functools import cache
from pathlib import Path

import pytest
import yaml

from adapters.kube.dialects.workloads import WORKLOADS
from models.gangs import pod_sets
from tests.helpers.kube.manifests import (
    assembled,
    gang_of,
    obj,
    pod,
    pod_group,
    refusal,
)

JOB = ("batch/v1", "Job", "train")
LWS = "leaderworkerset.sigs.k8s.io"
KUBEFLOW = "training.kubeflow.org"


def job(name="train", meta=None, **spec):
    return obj("batch/v1", "Job", name, "default", meta, spec=spec)


def names(*raws):
    return [gang.key for gang in assembled(*raws).snapshot.gangs]


def needs(*raws):
    return {leaf.name: leaf.minimum for leaf in pod_sets(gang_of(*raws).tree)}


SIZES = {
    "as many as exist": ((), 1),
    "the parallelism": ((job(parallelism=3),), 3),
    "no more than is left to do": ((job(parallelism=3, completions=2),), 2),
    "the job of another namespace": (
        (obj("batch/v1", "Job", "train", "other", spec={"parallelism": 3}),),
        1,
    ),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_job_needs_what_its_object_says(case):
    raws, expected = SIZES[case]

    assert {"train": expected} == needs(pod(owner=JOB), *raws)


MINIMUMS = {
    "on the pod": (pod(owner=JOB, annotations={"phalanx/min-available": "1"}), job()),
    "as a label": (pod(owner=JOB, labels={"phalanx/min-available": "1"}), job()),
    "on the owner": (
        pod(owner=JOB),
        job(meta={"annotations": {"phalanx/min-available": "1"}}, parallelism=4),
    ),
    "in a word of KAI": (
        pod(owner=JOB),
        job(meta={"annotations": {"kai.scheduler/batch-min-member": "1"}}),
    ),
}


@pytest.mark.parametrize("case", MINIMUMS)
def test_a_minimum_may_be_said(case):
    one, owner = MINIMUMS[case]

    assert {"train": 1} == needs(one, pod("p-1", owner=JOB), owner)


def test_a_minimum_that_is_no_number_makes_the_gang_invalid():
    reason, detail = refusal(
        pod(owner=JOB, annotations={"phalanx/min-available": "two"})
    )

    assert "InvalidGang" == reason
    assert "Job train: phalanx/min-available: 'two' is not a number of pods" == detail


def test_a_size_that_is_no_number_makes_the_gang_invalid():
    reason, detail = refusal(pod(owner=JOB), job(parallelism="three"))

    assert "InvalidGang" == reason
    assert "spec.parallelism: 'three' is not a whole number" in detail


def test_a_gang_is_as_old_as_its_owner():
    old = job(meta={"creationTimestamp": "2027-01-15T07:00:00Z"})

    assert 3600 == gang_of(pod(owner=JOB), old).age
    assert 0 == gang_of(pod(owner=JOB)).age


def test_the_queue_is_that_of_the_owner_then_of_the_pods():
    label = {"labels": {"kai.scheduler/queue": "research"}}
    own = pod(owner=JOB, labels={"kai.scheduler/queue": "other"})

    assert "default" == gang_of(pod(owner=JOB)).queue
    assert "other" == gang_of(own, job()).queue
    assert "research" == gang_of(own, job(meta=label)).queue


def test_a_training_job_says_its_queue_in_its_policy():
    spec = {"runPolicy": {"schedulingPolicy": {"queue": "research"}}}
    fit = obj("kubeflow.org/v1", "PyTorchJob", "fit", "default", spec=spec)
    own = {"labels": {"kai.scheduler/queue": "own"}}
    labelled = obj("kubeflow.org/v1", "PyTorchJob", "fit", "default", own, spec=spec)
    worker = pod(owner=("kubeflow.org/v1", "PyTorchJob", "fit"))

    assert "research" == gang_of(worker, fit).queue
    assert "own" == gang_of(worker, labelled).queue


def test_the_size_of_a_leader_and_its_workers_stands_on_the_pods_too():
    labels = {f"{LWS}/name": "s", f"{LWS}/group-index": "0", f"{LWS}/worker-index": "0"}
    leader = pod(labels=labels, annotations={f"{LWS}/size": "4"})

    assert {"leader": 1, "worker": 3} == needs(leader)


def test_roles_are_known_without_their_owner():
    pods = [
        pod(f"fit-{role.lower()}", labels={f"{KUBEFLOW}/job-name": "fit", key: role})
        for key, role in (
            (f"{KUBEFLOW}/replica-type", "Master"),
            (f"{KUBEFLOW}/job-role", "worker"),
        )
    ]

    assert {"master": 1, "worker": 1} == needs(*pods)


def test_replica_sets_of_one_deployment_are_one_gang():
    pods = [
        pod(
            f"web-{tail}-x",
            owner=("apps/v1", "ReplicaSet", f"web-{tail}"),
            labels={"pod-template-hash": tail},
        )
        for tail in ("aa", "bb")
    ]
    alone = pod("rs-x", owner=("apps/v1", "ReplicaSet", "rs"))

    assert ["default/rs", "default/web"] == names(*pods, alone)


SINGLES = {
    "DaemonSet": "apps/v1",
    "Workflow": "argoproj.io/v1alpha1",
    "TaskRun": "tekton.dev/v1",
    "Node": "v1",
}


@pytest.mark.parametrize("kind", SINGLES)
def test_pods_that_have_nothing_to_do_with_each_other_are_single(kind):
    pods = [pod(name, owner=(SINGLES[kind], kind, "x")) for name in ("a", "b")]

    assert ["default/a", "default/b"] == names(*pods)


def test_a_kind_is_known_by_its_group_too():
    pods = [pod(f"p-{i}", owner=("other.io/v1", "DaemonSet", "x")) for i in (0, 1)]

    assert ["default/x"] == names(*pods)


def test_a_controller_may_be_called_as_a_group_is():
    raws = (
        pod_group("train", 1),
        pod("a", labels={"scheduling.x-k8s.io/pod-group": "train"}),
        pod("b", owner=JOB),
    )

    assert ["default/job.train", "default/train"] == names(*raws)


def test_two_kinds_of_one_family_and_name_are_two_gangs():
    pods = [
        pod(
            kind.lower(),
            owner=("kubeflow.org/v1", kind, "fit"),
            labels={f"{KUBEFLOW}/job-name": "fit"},
        )
        for kind in ("TFJob", "PyTorchJob")
    ]

    assert ["default/pytorchjob.fit", "default/tfjob.fit"] == names(*pods)


def test_the_others_of_a_ray_cluster_come_after_its_head():
    pods = [
        pod(name, labels={"ray.io/cluster": "c", "ray.io/group": group})
        for name, group in (("head", "headgroup"), ("big", "Big_Nodes"))
    ]
    head, big = pod_sets(gang_of(*pods).tree)

    assert ("head", ()) == (head.name, head.after)
    assert ("big-nodes", ("head",)) == (big.name, big.after)


@pytest.mark.parametrize("kind", ["RayCluster", "RayJob"])
def test_the_label_of_a_ray_cluster_says_its_priority_class(kind):
    meta = {"labels": {"ray.io/priority-class-name": "high"}}
    spec = {"workerGroupSpecs": []}
    job = {"rayClusterSpec": spec} if kind == "RayJob" else spec
    made = gang_of(
        pod(labels={"ray.io/cluster": "c", "ray.io/group": "headgroup"}),
        obj("ray.io/v1", kind, "c", "default", meta, spec=job)
        | {"status": {"rayClusterName": "c"}},
        obj("scheduling.k8s.io/v1", "PriorityClass", "high", value=7),
    )

    assert 7 == made.priority


def test_workloads_without_pods_are_named():
    raws = (job("gone"), job("held", suspend=True), job("train"), pod(owner=JOB))
    held, warning = assembled(*raws).snapshot.warnings

    assert held.endswith(": Job default/held")
    assert warning == (
        "no pods are there of Job default/gone: they are planned once their "
        "controllers have made them; a file needs the pods too"
    )


def test_a_minimum_that_an_order_overrules_is_warned_of():
    key = "jobset.sigs.k8s.io"
    labels = {f"{key}/jobset-name": "s", f"{key}/replicatedjob-name": "a"}
    spec = {
        "startupPolicy": {"startupPolicyOrder": "InOrder"},
        "replicatedJobs": [{"name": "a", "replicas": 2}, {"name": "b", "replicas": 3}],
    }
    owner = obj("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "default", spec=spec)
    said = {"phalanx/min-available": "1"}
    made = assembled(pod(labels=labels, annotations=said), owner).snapshot

    assert 2 == made.gangs[0].tree.min_pods
    assert "phalanx/min-available is not read" in made.warnings[0]


KUBEFLOW_JOBS = {
    "TFJob": "v1",
    "PyTorchJob": "v1",
    "MPIJob": "v2beta1",
    "XGBoostJob": "v1",
    "JAXJob": "v1",
    "PaddleJob": "v1",
}


def kubeflow_job(kind="PyTorchJob", meta=None, **policy):
    spec = {"runPolicy": {"schedulingPolicy": policy}}
    version = f"kubeflow.org/{KUBEFLOW_JOBS[kind]}"
    return (
        pod(labels={f"{KUBEFLOW}/job-name": "t"}, owner=(version, kind, "t")),
        obj(version, kind, "t", "default", meta, spec=spec),
        obj("scheduling.k8s.io/v1", "PriorityClass", "high", value=7),
    )


@pytest.mark.parametrize("kind", KUBEFLOW_JOBS)
def test_a_kubeflow_job_says_its_queue_and_its_priority_class(kind):
    gang = gang_of(*kubeflow_job(kind, queue="q", priorityClass="high"))

    assert ("q", 7) == (gang.queue, gang.priority)


def test_the_label_of_a_kubeflow_job_says_its_queue_before_its_policy():
    meta = {"labels": {"kueue.x-k8s.io/queue-name": "r"}}

    assert "r" == gang_of(*kubeflow_job(meta=meta, queue="q")).queue


def test_a_kubeflow_job_of_an_unknown_priority_class_is_refused():
    _, detail = refusal(*kubeflow_job(priorityClass="low"))

    assert "there is no priority class low" in detail


@pytest.mark.parametrize(
    "said", [{"minResources": {"cpu": "1"}}, {"scheduleTimeoutSeconds": 9}]
)
def test_what_is_not_read_of_a_kubeflow_policy_is_warned_of(said):
    warnings = assembled(*kubeflow_job(**said)).snapshot.warnings
    (word,) = said

    assert any(f"schedulingPolicy.{word} is not read" in text for text in warnings)


SCENARIOS = Path(__file__).parents[6] / "scenarios" / "workloads"


def _of(raw):
    return f"{raw['kind']}.{raw['apiVersion'].rpartition('/')[0]}"


@cache
def shown():
    """
    Name the kinds of objects and the labels that scenarios of workloads have.
    """
    return {
        word
        for file in SCENARIOS.glob("*.yaml")
        for raw in yaml.safe_load(file.read_text(encoding="utf-8"))["given"][
            "manifests"
        ]
        for word in (
            *(_of(each) for each in (raw, *raw["metadata"].get("ownerReferences", ()))),
            *raw["metadata"].get("labels", ()),
        )
    }


KINDS = {f"{kind}.{rule.group}": rule for rule in WORKLOADS for kind in rule.kinds}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_table_has_a_scenario(kind):
    assert shown() & {kind, *KINDS[kind].named_by}


@pytest.mark.parametrize(("minimum", "said"), [(None, 1), ("2", 0)])
def test_a_job_set_that_is_not_there_is_named_also_with_one_role(minimum, said):
    key = "jobset.sigs.k8s.io"
    labels = {f"{key}/jobset-name": "s", f"{key}/replicatedjob-name": "w"}
    labels |= {} if minimum is None else {"phalanx/min-available": minimum}
    pods = [pod(f"s-w-0-{at}", labels=labels) for at in range(2)]
    warnings = assembled(*pods).snapshot.warnings

    assert said == sum("JobSet default/s" in text for text in warnings)


@pytest.mark.timeout(60)  # where each is looked for among all before it is not done
def test_the_size_of_very_many_roles_is_read_in_time():
    groups = [{"groupName": f"g{at}", "replicas": 1} for at in range(150_000)]
    spec = {"workerGroupSpecs": groups}
    ray = obj("ray.io/v1", "RayCluster", "train", "default", spec=spec)
    of_it = pod(owner=("ray.io/v1", "RayCluster", "train"))

    assert gang_of(ray, of_it).refused is not None

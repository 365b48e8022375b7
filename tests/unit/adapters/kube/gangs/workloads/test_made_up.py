"""
Pods that nobody has submitted are made up of manifests, by the table of workloads.
"""

import pytest

from adapters.kube.dialects.registry import dialects
from adapters.kube.dialects.workloads import IN_MANIFESTS, RESOURCES
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.gangs.manifests import Manifest, assembled_of
from models.gangs import pod_sets
from models.policy import Policy
from models.resources import GPU
from models.why.reasons import Reason
from solver import decide
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
    "RayJob": (
        owner("ray.io/v1", "RayJob", rayClusterSpec=RAY),
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
UNMADE = {"SparkApplication"}
"""
Kinds whose pods are not made up: no template says them.
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


UNSAID = {"schedulerName": None}


@pytest.mark.parametrize(
    ("of_pods", "of_job", "scheduler"),
    [
        ({}, {"schedulerName": "mine"}, "phalanx"),
        (UNSAID, {"schedulerName": "mine"}, "mine"),
        ({"schedulerName": ""}, {"schedulerName": "mine"}, "mine"),
        (UNSAID, {}, "volcano"),
        (UNSAID, {"schedulerName": ""}, "volcano"),
    ],
)
def test_a_job_of_volcano_says_scheduler_and_queue_where_its_pods_do_not(
    of_pods, of_job, scheduler
):
    """
    Its controller fills in what a template leaves out, its webhook what the job does.
    """
    made = template()
    made["spec"] = {**made["spec"], **of_pods}
    tasks = [{"name": "worker", "replicas": 2, "template": made}]
    raw = owner("batch.volcano.sh/v1alpha1", "Job", tasks=tasks, queue="q")
    raw["spec"] |= of_job

    (gang,) = assembled(node(), raw, schedulers=(scheduler,)).snapshot.gangs
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


def zoned(name, zone):
    return node(name, gpus=8, labels={"zone": zone})


def starts(*manifests):
    """
    Plan manifests by greedy, and give the zones of the pods of each gang that starts.
    """
    made = assembled(*manifests).snapshot
    zones = {each.name: each.labels.get("zone") for each in made.nodes}
    plan = decide(made, Policy(), strategy="greedy")
    return {step.pod: zones[step.node] for step in plan.operations}


EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"


@pytest.mark.parametrize("zones", [1, 2])
def test_jobs_of_a_job_set_that_says_so_get_a_domain_each(zones):
    listed = {"name": "w", "replicas": 2, "template": INNER}
    raw = owner("jobset.x-k8s.io/v1alpha2", "JobSet", replicatedJobs=[listed])
    raw["metadata"]["annotations"] = {EXCLUSIVE: "zone"}
    there = starts(*(zoned(f"n{at}", f"z{at}") for at in range(zones)), raw)

    if zones == 1:
        assert not there
    else:
        assert there["ml/train-w-0"] == there["ml/train-w-1"]
        assert there["ml/train-w-2"] == there["ml/train-w-3"]
        assert 2 == len(set(there.values()))


def test_each_replica_of_a_leader_worker_set_gets_a_domain_of_its_own():
    raw = owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2, **LWS)
    key = "leaderworkerset.sigs.k8s.io/exclusive-topology"
    raw["metadata"]["annotations"] = {key: "zone"}
    there = starts(zoned("a", "z0"), zoned("b", "z0"), zoned("c", "z1"), raw)

    of_first = {zone for pod, zone in there.items() if pod.startswith("ml/train-0")}
    assert (6, 1, 2) == (len(there), len(of_first), len(set(there.values())))


@pytest.mark.parametrize(("level", "starting"), [("zone", 0), ("region", 3)])
def test_pods_of_a_job_that_kai_keeps_together_are(level, starting):
    raw = job(parallelism=3, completions=3)
    raw["spec"]["template"] = template(4)
    key = "kai.scheduler/topology-required-placement"
    raw["metadata"]["annotations"] = {key: level}
    levels = [{"nodeLabel": "all", "alias": "region"}, {"nodeLabel": "zone"}]
    known = obj("kai.scheduler/v1alpha1", "Topology", "t", "", spec={"levels": levels})
    nodes = [
        node(name, gpus=8, labels={"zone": name, "all": "here"}) for name in ("a", "b")
    ]

    assert starting == len(starts(*nodes, known, raw))


@pytest.mark.parametrize(
    "key",
    [
        "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology",
        "alpha.jobset.sigs.k8s.io/node-selector",
    ],
)
def test_a_word_about_domains_that_is_not_planned_makes_no_pods(key):
    raw = owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2, **LWS)
    raw["metadata"]["annotations"] = {key: "zone"}
    made = assembled(node(), raw).snapshot

    assert not made.gangs
    assert any(key in said for said in made.warnings)


def volcano_job(**spec):
    raw = owner("batch.volcano.sh/v1alpha1", "Job", **{"tasks": TASKS} | spec)
    raw["spec"]["schedulerName"] = "phalanx"
    return raw


def test_a_job_of_volcano_is_in_one_hypernode_where_it_asks_for_that():
    raw = volcano_job(networkTopology={"mode": "hard", "highestTierAllowed": 1})
    (gang,) = assembled(node(), raw).snapshot.gangs

    assert Reason.INVALID_GANG is gang.refused.reason
    assert "no HyperNode of tier 1" in gang.refused.message


def test_a_job_of_volcano_needs_what_its_tasks_need():
    tasks = [{**TASKS[0], "minAvailable": 1}, {**TASKS[1], "minAvailable": 2}]
    raw = volcano_job(tasks=tasks, minAvailable=3)
    (gang,) = assembled(node(), raw).snapshot.gangs

    minimums = {leaf.name: leaf.minimum for leaf in pod_sets(gang.tree)}
    assert ({"ps": 1, "worker": 2}, 3) == (minimums, gang.tree.min_pods)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("partitionPolicy", {"totalPartitions": 2, "partitionSize": 1}),
        ("dependsOn", {"name": ["ps"]}),
    ],
)
def test_what_only_volcano_carries_out_of_a_job_is_named(word, said):
    tasks = [TASKS[0], {**TASKS[1], word: said}]
    made = assembled(node(), volcano_job(tasks=tasks)).snapshot

    assert not made.gangs
    assert f"spec.tasks[1].{word}" in made.warnings[0]


KUBEFLOW_SUSPENDED = owner(
    "kubeflow.org/v1",
    "PyTorchJob",
    runPolicy={"suspend": True},
    pytorchReplicaSpecs=roles(Worker=2),
)


@pytest.mark.parametrize("raw", [job(suspend=True), KUBEFLOW_SUSPENDED])
def test_a_suspended_workload_is_named(raw):
    made = assembled(node(), raw).snapshot

    assert not made.gangs
    (said,) = made.warnings
    assert f"suspended, so no pods are made up: {raw['kind']} ml/train" == said


def manifests(*raws):
    found = [Manifest("f.yaml", "", raw) for raw in raws]
    return assembled_of(found, ("phalanx",)).snapshot


CRON = obj(
    "batch/v1",
    "CronJob",
    "c",
    "ml",
    spec={"jobTemplate": {"spec": {"template": template()}}},
)


def with_uid(raw):
    return {**raw, "metadata": {**raw["metadata"], "uid": "u"}}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (with_uid(CRON), ["not read: 1 CronJob"]),
        (obj("trainer.kubeflow.org/v1", "TrainJob", "t"), ["not read: 1 TrainJob"]),
        (obj("v1", "Service", "s", spec={"ports": [{"port": 80}]}), []),
    ],
)
def test_a_workload_of_a_kind_that_is_not_read_is_named(raw, said):
    assert said == list(manifests(node(), raw).warnings)


def test_a_workload_of_an_unknown_kind_is_not_named_where_its_pods_are_there():
    kept = obj("example.com/v1", "Farm", "f", "ml", spec={"template": template()})
    there = pod("f-0", namespace="ml", owner=("example.com/v1", "Farm", "f"))
    made = manifests(node(), kept, there)

    assert (1, ()) == (len(made.gangs), made.warnings)


def unnamed(raw):
    """
    The object as it is before a server gives it a name.
    """
    return {**raw, "metadata": {"generateName": "train-", "namespace": "ml"}}


@pytest.mark.parametrize("kind", ["Pod", "Job", "CronJob"])
def test_what_a_server_would_name_is_named_by_number(kind):
    raw = {
        "Pod": {"apiVersion": "v1", "kind": "Pod", "spec": template()["spec"]},
        "Job": job(),
        "CronJob": owner("batch/v1", "CronJob", jobTemplate={"spec": job()["spec"]}),
    }[kind]
    raws = [node(gpus=8), unnamed(raw), unnamed(raw)]
    found = assembled_of([Manifest("f", str(n), each) for n, each in enumerate(raws)])

    assert ["train-00000", "train-00001"] == [g.name for g in found.snapshot.gangs]


def test_a_cron_job_is_planned_as_the_job_that_it_makes_next():
    one = {"spec": {"parallelism": 2, "template": template()}}
    raw = owner("batch/v1", "CronJob", jobTemplate=one)
    there = with_uid(raw)
    held = {**raw, "spec": {**raw["spec"], "suspend": True}}
    (new, old, late) = (
        assembled_of([Manifest("f", "", node(gpus=8)), Manifest("f", "", each)])
        for each in (raw, there, held)
    )

    assert [2] == [gang.tree.minimum for gang in new.snapshot.gangs]
    assert "made up: 2 pods of Job ml/train-next" in str(new.snapshot.warnings)
    assert () == old.snapshot.gangs == late.snapshot.gangs
    assert "not read: 1 CronJob" in old.snapshot.warnings
    assert "suspended, so no pods are made up: Job ml/train" in str(late.snapshot)


@pytest.mark.parametrize(
    "raw",
    [
        owner(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            replicatedJobs=[{"name": "a", "replicas": 0, "template": INNER}],
        ),
        owner("kubeflow.org/v1", "PyTorchJob", pytorchReplicaSpecs=roles(Worker=0)),
        owner("batch.volcano.sh/v1alpha1", "Job", tasks=[{**TASKS[0], "replicas": 0}]),
        job(parallelism=1, completions=0),
    ],
)
def test_what_wants_no_pods_of_any_role_is_named(raw):
    found = assembled(node(gpus=8), raw).snapshot

    assert () == found.gangs
    (said,) = found.warnings
    assert f"of size 0, so no pods are made up: {raw['kind']} ml/train" == said


def test_a_group_without_room_for_its_leader_is_named_with_the_field():
    spec = {"leaderWorkerTemplate": {**LWS["leaderWorkerTemplate"], "size": 0}}
    raw = owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", **spec)
    found = assembled(node(gpus=8), raw).snapshot

    assert () == found.gangs
    assert "leaderWorkerTemplate.size: 0 is too few" in str(found.warnings)


RAY_JOB = owner("ray.io/v1", "RayJob", rayClusterSpec=RAY)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (
            {**RAY_JOB, "spec": {**RAY_JOB["spec"], "suspend": True}},
            "suspended, so no pods are made up: RayJob ml/train",
        ),
        (
            owner("ray.io/v1", "RayJob", clusterSelector={"ray.io/cluster": "c"}),
            "no pods are there of RayJob ml/train",
        ),
    ],
)
def test_a_ray_job_that_makes_no_cluster_is_named(raw, said):
    made = assembled(node(), raw).snapshot

    assert () == made.gangs
    assert any(said in each for each in made.warnings)


def test_a_ray_job_whose_cluster_is_there_gets_no_second_one():
    cluster = owner("ray.io/v1", "RayCluster", **RAY)
    there = {**RAY_JOB, "status": {"rayClusterName": "train"}}
    (gang,) = assembled(node(), there, cluster).snapshot.gangs

    assert 3 == sum(len(leaf.pods) for leaf in pod_sets(gang.tree))
    assert () == assembled(node(), there).snapshot.gangs

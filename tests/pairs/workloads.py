"""
Plain workloads: every kind, label and field that the reference lists, changed alone.
"""

from tests.helpers.kube.manifests import pod
from tests.pairs.pair import ABSENT, obj, pair, pods, room

JOBSET = "jobset.sigs.k8s.io"
LWS = "leaderworkerset.sigs.k8s.io"
KUBEFLOW = "training.kubeflow.org"
KUEUE = "kueue.x-k8s.io/pod-group"
SPARK = "sparkoperator.k8s.io/app-name"


def owned(stem, number, by, **labels):
    return pods(stem, number, owner=by, labels=labels)


def roles(numbers, by, *keys, named=""):
    """
    Make pods whose labels name their owner ``t`` and their role.
    """
    name, role = keys
    return [
        raw
        for word, number in numbers.items()
        for raw in owned(
            word.lower(), number, by(word), **{name: "t", role: named or word}
        )
    ]


def job_set(gpus=8):
    jobs = [
        {"name": name, "replicas": 1, "template": {"spec": {"parallelism": number}}}
        for name, number in (("driver", 1), ("worker", 2))
    ]
    return [
        *room(gpus),
        obj("jobset.x-k8s.io/v1alpha2", "JobSet", "t", spec={"replicatedJobs": jobs}),
        *roles(
            {"driver": 1, "worker": 2},
            lambda word: ("batch/v1", "Job", f"t-{word}-0"),
            f"{JOBSET}/jobset-name",
            f"{JOBSET}/replicatedjob-name",
        ),
    ]


def leader_worker_set(gpus=8, *, there=True):
    spec = {"leaderWorkerTemplate": {"size": 2}}
    labels = {f"{LWS}/name": "t", f"{LWS}/group-index": "0", f"{LWS}/size": "2"}
    return [
        *room(gpus),
        *(
            [obj("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "t", spec=spec)]
            * there
        ),
        *(
            pod(
                f"t-{at}",
                labels={**labels, f"{LWS}/worker-index": str(at)},
                owner=("apps/v1", "StatefulSet", "t-0"),
            )
            for at in range(2)
        ),
    ]


def kubeflow(kind, prefix, numbers, gpus=8, *, key="replica-type", **spec):
    version = "kubeflow.org/v2beta1" if kind == "MPIJob" else "kubeflow.org/v1"
    replicas = {role: {"replicas": number} for role, number in numbers.items()}
    return [
        *room(gpus),
        obj(version, kind, "t", spec={f"{prefix}ReplicaSpecs": replicas, **spec}),
        *roles(
            numbers,
            lambda word: ("batch/v1", "Job", f"t-{word.lower()}"),
            f"{KUBEFLOW}/job-name",
            f"{KUBEFLOW}/{key}",
        ),
    ]


TF = {"PS": 1, "Worker": 2}
MPI = {"Launcher": 1, "Worker": 2}
TORCH = {"Master": 1, "Worker": 2}


def ray(gpus=8, **spec):
    group = {"groupName": "w", "replicas": 2, "minReplicas": 1}
    spec = {"headGroupSpec": {}, "workerGroupSpecs": [group], **spec}
    return [
        *room(gpus),
        obj("ray.io/v1", "RayCluster", "t", spec=spec),
        *pods("h", 1, labels={"ray.io/cluster": "t", "ray.io/group": "headgroup"}),
        *pods("w", 2, labels={"ray.io/cluster": "t", "ray.io/group": "w"}),
    ]


def spark(gpus=8, key=SPARK):
    spec = {"driver": {}, "executor": {"instances": 2}}
    return [
        *room(gpus),
        obj("sparkoperator.k8s.io/v1beta2", "SparkApplication", "t", spec=spec),
        *pods("d", 1, labels={key: "t", "spark-role": "driver"}),
        *pods("e", 2, labels={key: "t", "spark-role": "executor"}),
    ]


def plain(version, kind, gpus=2, **spec):
    return [
        *room(gpus),
        obj(version, kind, "t", spec=spec),
        *pods("p", 3, owner=(version, kind, "t")),
    ]


def volcano_job(gpus=8):
    tasks = [{"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 2}]
    label = "volcano.sh/task-spec"
    return [
        *room(gpus),
        obj("batch.volcano.sh/v1alpha1", "Job", "t", spec={"tasks": tasks}),
        *pods("s", 1, labels={"volcano.sh/job-name": "t", label: "ps"}),
        *pods("w", 2, labels={"volcano.sh/job-name": "t", label: "worker"}),
    ]


def kueue_group():
    said = {f"{KUEUE}-total-count": "2"}
    labels = {f"{KUEUE}-name": "t"}
    return [*room(), *pods("p", 2, labels=labels, annotations=said)]


def without(raws, stem):
    """
    Leave out the pods of a role, as if they were not made yet.
    """
    return [raw for raw in raws if not raw["metadata"]["name"].startswith(f"{stem}-")]


WHOLE = "t 3 on n"
SHORT = "t WaitingForPods"
LONE = "warned: Job default/… is not among the objects…"
LARGE = "t DemandExceedsCluster"

SECTION = "Workloads"
ROWS = {
    "JobSet": [
        pair(
            job_set(),
            f"Pod/worker-1 metadata labels {JOBSET}/jobset-name",
            ("t", ABSENT),
            WHOLE,
            f"t WaitingForPods; t-worker-0 1 on n; {LONE}",
            word=f"{JOBSET}/jobset-name",
        ),
        pair(
            job_set(),
            f"Pod/worker-1 metadata labels {JOBSET}/replicatedjob-name",
            ("worker", "driver"),
            WHOLE,
            SHORT,
            word=f"{JOBSET}/replicatedjob-name",
        ),
        pair(
            job_set(),
            "JobSet/t spec replicatedJobs 1 replicas",
            (1, 2),
            WHOLE,
            SHORT,
            word="replicas",
        ),
        pair(
            job_set(),
            "JobSet/t spec replicatedJobs 1 template spec parallelism",
            (2, 3),
            WHOLE,
            SHORT,
            word="parallelism",
        ),
        pair(
            job_set(1),
            "JobSet/t spec startupPolicy startupPolicyOrder",
            ("AnyOrder", "InOrder"),
            LARGE,
            "t 1 on n",
            word="startupPolicyOrder: InOrder",
        ),
        pair(
            job_set(2),
            "JobSet/t spec replicatedJobs 1 template spec completions",
            (ABSENT, 1),
            LARGE,
            "t 2 on n",
            word="completions",
        ),
        pair(
            without(job_set(), "worker"),
            "JobSet/t spec replicatedJobs 1 dependsOn",
            (ABSENT, [{"name": "driver", "status": "Complete"}]),
            SHORT,
            "t 1 on n",
            word="dependsOn",
        ),
    ],
    "LeaderWorkerSet": [
        pair(
            leader_worker_set(),
            f"Pod/t-1 metadata labels {LWS}/name",
            ("t", ABSENT),
            "t-0 2 on n",
            "…WaitingForPods…",
            word=f"{LWS}/name",
        ),
        pair(
            leader_worker_set(),
            f"Pod/* metadata labels {LWS}/group-index",
            ("0", "1"),
            "t-0 2 on n",
            "t-1 2 on n",
            word="/group-index",
        ),
        pair(
            leader_worker_set(),
            f"Pod/t-1 metadata labels {LWS}/worker-index",
            ("1", "0"),
            "t-0 2 on n",
            "t-0 WaitingForPods",
            word=f"{LWS}/worker-index",
        ),
        pair(
            leader_worker_set(there=False),
            f"Pod/* metadata labels {LWS}/size",
            ("2", "3"),
            "t-0 2 on n",
            "t-0 WaitingForPods",
            word="/size",
        ),
        pair(
            leader_worker_set(),
            "LeaderWorkerSet/t spec leaderWorkerTemplate size",
            (2, 3),
            "t-0 2 on n",
            "t-0 WaitingForPods",
            word="size",
        ),
        pair(
            leader_worker_set(1),
            "LeaderWorkerSet/t spec startupPolicy",
            ("LeaderCreated", "LeaderReady"),
            "t-0 DemandExceedsCluster",
            "t-0 1 on n",
            word="startupPolicy: LeaderReady",
        ),
    ],
    "Kubeflow's jobs": [
        pair(
            kubeflow("MPIJob", "mpi", MPI),
            f"Pod/launcher-0 metadata labels {KUBEFLOW}/job-name",
            ("t", ABSENT),
            WHOLE,
            f"t WaitingForPods; t-launcher 1 on n; {LONE}",
            word=f"{KUBEFLOW}/job-name",
        ),
        pair(
            kubeflow("TFJob", "tf", TF),
            f"Pod/worker-1 metadata labels {KUBEFLOW}/replica-type",
            ("Worker", "PS"),
            WHOLE,
            SHORT,
            word=f"{KUBEFLOW}/replica-type",
        ),
        pair(
            kubeflow("TFJob", "tf", TF, key="job-role"),
            f"Pod/worker-1 metadata labels {KUBEFLOW}/job-role",
            ("Worker", "PS"),
            WHOLE,
            SHORT,
            word="/job-role",
        ),
    ],
    "TFJob, PyTorchJob, MPIJob, XGBoostJob, JAXJob, PaddleJob": [
        pair(
            kubeflow("TFJob", "tf", TF, 2),
            "TFJob/t spec runPolicy schedulingPolicy minAvailable",
            (ABSENT, 2),
            LARGE,
            "t 2 on n",
            word="runPolicy.schedulingPolicy.minAvailable",
        ),
        pair(
            kubeflow("PyTorchJob", "pytorch", TORCH, 2),
            "PyTorchJob/t spec elasticPolicy minReplicas",
            (ABSENT, 2),
            LARGE,
            "t 2 on n",
            word="elasticPolicy.minReplicas",
        ),
    ]
    + [
        pair(
            kubeflow(kind, prefix, numbers),
            f"{kind}/t spec {prefix}ReplicaSpecs Worker replicas",
            (2, 3),
            WHOLE,
            SHORT,
            word=kind,
        )
        for kind, prefix, numbers in (
            ("TFJob", "tf", TF),
            ("PyTorchJob", "pytorch", TORCH),
            ("MPIJob", "mpi", MPI),
            ("XGBoostJob", "xgb", TORCH),
            ("JAXJob", "jax", {"Worker": 3}),
            ("PaddleJob", "paddle", TORCH),
        )
        if kind != "JAXJob"
    ]
    + [
        pair(
            kubeflow("JAXJob", "jax", {"Worker": 3}),
            "JAXJob/t spec jaxReplicaSpecs Worker replicas",
            (3, 4),
            WHOLE,
            SHORT,
            word="JAXJob",
        )
    ],
    "MPIJob with `launcherCreationPolicy: WaitForWorkersReady`": [
        pair(
            kubeflow("MPIJob", "mpi", MPI, 2),
            "MPIJob/t spec launcherCreationPolicy",
            ("AtStartup", "WaitForWorkersReady"),
            LARGE,
            "t 2 on n",
        )
    ],
    "RayCluster": [
        pair(
            ray(),
            "Pod/w-1 metadata labels ray.io/cluster",
            ("t", ABSENT),
            WHOLE,
            "t WaitingForPods; w-1 1 on n",
            word="ray.io/cluster",
        ),
        pair(
            ray(),
            "Pod/w-1 metadata labels ray.io/group",
            ("w", "headgroup"),
            WHOLE,
            SHORT,
            word="ray.io/group",
        ),
    ],
    "RayCluster, also of a RayJob": [
        pair(
            without(ray(), "w"),
            "RayCluster/t spec workerGroupSpecs 0 suspend",
            (ABSENT, True),
            SHORT,
            "t 1 on n",
            word="suspend",
        ),
        pair(
            ray(),
            "RayCluster/t spec workerGroupSpecs 0 replicas",
            (2, 3),
            WHOLE,
            SHORT,
            word="replicas",
        ),
        pair(
            ray(),
            "RayCluster/t spec workerGroupSpecs 0 numOfHosts",
            (1, 2),
            WHOLE,
            SHORT,
            word="numOfHosts",
        ),
        pair(
            ray(2),
            "RayCluster/t spec enableInTreeAutoscaling",
            (False, True),
            LARGE,
            "t 2 on n",
            word="enableInTreeAutoscaling",
        ),
        pair(
            ray(2),
            "RayCluster/t spec workerGroupSpecs 0 maxReplicas",
            (2, 1),
            LARGE,
            "t 2 on n",
            word="maxReplicas",
        ),
        pair(
            ray(2, enableInTreeAutoscaling=True),
            "RayCluster/t spec workerGroupSpecs 0 minReplicas",
            (1, 2),
            "t 2 on n",
            LARGE,
            word="minReplicas",
        ),
    ],
    "SparkApplication": [
        pair(
            spark(key=key),
            f"Pod/d-0 metadata labels {key}",
            ("t", ABSENT),
            WHOLE,
            "d-0 1 on n; t WaitingForPods",
            word=key,
        )
        for key in (SPARK, "spark-app-selector")
    ]
    + [
        pair(
            spark(),
            "Pod/d-0 metadata labels spark-role",
            ("driver", "executor"),
            WHOLE,
            SHORT,
            word="spark-role",
        )
    ],
    "Job of Volcano": [
        pair(
            volcano_job(),
            "Pod/w-1 metadata labels volcano.sh/job-name",
            ("t", ABSENT),
            WHOLE,
            "t WaitingForPods; w-1 1 on n",
            word="volcano.sh/job-name",
        ),
        pair(
            volcano_job(),
            "Pod/w-1 metadata labels volcano.sh/task-spec",
            ("worker", "ps"),
            WHOLE,
            SHORT,
            word="volcano.sh/task-spec",
        ),
    ],
    "Job of Volcano whose pods name no PodGroup": [
        pair(
            volcano_job(),
            "Job/t spec tasks 1 replicas",
            (2, 3),
            WHOLE,
            SHORT,
            word="replicas",
        ),
        pair(
            volcano_job(2),
            "Job/t spec minAvailable",
            (ABSENT, 2),
            LARGE,
            "t 2 on n",
            word="minAvailable",
        ),
    ],
    "plain pods under Kueue": [
        pair(
            kueue_group(),
            f"Pod/p-1 metadata labels {KUEUE}-name",
            ("t", ABSENT),
            "t 2 on n",
            "p-1 1 on n; t WaitingForPods",
            word=f"{KUEUE}-name",
        ),
        pair(
            kueue_group(),
            f"Pod/p-* metadata annotations {KUEUE}-fast-admission",
            (ABSENT, "true"),
            "t 2 on n",
            "p-0 1 on n; p-1 1 on n",
            word=f"{KUEUE}-fast-admission",
        ),
    ],
    "group of plain pods under Kueue": [
        pair(
            kueue_group(),
            f"Pod/p-* metadata annotations {KUEUE}-total-count",
            ("2", "3"),
            "t 2 on n",
            SHORT,
        ),
    ],
    "Job": [
        pair(
            plain("batch/v1", "Job", 8, parallelism=3),
            "Job/t spec parallelism",
            (3, 4),
            WHOLE,
            SHORT,
            word="parallelism",
        ),
        pair(
            plain("batch/v1", "Job", 8, parallelism=4),
            "Job/t spec completions",
            (4, 3),
            SHORT,
            WHOLE,
            word="completions",
        ),
    ],
    "StatefulSet, Deployment, ReplicaSet, ReplicationController": [
        pair(
            plain(version, kind),
            "Pod/p-* metadata ownerReferences 0 kind",
            ("Unheard", kind),
            f"{LARGE}…",
            "t 2 on n",
            word=kind,
        )
        for version, kind in (
            ("apps/v1", "StatefulSet"),
            ("apps/v1", "Deployment"),
            ("apps/v1", "ReplicaSet"),
            ("v1", "ReplicationController"),
        )
    ],
    "DaemonSet, Node, Workflow, TaskRun, PipelineRun": [
        pair(
            plain(version, kind),
            "Pod/p-* metadata ownerReferences 0 kind",
            ("Unheard", kind),
            LARGE,
            "p-0 1 on n; p-1 1 on n; p-2 LowerTierOrPriority",
            word=kind,
        )
        for version, kind in (
            ("apps/v1", "DaemonSet"),
            ("v1", "Node"),
            ("argoproj.io/v1alpha1", "Workflow"),
            ("tekton.dev/v1", "TaskRun"),
            ("tekton.dev/v1", "PipelineRun"),
        )
    ],
    "any other controller": [
        pair(
            plain("example.com/v1", "Unheard", 3),
            "Pod/p-2 metadata ownerReferences 0 name",
            ("t", "u"),
            WHOLE,
            "t 2 on n; u 1 on n",
        )
    ],
    "none": [
        pair(
            plain("example.com/v1", "Unheard", 3),
            "Pod/p-2 metadata ownerReferences",
            (plain("example.com/v1", "Unheard")[-1]["metadata"]["ownerReferences"], []),
            WHOLE,
            "p-2 1 on n; t 2 on n",
        )
    ],
}
PROSE = {
    "`phalanx/min-available`": [
        pair(
            plain("batch/v1", "Job", 2, parallelism=3),
            f"{where} metadata {kind} phalanx/min-available",
            (ABSENT, "2"),
            LARGE,
            "t 2 on n",
        )
        for where in ("Job/t", "Pod/p-*")
        for kind in ("annotations", "labels")
    ],
    "No number: `InvalidGang`": [
        pair(
            plain("batch/v1", "Job", 8, parallelism=3),
            "Job/t metadata annotations phalanx/min-available",
            (ABSENT, "some"),
            WHOLE,
            "t InvalidGang …phalanx/min-available…",
        )
    ],
}
NAMES = frozenset(
    {
        *("leader", "worker", "head", "headgroup", "driver", "executor"),
        *("chief", "master", "launcher", "ps", "InOrder", "<name>-<group index>"),
    }
)

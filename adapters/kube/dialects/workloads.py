"""
Workloads as data: which pods of which controller are one gang, and how many it needs.

No object is written for these gangs; ``owners.py`` in the room of gangs reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adapters.kube.api.api_resources import Resource

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """
    Where an owner lists its roles, and how many pods each has.

    ``at`` leads to a list, or to a mapping whose keys are the roles; ``name`` is the
    field of a list's entry that names it.  The number of pods is the product of the
    fields in ``pods``, each 1 where it is not said and the last at most what ``most``
    says.  Where ``bounds`` names the fewest and the most, the first is between these,
    0 where none is said; an elastic owner needs the fewest.  A role that is ``off`` has
    none.  ``template`` leads on to what its pods are, ``behind`` to the roles, by name,
    that run or have ended before its pods are made.
    """

    at: Path
    name: str = ""
    pods: tuple[Path, ...] = (("replicas",),)
    most: Path = ()
    bounds: tuple[str, ...] = ()
    off: Path = ("suspend",)
    template: Path = ("template",)
    behind: Path = ("dependsOn",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """
    What an owner says when pods of other roles come only after some run: those first.
    """

    at: Path
    word: str
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """
    One rule: the pods it is for, the gang they are, and the minimum of the gang.

    ``named_by`` are pod labels that hold the owner's name, for pods that another object
    controls; ``copy_by`` is a label that numbers copies, each a gang.  ``minimum``:
    ``all`` pods, ``one``, ``each`` pod a gang by itself, or the ``first`` roles alone.
    ``unless`` is an annotation of pods that are no gang by these labels.
    ``first`` are the roles that all others come after, ``fixed`` those of a known size.
    ``size`` and ``least`` lead to the number of pods and to a minimum that is said,
    ``least_by`` is an annotation of the owner that says it.
    ``templates`` lead to what the pods of a role that is not listed are, the first that
    is there; ``copies`` to how many gangs there are; ``given`` are fields that its pods
    get from elsewhere in the owner where no template says them, ``assumed`` what these
    are where it does not say them either; ``queue`` is where it says its queue,
    ``priority`` where its priority class.  What it says at ``in_vain`` is not read,
    with a warning.
    """

    group: str
    kinds: tuple[str, ...]
    named_by: tuple[str, ...] = ()
    copy_by: str = ""
    roles_by: tuple[str, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""
    roles: tuple[Roles, ...] = ()
    first: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)
    minimum: Literal["all", "one", "each", "first"] = "all"
    unless: str = ""
    size: Path = ()
    size_by: str = ""
    most: Path = ()
    least: tuple[Path, ...] = ()
    least_by: str = ""
    elastic: Path = ()
    late: tuple[Late, ...] = ()
    copies: Path = ()
    templates: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    given: Mapping[str, Path] = field(default_factory=dict)
    assumed: Mapping[str, str] = field(default_factory=dict)
    queue: Path = ()
    priority: Path = ()
    in_vain: tuple[Path, ...] = ()


_KUBEFLOW = "training.kubeflow.org"
_POLICY = ("spec", "runPolicy", "schedulingPolicy")
_LWS = "leaderworkerset.sigs.k8s.io"
_JOBSET = "jobset.sigs.k8s.io"

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        group="jobset.x-k8s.io",
        kinds=("JobSet",),
        named_by=(f"{_JOBSET}/jobset-name",),
        roles_by=(f"{_JOBSET}/replicatedjob-name",),
        roles=(
            Roles(
                at=("spec", "replicatedJobs"),
                name="name",
                pods=(("replicas",), ("template", "spec", "parallelism")),
                most=("template", "spec", "completions"),
                template=("template", "spec", "template"),
            ),
        ),
        late=(
            Late(at=("spec", "startupPolicy", "startupPolicyOrder"), word="InOrder"),
        ),
    ),
    Workload(
        group="leaderworkerset.x-k8s.io",
        kinds=("LeaderWorkerSet",),
        named_by=(f"{_LWS}/name",),
        copy_by=f"{_LWS}/group-index",
        roles_by=(f"{_LWS}/worker-index",),
        called={"0": "leader"},
        rest="worker",
        first=("leader",),
        fixed={"leader": 1},
        size=("spec", "leaderWorkerTemplate", "size"),
        size_by=f"{_LWS}/size",
        late=(Late(at=("spec", "startupPolicy"), word="LeaderReady"),),
        copies=("spec", "replicas"),
        templates={
            "leader": (
                ("spec", "leaderWorkerTemplate", "leaderTemplate"),
                ("spec", "leaderWorkerTemplate", "workerTemplate"),
            ),
            "worker": (("spec", "leaderWorkerTemplate", "workerTemplate"),),
        },
    ),
    Workload(
        group="kubeflow.org",
        kinds=("TFJob", "PyTorchJob", "MPIJob", "XGBoostJob", "JAXJob", "PaddleJob"),
        named_by=(f"{_KUBEFLOW}/job-name",),
        roles_by=(f"{_KUBEFLOW}/replica-type", f"{_KUBEFLOW}/job-role"),
        roles=tuple(
            Roles(at=("spec", f"{prefix}ReplicaSpecs"))
            for prefix in ("tf", "pytorch", "mpi", "xgb", "jax", "paddle")
        ),
        first=("chief", "master", "launcher", "ps"),
        least=(
            (*_POLICY, "minAvailable"),
            ("spec", "elasticPolicy", "minReplicas"),
        ),
        queue=(*_POLICY, "queue"),
        priority=(*_POLICY, "priorityClass"),
        in_vain=((*_POLICY, "minResources"), (*_POLICY, "scheduleTimeoutSeconds")),
        late=(
            Late(
                at=("spec", "launcherCreationPolicy"),
                word="WaitForWorkersReady",
                first=("worker",),
            ),
        ),
    ),
    Workload(
        group="ray.io",
        kinds=("RayCluster",),
        named_by=("ray.io/cluster",),
        roles_by=("ray.io/group",),
        called={"headgroup": "head"},
        roles=(
            Roles(
                at=("spec", "workerGroupSpecs"),
                name="groupName",
                pods=(("replicas",), ("numOfHosts",)),
                bounds=("minReplicas", "maxReplicas"),
            ),
        ),
        first=("head",),
        fixed={"head": 1},
        elastic=("spec", "enableInTreeAutoscaling"),
        priority=("metadata", "labels", "ray.io/priority-class-name"),
        templates={"head": (("spec", "headGroupSpec", "template"),)},
    ),
    Workload(
        group="sparkoperator.k8s.io",
        kinds=("SparkApplication",),
        named_by=("sparkoperator.k8s.io/app-name", "spark-app-selector"),
        roles_by=("spark-role",),
        roles=(Roles(at=("spec",), name="executor", pods=(("instances",),)),),
        first=("driver",),
        fixed={"driver": 1},
        minimum="first",
    ),
    Workload(
        group="batch.volcano.sh",
        kinds=("Job",),
        named_by=("volcano.sh/job-name",),
        roles_by=("volcano.sh/task-spec",),
        roles=(Roles(at=("spec", "tasks"), name="name"),),
        least=(("spec", "minAvailable"),),
        given={
            "schedulerName": ("spec", "schedulerName"),
            "priorityClassName": ("spec", "priorityClassName"),
        },
        assumed={"schedulerName": "volcano"},
        queue=("spec", "queue"),
    ),
    Workload(
        group="kueue.x-k8s.io",
        kinds=("PodGroup",),
        named_by=("kueue.x-k8s.io/pod-group-name",),
        unless="kueue.x-k8s.io/pod-group-fast-admission",
        size_by="kueue.x-k8s.io/pod-group-total-count",
    ),
    Workload(
        group="batch",
        kinds=("Job",),
        size=("spec", "parallelism"),
        most=("spec", "completions"),
        least_by="kai.scheduler/batch-min-member",
        templates={"": (("spec", "template"),)},
    ),
    Workload(
        group="apps",
        kinds=("StatefulSet", "Deployment", "ReplicaSet"),
        minimum="one",
        size=("spec", "replicas"),
        templates={"": (("spec", "template"),)},
    ),
    Workload(group="", kinds=("ReplicationController",), minimum="one"),
    Workload(group="apps", kinds=("DaemonSet",), minimum="each"),
    Workload(group="", kinds=("Node",), minimum="each"),
    Workload(group="argoproj.io", kinds=("Workflow",), minimum="each"),
    Workload(group="tekton.dev", kinds=("TaskRun", "PipelineRun"), minimum="each"),
)
"""
The rules in the order in which they are tried; labels are looked at before owners.
"""

ANY = Workload(group="", kinds=())
"""
The rule for a controller of any other kind: one gang of all the pods there are.
"""

MINIMUM = "phalanx/min-available"
"""
The label or annotation of an owner or its pods that says the minimum itself.
"""

RESOURCES: tuple[Resource, ...] = tuple(
    Resource(group=group, version=version, plural=f"{kind.lower()}s", kind=kind)
    for group, version, kind in (
        ("batch", "v1", "Job"),
        ("apps", "v1", "StatefulSet"),
        ("apps", "v1", "Deployment"),
        ("jobset.x-k8s.io", "v1alpha2", "JobSet"),
        ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"),
        ("kubeflow.org", "v1", "TFJob"),
        ("kubeflow.org", "v1", "PyTorchJob"),
        ("kubeflow.org", "v1", "XGBoostJob"),
        ("kubeflow.org", "v1", "JAXJob"),
        ("kubeflow.org", "v1", "PaddleJob"),
        ("kubeflow.org", "v2beta1", "MPIJob"),
        ("ray.io", "v1", "RayCluster"),
        ("ray.io", "v1", "RayJob"),
        ("sparkoperator.k8s.io", "v1beta2", "SparkApplication"),
    )
)
"""
The owners that say more than their pods do; gangs are derived without them too.
"""

IN_MANIFESTS: tuple[Resource, ...] = (
    Resource(group="apps", version="v1", plural="replicasets", kind="ReplicaSet"),
    Resource(group="batch.volcano.sh", version="v1alpha1", plural="jobs", kind="Job"),
)
"""
Owners that are read where somebody gives them, and looked for in no cluster.
"""

"""
Pods, nodes and what stands beside them: every field listed, changed alone.
"""

from tests.helpers.kube.manifests import in_group, node, obj, pod, pod_group
from tests.pairs.pair import ABSENT, ago, pair, pods, room, running

GPU = "nvidia.com/gpu"
PLAIN = [*room(), *pods("p", 1)]
GROUP = [*room(), pod_group("g", 2), *pods("g", 2, labels=in_group("g"))]
BESIDE = [*GROUP, *running("r", 1, labels={"run": "r"})]
NONE = "p-0 NoFittingNode …"
MANY = {"requests": {"cpu": "100"}}
RIVALS = [*room(1), pod("a"), pod("b")]
OTHER = "a LowerTierOrPriority; b 1 on n"
FIRST = "a 1 on n; b LowerTierOrPriority"
HIGH = obj("scheduling.k8s.io/v1", "PriorityClass", "high", value=10)


def terms(key, *values):
    rule = {"key": key, "operator": "In", "values": list(values)}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    selector = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"nodeAffinity": {required: selector}}


def apart(kind="podAntiAffinity", key="kubernetes.io/hostname"):
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    selector = {"labelSelector": {"matchLabels": in_group("g")}, "topologyKey": key}
    return {kind: {required: [selector]}}


def beside(kind, labels):
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    host = {"topologyKey": "kubernetes.io/hostname"}
    return {kind: {required: [{"labelSelector": {"matchLabels": labels}, **host}]}}


def spread(what):
    return [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": what,
            "labelSelector": {},
        }
    ]


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
SECTION = "Which pods are planned"
ROWS = {
    "`metadata.labels`, `.annotations`, `.ownerReferences` (the controller)": [
        pair(
            GROUP,
            "Pod/g-1 metadata labels",
            (in_group("g"), {}),
            "g 2 on n",
            "g WaitingForPods; g-1 1 on n",
            word="metadata.labels",
        ),
        pair(
            PLAIN,
            "Pod/p-0 metadata annotations",
            ({}, {"gang.scheduling.koordinator.sh/name": "g"}),
            "p-0 1 on n",
            "g InvalidGang…",
            word=".annotations",
        ),
        pair(
            [*room(1), *pods("p", 2, owner=("example.com/v1", "Crew", "t"))],
            "Pod/p-* metadata ownerReferences 0 controller",
            (True, False),
            "t DemandExceedsCluster",
            "p-0 1 on n; p-1 LowerTierOrPriority",
            word=".ownerReferences",
        ),
    ],
    "`spec.containers`, `.initContainers`, `.overhead`, `.resources`": [
        pair(
            PLAIN,
            "Pod/p-0 spec containers 0 resources requests nvidia.com/gpu",
            ("1", "9"),
            "p-0 1 on n",
            NONE,
            word="spec.containers",
        ),
        pair(
            PLAIN,
            "Pod/p-0 spec initContainers",
            (ABSENT, [{"name": "i", "resources": {"requests": {GPU: "9"}}}]),
            "p-0 1 on n",
            NONE,
            word=".initContainers",
        ),
        pair(
            PLAIN,
            "Pod/p-0 spec overhead",
            (ABSENT, {"cpu": "100"}),
            "p-0 1 on n",
            NONE,
            word=".overhead",
        ),
        pair(
            PLAIN,
            "Pod/p-0 spec resources",
            (ABSENT, MANY),
            "p-0 1 on n",
            NONE,
            word=".resources",
        ),
    ],
    "`spec.nodeSelector`, `.tolerations`, required node affinity": [
        pair(
            PLAIN,
            "Pod/p-0 spec nodeSelector",
            (ABSENT, {"zone": "z"}),
            "p-0 1 on n",
            NONE,
            word="spec.nodeSelector",
        ),
        pair(
            [node("n", taints=[TAINT]), *pods("p", 1)],
            "Pod/p-0 spec tolerations",
            (ABSENT, [{"key": "k", "operator": "Exists"}]),
            NONE,
            "p-0 1 on n",
            word=".tolerations",
        ),
        pair(
            [node("n", labels={"zone": "z"}), *pods("p", 1)],
            "Pod/p-0 spec affinity",
            (terms("zone", "z"), terms("zone", "y")),
            "p-0 1 on n",
            NONE,
            word="required node affinity",
        ),
    ],
    (
        "required anti-affinity by `kubernetes.io/hostname` "
        "that selects all pods of its own gang"
    ): [
        pair(
            GROUP,
            "Pod/g-* spec affinity",
            (ABSENT, apart()),
            "g 2 on n",
            "g DemandExceedsCluster",
        ),
        pair(
            [*room(8, 8), *GROUP[1:]],
            "Pod/g-* spec affinity",
            (ABSENT, apart()),
            "g 2 on n",
            "g 2 on n+n1",
        ),
    ],
    "`spec.priority`, else `.priorityClassName`": [
        pair(
            RIVALS,
            "Pod/b spec priority",
            (ABSENT, 5),
            FIRST,
            OTHER,
            word="spec.priority",
        ),
        pair(
            [*RIVALS, HIGH],
            "Pod/b spec priorityClassName",
            (ABSENT, "high"),
            FIRST,
            OTHER,
            word=".priorityClassName",
        ),
        pair(
            RIVALS,
            "Pod/b spec priorityClassName",
            (ABSENT, "nobody"),
            FIRST,
            "a 1 on n; b InvalidGang …nobody…",
            word=".priorityClassName",
        ),
    ],
    "`spec.schedulingGates`": [
        pair(
            PLAIN,
            "Pod/p-0 spec schedulingGates",
            (ABSENT, [{"name": "g"}]),
            "p-0 1 on n",
            "p-0 WaitingForPods",
        )
    ],
    "`status.phase`, `spec.nodeName`, `metadata.deletionTimestamp`": [
        pair(
            GROUP,
            "Pod/g-1 status phase",
            ("Pending", "Failed"),
            "g 2 on n",
            "g WaitingForPods",
            word="status.phase",
        ),
        pair(
            RIVALS,
            "Pod/a spec nodeName",
            (ABSENT, "n"),
            FIRST,
            "b InsufficientCapacity",
            word="spec.nodeName",
        ),
        pair(
            [*room(1), *running("a", 1), pod("b")],
            "Pod/a-0 metadata deletionTimestamp",
            (ABSENT, ago(0)),
            "b InsufficientCapacity",
            "a-0 WaitingForPods; b reserve 1 on n",
            word="metadata.deletionTimestamp",
        ),
    ],
}
PROSE = {
    "A pod is ours if its `spec.schedulerName` is one of those": [
        pair(
            PLAIN,
            "Pod/p-0 spec schedulerName",
            ("phalanx", "other"),
            "p-0 1 on n",
            "warned: pods of other schedulers: 1 waiting…--scheduler-name other",
        )
    ],
    "Required pod affinity and anti-affinity": [
        pair(
            BESIDE,
            "Pod/g-* spec affinity",
            (ABSENT, beside(kind, {"run": who})),
            "g 2 on n",
            "g NeighboursInTheWay …",
        )
        for kind, who in (("podAffinity", "nobody"), ("podAntiAffinity", "r"))
    ],
    "topology spread with `DoNotSchedule`": [
        pair(
            PLAIN,
            "Pod/p-0 spec topologySpreadConstraints",
            (spread("ScheduleAnyway"), spread("DoNotSchedule")),
            "p-0 1 on n",
            "p-0 NeighboursInTheWay must be spread among live pods in default by zone",
        )
    ],
    "A claim that does not exist yet": [
        pair(
            PLAIN,
            "Pod/p-0 spec resourceClaims",
            (ABSENT, [{"name": "c", "resourceClaimName": "c"}]),
            "p-0 1 on n",
            "p-0 WaitingForDevices …claim c (c) does not exist",
        )
    ],
    "tolerations with `Lt` or `Gt`": [
        pair(
            PLAIN,
            "Pod/p-0 spec tolerations",
            (ABSENT, [{"key": "k", "operator": word, "value": "5"}]),
            "p-0 1 on n",
            "p-0 UnsupportedConstraint …tolerations…",
        )
        for word in ("Lt", "Gt")
    ],
    "if one of its claims does not exist yet": [
        pair(
            PLAIN,
            "Pod/p-0 spec volumes",
            (ABSENT, [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
            "p-0 1 on n",
            "p-0 WaitingForVolumes …claim c does not exist yet",
        )
    ],
    "A node that is not ready, cordoned or being removed takes nothing new": [
        pair(
            PLAIN,
            f"Node/n {where}",
            (ABSENT, value),
            "p-0 1 on n",
            "p-0 NoFittingNode of 1 node 1 is unschedulable",
        )
        for where, value in (
            ("spec unschedulable", True),
            ("metadata deletionTimestamp", ago(0)),
            ("status conditions", [{"type": "Ready", "status": "False"}]),
        )
    ],
    "including the one with `globalDefault`": [
        pair(
            [*RIVALS[:1], pod("a", priority=5), pod("b"), HIGH],
            "PriorityClass/high globalDefault",
            (False, True),
            FIRST,
            OTHER,
        )
    ],
    "PodDisruptionBudgets become budgets": [
        pair(
            [
                *room(1),
                pod("g", priority=5),
                *running("v", 1, labels={"app": "v"}),
                obj(
                    "policy/v1",
                    "PodDisruptionBudget",
                    "b",
                    "default",
                    spec={"selector": {"matchLabels": {"app": "v"}}},
                    status={"disruptionsAllowed": 1},
                ),
            ],
            "PodDisruptionBudget/b status disruptionsAllowed",
            (1, 0),
            "g reserve 1 on n; v-0 evict 1 on n",
            "g PreemptionProtected",
        )
    ],
}

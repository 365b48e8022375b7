"""
KAI: every word that the reference lists, changed alone.
"""

from tests.pairs.pair import (
    ABSENT,
    ago,
    node,
    obj,
    pair,
    pods,
    room,
    running,
    since,
)

SUBGROUP = "kai.scheduler/subgroup-name"
POOL = "kai.scheduler/node-pool"
OPEN = {"quota": -1, "limit": -1}


def group(name="g", meta=None, status=None, **spec):
    rest = {"spec": spec, **({"status": status} if status else {})}
    return obj("scheduling.run.ai/v2alpha2", "PodGroup", name, meta=meta, **rest)


def queue(name, quota=0, weight=0, limit=-1, **spec):
    gpu = {"quota": quota, "limit": limit, "overQuotaWeight": weight}
    resources = {"cpu": OPEN, "memory": OPEN, "gpu": gpu}
    return obj(
        "scheduling.run.ai/v2", "Queue", name, spec={"resources": resources, **spec}
    )


def members(number, of="g", make=pods, **fields):
    return make(of, number, annotations={"pod-group-name": of}, **fields)


def leaf(name, number):
    note, label = {"pod-group-name": "g"}, {SUBGROUP: name}
    return pods(name, number, annotations=note, labels=label)


TWO = [{"name": "a", "minMember": 1}, {"name": "b", "minMember": 2}]
TREE = [
    {"name": "top"},
    {"name": "a", "minMember": 1, "parent": "top"},
    {"name": "b", "minMember": 2, "parent": "top"},
]
PLAIN = [*room(), group(minMember=2), *members(3)]
ONE_GPU = [*room(1), group(subGroups=TWO), *leaf("a", 1), *leaf("b", 2)]
DEEP = [*room(1), group(subGroups=TREE), *leaf("a", 1), *leaf("b", 2)]
RACKS = obj(
    "kai.scheduler/v1alpha1",
    "Topology",
    "racks",
    spec={"levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}]},
)


def racks(gpus, *, constraint, number=2):
    nodes = [
        node(f"{rack}-{at}", each, labels={"block": "x", "rack": rack})
        for rack, sizes in gpus.items()
        for at, each in enumerate(sizes)
    ]
    demand = {"topologyConstraint": constraint} if constraint else {}
    return [RACKS, *nodes, group(minMember=number, **demand), *members(number)]


TWO_RACKS = {"a": [2], "b": [2]}
BY_RACK = {"topology": "racks", "requiredTopologyLevel": "rack"}
RIVALS = [
    *room(2),
    queue("q"),
    queue("a"),
    since(group("g", queue="q", minMember=2), 60),
    since(group("h", queue="a", minMember=2), 120),
    *members(2),
    *members(2, "h"),
]
SAME_QUEUE = [
    *room(2),
    since(group("g", minMember=2), 60),
    since(group("h", minMember=2), 120),
    *members(2),
    *members(2, "h"),
]
VICTIM = [
    *room(2),
    queue("q", 2),
    queue("r"),
    group("g", queue="q", minMember=2),
    group("v", queue="r", minMember=1),
    *members(2),
    *members(2, "v", running, seconds=60),
]
LOWER = [
    *room(2),
    queue("q", 2),
    group("g", queue="q", minMember=2, priorityClassName="build-preemptible"),
    group("v", queue="q", minMember=2, priorityClassName="train"),
    *members(2),
    *members(2, "v", running, seconds=60),
]
MARK = {"type": "UnschedulableOnNodePool", "nodePool": "default", "status": "True"}
MARKED = {"schedulingConditions": [{**MARK, "transitionID": "1"}]}
STALE = "kai.scheduler/stale-podgroup-timestamp"


def stale(seconds, **spec):
    meta = {"annotations": {STALE: ago(seconds)}}
    return [*room(1), group(meta=meta, minMember=2, **spec), *members(1, make=running)]


SECTION = "KAI"
ROWS = {
    "annotation `pod-group-name`": [
        pair(
            PLAIN,
            "Pod/g-2 metadata annotations pod-group-name",
            ("g", ABSENT),
            "g 3 on n",
            "g 2 on n; g-2 1 on n",
        )
    ],
    "label `kai.scheduler/subgroup-name`": [
        pair(
            [*room(3), *ONE_GPU[1:]],
            f"Pod/b-1 metadata labels {SUBGROUP}",
            ("b", "c"),
            "g 3 on n",
            "g ConfigConflict …has no leaf SubGroup 'c'",
        )
    ],
    "`spec.minMember` without SubGroups": [
        pair(PLAIN, "PodGroup/g spec minMember", (2, 4), "g 3 on n", "g WaitingForPods")
    ],
    "`spec.minSubGroup`": [
        pair(
            ONE_GPU,
            "PodGroup/g spec minSubGroup",
            (ABSENT, 1),
            "g DemandExceedsCluster",
            "g 1 on n",
        )
    ],
    "`spec.minMember` beside SubGroups": [
        pair(
            ONE_GPU,
            "PodGroup/g spec minMember",
            (ABSENT, 1),
            "g DemandExceedsCluster",
            "g 1 on n; warned: …spec.minMember…",
        )
    ],
    "`spec.subGroups[].name`, `.parent`": [
        pair(
            ONE_GPU,
            "PodGroup/g spec subGroups 0 name",
            ("a", "A_1"),
            "g DemandExceedsCluster",
            "g InvalidGang spec.subGroups[0].name…",
            word="spec.subGroups[].name",
        ),
        pair(
            [
                *DEEP[:1],
                group(subGroups=[{**TREE[0], "minSubGroup": 1}, *TREE[1:]]),
                *DEEP[2:],
            ],
            "PodGroup/g spec subGroups 2 parent",
            ("top", ABSENT),
            "g 1 on n",
            "g DemandExceedsCluster",
            word=".parent",
        ),
    ],
    "`spec.subGroups[].minMember` of a leaf": [
        pair(
            [*room(3), *ONE_GPU[1:]],
            "PodGroup/g spec subGroups 1 minMember",
            (2, 3),
            "g 3 on n",
            "g WaitingForPods",
        )
    ],
    "`spec.subGroups[].minSubGroup`, `.minMember` of a node with children": [
        pair(
            DEEP,
            "PodGroup/g spec subGroups 0 minSubGroup",
            (ABSENT, 1),
            "g DemandExceedsCluster",
            "g 1 on n",
            word="spec.subGroups[].minSubGroup",
        ),
        pair(
            DEEP,
            "PodGroup/g spec subGroups 0 minMember",
            (ABSENT, 1),
            "g DemandExceedsCluster",
            "g 1 on n…",
            word=".minMember",
        ),
    ],
    (
        "`topologyConstraint.topology`, `.requiredTopologyLevel`, "
        "`.preferredTopologyLevel`, of any node"
    ): [
        pair(
            racks(TWO_RACKS, constraint=BY_RACK),
            "PodGroup/g spec topologyConstraint topology",
            ("racks", "rows"),
            "g 2 on …",
            "g InvalidGang …rows…",
            word="topologyConstraint.topology",
        ),
        pair(
            racks(TWO_RACKS, constraint={"topology": "racks"}, number=3),
            "PodGroup/g spec topologyConstraint requiredTopologyLevel",
            (ABSENT, "rack"),
            "g 3 on a-0+b-0",
            "g TopologyTooSmall",
            word=".requiredTopologyLevel",
        ),
        pair(
            racks({"a": [3], "b": [1], "c": [1]}, constraint={"topology": "racks"}),
            "PodGroup/g spec topologyConstraint preferredTopologyLevel",
            (ABSENT, "rack"),
            "g 2 on b-0+c-0",
            "g 2 on a-0",
            word=".preferredTopologyLevel",
        ),
    ],
    "`spec.queue`": [
        pair(
            [
                *room(2),
                queue("q"),
                queue("r", limit=0),
                group(minMember=1),
                *members(1),
            ],
            "PodGroup/g spec queue",
            ("q", "r"),
            "g 1 on n",
            "g QuotaExceedsMaximum",
        )
    ],
    "`spec.priorityClassName`": [
        pair(
            SAME_QUEUE,
            "PodGroup/g spec priorityClassName",
            ("train", "build-preemptible"),
            "g LowerTierOrPriority; h 2 on n",
            "g 2 on n; h LowerTierOrPriority",
        )
    ],
    "`spec.preemptibility`": [
        pair(
            [
                *room(2),
                queue("q", 1),
                group(queue="q", minMember=2, priorityClassName="build"),
                *members(2),
            ],
            "PodGroup/g spec preemptibility",
            (ABSENT, "preemptible"),
            "g Quota…",
            "g 2 on n",
        ),
        pair(
            [*room(2), queue("q", 1), group(queue="q", minMember=2), *members(2)],
            "PodGroup/g spec preemptibility",
            (ABSENT, "semi-preemptible"),
            "g 2 on n",
            "g Quota…; warned: …semi-preemptible is read as non-preemptible…",
        ),
    ],
    "`spec.schedulingBackoff`": [
        pair(
            [*room(), group(minMember=2, status=MARKED), *members(2)],
            "PodGroup/g spec schedulingBackoff",
            (-1, 1),
            "g 2 on n",
            "g TimedOut; warned: …",
        )
    ],
    "`spec.stalenessGracePeriod`": [
        pair(
            stale(90),
            "PodGroup/g spec stalenessGracePeriod",
            (ABSENT, "1h"),
            "g evict 1 on n",
            "g WaitingForPods",
        )
    ],
    "annotation `kai.scheduler/stale-podgroup-timestamp`": [
        pair(
            stale(0),
            f"PodGroup/g metadata annotations {STALE}",
            (ago(30), ago(90)),
            "g WaitingForPods",
            "g evict 1 on n",
        )
    ],
    "`spec.preemptionDelay`": [
        pair(
            PLAIN,
            "PodGroup/g spec preemptionDelay",
            (ABSENT, "5m"),
            "g 3 on n",
            "g 3 on n; warned: …preemptionDelay…",
        )
    ],
    "`spec.markUnschedulable`": [
        pair(
            PLAIN,
            "PodGroup/g spec markUnschedulable",
            (ABSENT, False),
            "g 3 on n",
            "g 3 on n; pods of g are not told",
        )
    ],
    "label `kai.scheduler/node-pool`": [
        pair(
            PLAIN,
            "PodGroup/g metadata labels kai.scheduler/node-pool",
            (ABSENT, "a"),
            "g 3 on n",
            "g NoFittingNode…",
        ),
        pair(
            [node("n", 3), node("n1", 4, labels={POOL: "a"}), *PLAIN[1:]],
            "PodGroup/g metadata labels kai.scheduler/node-pool",
            (ABSENT, "a"),
            "g 3 on n",
            "g 3 on n1",
        ),
        pair(
            [
                node("n", 3, labels={POOL: "a"}),
                PLAIN[1],
                *members(3, nodeSelector={POOL: "a"}),
            ],
            "PodGroup/g metadata labels kai.scheduler/node-pool",
            ("a", "b"),
            "g 3 on n",
            "g ConfigConflict metadata.labels…: b, but the nodeSelector of…says a",
        ),
    ],
    "label `kai.scheduler/node-pool`, without a PodGroup": [
        pair(
            [node("n", 1), node("n1", 3, labels={POOL: "a"}), *pods("p", 1)],
            "Pod/p-0 metadata labels kai.scheduler/node-pool",
            (ABSENT, "a"),
            "p-0 1 on n",
            "p-0 1 on n1",
        )
    ],
    "`metadata.name`": [
        pair(
            PLAIN[:2],
            "PodGroup/g metadata name",
            ("g", "G_1"),
            "g WaitingForPods",
            "G_1 InvalidGang metadata.name…",
        )
    ],
    "`spec.parentQueue`": [
        pair(
            RIVALS,
            "Queue/q spec parentQueue",
            (ABSENT, "gone"),
            "g LowerTierOrPriority; h 2 on n",
            "g QueueNotFound; h 2 on n; warned: …gone…",
        )
    ],
    "`spec.priority`": [
        pair(
            [*room(2), queue("q", weight=1), queue("a", weight=1), *RIVALS[3:]],
            "Queue/q spec priority",
            (100, 200),
            "g LowerTierOrPriority; h 2 on n",
            "g 2 on n; h LowerTierOrPriority",
        )
    ],
    "`spec.resources.{cpu,memory,gpu}.quota`, `.limit`": [
        pair(
            RIVALS,
            "Queue/q spec resources gpu quota",
            (0, 2),
            "g LowerTierOrPriority; h 2 on n",
            "g 2 on n; h LowerTierOrPriority",
            word="spec.resources.{cpu,memory,gpu}.quota",
        ),
        pair(
            RIVALS,
            "Queue/a spec resources gpu limit",
            (-1, 1),
            "g LowerTierOrPriority; h 2 on n",
            "g 2 on n; h QuotaExceedsMaximum",
            word=".limit",
        ),
    ],
    "`spec.resources.{cpu,memory,gpu}.overQuotaWeight`": [
        pair(
            RIVALS,
            "Queue/q spec resources gpu overQuotaWeight",
            (0, 1),
            "g LowerTierOrPriority; h 2 on n",
            "g 2 on n; h LowerTierOrPriority",
        )
    ],
    "`spec.preemptMinRuntime`, `.reclaimMinRuntime`": [
        pair(
            LOWER,
            "Queue/q spec preemptMinRuntime",
            (ABSENT, "10m"),
            "g reserve 2 on n; v evict 2 on n",
            "g InsufficientCapacity",
            word="spec.preemptMinRuntime",
        ),
        pair(
            VICTIM,
            "Queue/r spec reclaimMinRuntime",
            (ABSENT, "10m"),
            "g reserve 2 on n; v evict 2 on n",
            "g PreemptionProtected",
            word=".reclaimMinRuntime",
        ),
    ],
}

"""
Volcano, kube-batch and roc: every word that the reference lists, changed alone.
"""

from tests.pairs.pair import ABSENT, node, obj, pair, pods, room, running, since

GROUP = "scheduling.volcano.sh"
NAME = f"{GROUP}/group-name"
OLD = "scheduling.k8s.io/group-name"
TASK = "volcano.sh/task-spec"
KEEP = "volcano.sh/preemptable"
GPU = "nvidia.com/gpu"


def group(name="g", **spec):
    return obj(f"{GROUP}/v1beta1", "PodGroup", name, spec=spec)


def queue(name, **spec):
    state = {"state": "Open"}
    return obj(f"{GROUP}/v1beta1", "Queue", name, spec=spec, status=state)


def members(number, of="g", make=pods, notes=None, **fields):
    return make(of, number, annotations={NAME: of, **(notes or {})}, **fields)


def tasks(**numbers):
    return [
        raw
        for task, number in numbers.items()
        for raw in pods(task, number, annotations={NAME: "g", TASK: task})
    ]


def rivals(size=2, **of_q):
    """
    Let the older gang of another queue come first where nothing is said of queue q.
    """
    return [
        *room(size),
        queue("a"),
        queue("q", **of_q),
        since(group("g", queue="q", minMember=size), 60),
        since(group("h", queue="a", minMember=size), 120),
        *members(size),
        *members(size, "h"),
    ]


PLAIN = [*room(), group(minMember=2), *members(3)]
QUEUED = [
    *room(),
    queue("default"),
    queue("shut", parent="default"),
    group(minMember=2, queue="default"),
    *members(2),
]
OWNED = [
    *room(2),
    *pods("g", 3, annotations={}, owner=("example.com/v1", "Thing", "t")),
]
LABELLED = [
    *room(2),
    group(
        subGroupPolicy=[
            {"name": "s", "subGroupSize": 2, "minSubGroups": 2, "matchLabelKeys": ["k"]}
        ]
    ),
    *pods("a", 2, annotations={NAME: "g"}, labels={"k": "a"}),
    *pods("b", 2, annotations={NAME: "g"}, labels={"k": "b"}),
]
TREE = [
    node("n", 2, labels={"rack": "a"}),
    node("n1", 2),
    *(
        obj(
            "topology.volcano.sh/v1alpha1",
            "HyperNode",
            name,
            spec={
                "tier": tier,
                "tierName": word,
                "members": [
                    {"type": kind, "selector": {"exactMatch": {"name": member}}}
                    for member in members
                ],
            },
        )
        for name, tier, word, kind, members in (
            ("s0", 1, "rack", "Node", ["n"]),
            ("s1", 1, "rack", "Node", ["n1"]),
            ("s2", 2, "spine", "HyperNode", ["s0", "s1"]),
        )
    ),
    group(minMember=3, networkTopology={"highestTierName": "spine"}),
    *members(3),
]
PARTED = [*room(3, 1), *TREE[2:-4], *LABELLED[1:]]
VICTIM = [
    *room(2),
    queue("q", deserved={GPU: 2}),
    queue("r"),
    group("g", queue="q", minMember=2),
    group("v", queue="r", minMember=1),
    *members(2),
    *members(2, "v", running),
]
GOES = "g reserve 2 on n; v evict 2 on n"
OLDER = "g LowerTierOrPriority; h 2 on n"
ENTITLED = "g 2 on n; h LowerTierOrPriority"
UNREAD = (
    "cooldown-time",
    "revocable-zone",
    "jdb-min-available",
    "jdb-max-unavailable",
    "numa-topology-policy",
    "sla-waiting-time",
    "qos-level",
)
NODE_GROUPS = {
    "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["x"]}
}
LIKED = {
    "nodeGroupAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["x"]}
}

SECTION = "Volcano, kube-batch, roc"
ROWS = {
    "annotation `GROUP/group-name`, else `scheduling.k8s.io/group-name`": [
        pair(
            PLAIN,
            f"Pod/g-2 metadata annotations {NAME}",
            ("g", ABSENT),
            "g 3 on n",
            "g 2 on n; g-2 1 on n",
            word="GROUP/group-name",
        ),
        pair(
            [*PLAIN[:-1], *pods("old", 1, annotations={})],
            f"Pod/old-0 metadata annotations {OLD}",
            (ABSENT, "g"),
            "g 2 on n; old-0 1 on n",
            "g 3 on n",
            word=OLD,
        ),
    ],
    "annotation `GROUP/group-min-member` without a name": [
        pair(
            OWNED,
            f"Pod/g-* metadata annotations {GROUP}/group-min-member",
            (ABSENT, "2"),
            "t DemandExceedsCluster",
            "podgroup-u 2 on n",
        )
    ],
    "label or annotation `volcano.sh/task-spec`, else the priority class": [
        pair(
            [
                *room(),
                group(minMember=2, minTaskMember={"a": 1, "b": 1}),
                *tasks(a=2, b=1),
            ],
            f"Pod/b-0 metadata annotations {TASK}",
            ("b", "a"),
            "g 3 on n",
            "g WaitingForPods",
        )
    ],
    "annotation or label `volcano.sh/preemptable`": [
        pair(
            VICTIM,
            f"Pod/v-0 metadata annotations {KEEP}",
            (ABSENT, "false"),
            GOES,
            "g PreemptionProtected; warned: …preemptable…",
        )
    ],
    "`spec.minMember`": [
        pair(PLAIN, "PodGroup/g spec minMember", (2, 4), "g 3 on n", "g WaitingForPods")
    ],
    "`spec.minTaskMember`": [
        pair(
            [*room(), group(minMember=2), *tasks(a=2, b=1)],
            "PodGroup/g spec minTaskMember",
            (ABSENT, {"b": 2}),
            "g 3 on n",
            "g WaitingForPods",
        ),
        pair(
            [*room(), group(minMember=2), *tasks(a=2, b=1)],
            "PodGroup/g spec minTaskMember",
            (ABSENT, {"b": 3}),
            "g 3 on n",
            "g 3 on n; warned: …minTaskMember…",
        ),
    ],
    "`spec.minResources`": [
        pair(
            PLAIN,
            "PodGroup/g spec minResources",
            (ABSENT, {GPU: "9"}),
            "g 3 on n",
            "g InsufficientCapacity",
        )
    ],
    "`spec.queue`": [
        pair(
            QUEUED,
            "PodGroup/g spec queue",
            ("shut", "gone"),
            "g 2 on n",
            "g QueueNotFound",
        )
    ],
    "`spec.priorityClassName`": [
        pair(
            [
                *room(2),
                group("a", minMember=2),
                group(minMember=2),
                *members(2, "a"),
                *members(2),
            ],
            "PodGroup/g spec priorityClassName",
            (ABSENT, "system-node-critical"),
            "a 2 on n; g LowerTierOrPriority",
            "a LowerTierOrPriority; g 2 on n",
        )
    ],
    "`spec.subGroupPolicy[]` with `minSubGroups` or a `networkTopology`": [
        pair(
            LABELLED,
            "PodGroup/g spec subGroupPolicy 0 subGroupSize",
            (2, 3),
            "g DemandExceedsCluster",
            "g WaitingForPods",
            word="spec.subGroupPolicy[]",
        ),
        pair(
            LABELLED,
            "PodGroup/g spec subGroupPolicy 0 minSubGroups",
            (2, 1),
            "g DemandExceedsCluster",
            "g 2 on n",
            word="minSubGroups",
        ),
        pair(
            PARTED,
            "PodGroup/g spec subGroupPolicy 0 networkTopology",
            (ABSENT, {"highestTierAllowed": 1}),
            "g 4 on n+n1",
            "g Fragmented…",
            word="networkTopology",
        ),
    ],
    "`spec.networkTopology.mode`, also of a policy": [
        pair(
            TREE,
            "PodGroup/g spec networkTopology",
            (ABSENT, {"highestTierAllowed": 1}),
            "g 3 on n+n1",
            "g TopologyTooSmall",
        ),
        pair(
            TREE,
            "PodGroup/g spec networkTopology",
            ({"mode": "soft"}, {"mode": "near"}),
            "g 3 on n+n1",
            "g InvalidGang spec.networkTopology.mode…",
        ),
        pair(
            PARTED,
            "PodGroup/g spec subGroupPolicy 0 networkTopology",
            ({"mode": "soft"}, {"mode": "near"}),
            "g 4 on n+n1",
            "g InvalidGang spec.subGroupPolicy[0].networkTopology…",
        ),
    ],
    "`spec.networkTopology.highestTierAllowed`, also of a policy": [
        pair(
            TREE,
            "PodGroup/g spec networkTopology",
            ({"highestTierAllowed": 2}, {"highestTierAllowed": 1}),
            "g 3 on n+n1",
            "g TopologyTooSmall",
        ),
        pair(
            TREE,
            "PodGroup/g spec networkTopology",
            ({"highestTierAllowed": 1}, {"highestTierAllowed": 0}),
            "g TopologyTooSmall",
            "g InvalidGang spec.networkTopology.highestTierAllowed…",
        ),
    ],
    "`spec.networkTopology.highestTierName`, also of a policy": [
        pair(
            TREE,
            "PodGroup/g spec networkTopology",
            ({"highestTierName": "spine"}, {"highestTierName": "leaf"}),
            "g 3 on n+n1",
            "g InvalidGang spec.networkTopology.highestTierName…",
        )
    ],
    "`spec.tier`": [
        pair(
            TREE,
            "HyperNode/s2 spec tier",
            (2, 1),
            "g 3 on n+n1",
            "g InvalidGang …; warned: HyperNode s2: spec.tier…; warned: …",
        )
    ],
    "`spec.tierName`": [
        pair(
            TREE,
            "HyperNode/s2 spec tierName",
            ("spine", "top"),
            "g 3 on n+n1",
            "g InvalidGang spec.networkTopology.highestTierName…",
        )
    ],
    "`spec.members[]` of type `Node`, by `exactMatch`, `regexMatch` or `labelMatch`": [
        pair(
            TREE,
            "HyperNode/s0 spec members 0 selector",
            ({"exactMatch": {"name": "n"}}, {"exactMatch": {"name": "other"}}),
            "g 3 on n+n1",
            "g TopologyTooSmall",
            word="exactMatch",
        ),
        pair(
            TREE,
            "HyperNode/s0 spec members 0 selector",
            ({"regexMatch": {"pattern": "^n$"}}, {"regexMatch": {"pattern": "(?=n)"}}),
            "g 3 on n+n1",
            "g InvalidGang …; warned: …regexMatch.pattern…",
            word="regexMatch",
        ),
        pair(
            TREE,
            "HyperNode/s0 spec members 0 selector",
            (
                {"labelMatch": {"matchLabels": {"rack": "a"}}},
                {"labelMatch": {"matchLabels": {"rack": "b"}}},
            ),
            "g 3 on n+n1",
            "g TopologyTooSmall",
            word="labelMatch",
        ),
        pair(
            TREE,
            "HyperNode/s0 spec members 0 type",
            ("Node", "Rack"),
            "g 3 on n+n1",
            "g InvalidGang …; warned: HyperNode s0: spec.members[0].type…; warned: …",
            word="spec.members[]",
        ),
        pair(
            TREE,
            "HyperNode/s0 spec members 0 type",
            ("Node", ABSENT),
            "g 3 on n+n1",
            "g InvalidGang …; warned: HyperNode s0: spec.members[0].type…; warned: …",
            word="Node",
        ),
    ],
    "`spec.members[]` of type `HyperNode`, by `exactMatch`": [
        pair(
            TREE,
            "HyperNode/s2 spec members 0 selector exactMatch name",
            ("s0", "s9"),
            "g 3 on n+n1",
            "g TopologyTooSmall; warned: HyperNode s2: …there is no HyperNode s9",
            word=word,
        )
        for word in ("spec.members[]", "HyperNode", "exactMatch")
    ],
    "annotation, else label, `volcano.sh/preemptable`": [
        pair(
            VICTIM,
            f"PodGroup/v metadata {where} {KEEP}",
            ("true", "false"),
            GOES,
            "g PreemptionProtected; warned: …preemptable…",
        )
        for where in ("annotations", "labels")
    ],
    (
        "annotations `volcano.sh/cooldown-time`, `/revocable-zone`, "
        "`/jdb-min-available`, `/jdb-max-unavailable`, `/numa-topology-policy`, "
        "`/sla-waiting-time`, `/qos-level`"
    ): [
        pair(
            PLAIN,
            f"PodGroup/g metadata annotations volcano.sh/{word}",
            (ABSENT, "1"),
            "g 3 on n",
            f"g 3 on n; warned: …volcano.sh/{word} is not obeyed",
            word=f"volcano.sh/{word}" if word == UNREAD[0] else f"/{word}",
        )
        for word in UNREAD
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
    "`spec.weight`": [
        pair(
            [
                *room(4),
                queue("a"),
                queue("q"),
                since(group("g", queue="q", minMember=3), 60),
                since(group("h", queue="a", minMember=3), 120),
                *members(3),
                *members(3, "h"),
            ],
            "Queue/q spec weight",
            (1, 3),
            "g LowerTierOrPriority; h 3 on n",
            "g 3 on n; h LowerTierOrPriority",
        ),
        pair(
            rivals(),
            "Queue/q spec weight",
            (1, 0),
            OLDER,
            "g QueueClosed; h 2 on n; warned: …spec.weight…",
        ),
    ],
    "`spec.capability`": [
        pair(
            rivals(),
            "Queue/a spec capability",
            (ABSENT, {GPU: 1}),
            OLDER,
            "g 2 on n; h QuotaExceedsMaximum",
        )
    ],
    "`spec.deserved`, else `spec.guarantee.resource`": [
        pair(
            rivals(),
            "Queue/q spec deserved",
            (ABSENT, {GPU: 2}),
            OLDER,
            ENTITLED,
            word="spec.deserved",
        ),
        pair(
            rivals(),
            "Queue/q spec guarantee resource",
            (ABSENT, {GPU: 2}),
            OLDER,
            "g 2 on n; h QuotaExceedsMaximum",
            word="spec.guarantee.resource",
        ),
    ],
    "`spec.guarantee.resource`": [
        pair(
            [
                *room(2),
                queue("a"),
                queue("q"),
                group("h", queue="a", minMember=2),
                *members(2, "h"),
            ],
            "Queue/q spec guarantee resource",
            (ABSENT, {GPU: 2}),
            "h 2 on n",
            "h QuotaExceedsMaximum",
        )
    ],
    "`spec.parent`": [
        pair(
            rivals(),
            "Queue/q spec parent",
            (ABSENT, "gone"),
            OLDER,
            "g QueueNotFound; h 2 on n; warned: …gone…",
        )
    ],
    "`spec.priority`": [
        pair(rivals(), "Queue/q spec priority", (0, 9), OLDER, ENTITLED)
    ],
    "`spec.reclaimable: false`": [
        pair(
            VICTIM,
            "Queue/r spec reclaimable",
            (True, False),
            GOES,
            "g PreemptionProtected",
            word="spec.reclaimable: false",
        )
    ],
    "`status.state`": [
        pair(
            rivals(),
            "Queue/a status state",
            ("Open", "Closed"),
            OLDER,
            "g 2 on n; h QueueClosed",
        )
    ],
    "`spec.dequeueStrategy`": [
        pair(
            rivals(),
            "Queue/a spec dequeueStrategy",
            ("traverse", "fifo"),
            OLDER,
            f"{OLDER}; warned: …fifo is not obeyed",
        ),
        pair(
            rivals(),
            "Queue/a spec dequeueStrategy",
            ("traverse", "lifo"),
            OLDER,
            "g 2 on n; h QueueClosed; warned: …spec.dequeueStrategy…",
        ),
    ],
    "`spec.affinity` with required node groups": [
        pair(
            rivals(),
            "Queue/a spec affinity",
            (ABSENT, NODE_GROUPS),
            OLDER,
            "g 2 on n; h UnsupportedConstraint …spec.affinity…",
        )
    ],
    "`spec.affinity` with preferred ones, `spec.extendClusters`, `spec.type`": [
        pair(
            rivals(),
            f"Queue/a spec {word}",
            (ABSENT, value),
            OLDER,
            f"{OLDER}; warned: …spec.{word}…",
            word=f"spec.{word}",
        )
        for word, value in (
            ("affinity", LIKED),
            ("extendClusters", [{"name": "c"}]),
            ("type", "x"),
        )
    ],
    "annotations `volcano.sh/hierarchy`, `volcano.sh/hierarchy-weights`": [
        pair(
            rivals(),
            f"Queue/a metadata annotations {word}",
            (ABSENT, "root/a"),
            OLDER,
            f"{OLDER}; warned: …{word}…",
            word=word,
        )
        for word in ("volcano.sh/hierarchy", "volcano.sh/hierarchy-weights")
    ],
}

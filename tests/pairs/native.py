"""
Native scheduling.k8s.io: every field that the reference lists, changed alone.
"""

from tests.pairs.pair import ABSENT, node, obj, pair, pods, room

GROUP = "scheduling.k8s.io"


def gang(least):
    return {"schedulingPolicy": {"gang": {"minCount": least}}}


def group(name="g", least=2, **spec):
    spec = {**gang(least), **spec}
    return obj(f"{GROUP}/v1beta1", "PodGroup", name, spec=spec)


def composite(name="top", least=1, **spec):
    policy = {"schedulingPolicy": {"gang": {"minGroupCount": least}}}
    spec = {**policy, **spec}
    return obj(f"{GROUP}/v1alpha3", "CompositePodGroup", name, spec=spec)


def workload(name="w"):
    return obj(
        f"{GROUP}/v1beta1",
        "Workload",
        name,
        spec={"podGroupTemplates": [{"name": "t"}], "compositePodGroupTemplates": []},
    )


def members(number, of="g", **fields):
    return pods(of, number, schedulingGroup={"podGroupName": of}, **fields)


OF = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
PLAIN = [*room(), group(), *members(3)]
TREE = [
    *room(3),
    workload(),
    composite(**OF),
    group("a", **OF, parentCompositePodGroupName="top"),
    group("b", **OF, parentCompositePodGroupName="top"),
    *members(2, "a"),
    *members(2, "b"),
]
RACKS = [
    node("n", 2, labels={"rack": "a"}),
    node("n1", 2, labels={"rack": "b"}),
    group(least=3),
    *members(3),
]

SECTION = "Native `scheduling.k8s.io`"
ROWS = {
    "pod `spec.schedulingGroup.podGroupName`": [
        pair(
            PLAIN,
            "Pod/g-2 spec schedulingGroup",
            ({"podGroupName": "g"}, ABSENT),
            "g 3 on n",
            "g 2 on n; g-2 1 on n",
        ),
        pair(
            PLAIN,
            "Pod/g-2 spec schedulingGroup podGroupName",
            ("g", "lost"),
            "g 3 on n",
            "g 2 on n; lost WaitingForGroup…",
        ),
    ],
    "`spec.schedulingPolicy.gang.minCount`": [
        pair(
            PLAIN,
            "PodGroup/g spec schedulingPolicy gang minCount",
            (2, 4),
            "g 3 on n",
            "g WaitingForPods",
        ),
        pair(
            PLAIN,
            "PodGroup/g spec schedulingPolicy gang minCount",
            (2, 0),
            "g 3 on n",
            "g InvalidGang …minCount…",
        ),
    ],
    "`spec.schedulingPolicy.gang.minGroupCount`": [
        pair(
            TREE,
            "CompositePodGroup/top spec schedulingPolicy gang minGroupCount",
            (1, 2),
            "top 2 on n",
            "top DemandExceedsCluster",
        )
    ],
    "`spec.schedulingPolicy.basic`": [
        pair(
            [*room(1), *PLAIN[1:]],
            "PodGroup/g spec schedulingPolicy",
            ({"gang": {"minCount": 2}}, {"basic": {}}),
            "g DemandExceedsCluster",
            "g 1 on n",
        )
    ],
    "`spec.parentCompositePodGroupName`": [
        pair(
            TREE,
            "PodGroup/b spec parentCompositePodGroupName",
            ("top", "gone"),
            "top 2 on n",
            "b WaitingForGroup; top 2 on n",
        )
    ],
    "`spec.schedulingConstraints.topology[].key`": [
        pair(
            RACKS,
            "PodGroup/g spec schedulingConstraints",
            (ABSENT, {"topology": [{"key": "rack"}]}),
            "g 3 on n+n1",
            "g TopologyTooSmall",
        ),
        pair(
            RACKS,
            "PodGroup/g spec schedulingConstraints",
            (ABSENT, {"topology": [{"key": "rack"}, {"key": "row"}]}),
            "g 3 on n+n1",
            "g InvalidGang …topology…",
        ),
    ],
    "`spec.priority`, else `spec.priorityClassName`": [
        pair(
            [*room(2), group("a"), *members(2, "a"), group(), *members(2)],
            "PodGroup/g spec priority",
            (0, 5),
            "a 2 on n; g LowerTierOrPriority",
            "a …; g ConfigConflict…",
            word="spec.priority",
        ),
        pair(
            [
                *room(2),
                group("a"),
                *members(2, "a"),
                group(),
                *members(2, priority=5),
            ],
            "PodGroup/g spec priority",
            (ABSENT, 5),
            "a 2 on n; g ConfigConflict…",
            "a LowerTierOrPriority; g 2 on n",
            word="spec.priority",
        ),
        pair(
            PLAIN,
            "PodGroup/g spec priorityClassName",
            (ABSENT, "nobody"),
            "g 3 on n",
            "g InvalidGang …nobody…",
            word="spec.priorityClassName",
        ),
    ],
    "pods' `spec.schedulerName`": [
        pair(
            PLAIN,
            "Pod/g-2 spec schedulerName",
            ("phalanx", "other"),
            "g 3 on n",
            "g ConfigConflict…; warned: pods of other schedulers: 1 waiting…",
        )
    ],
    "`spec.workloadRef`": [
        pair(
            TREE,
            "PodGroup/a spec workloadRef",
            (OF["workloadRef"], ABSENT),
            "top 2 on n",
            "top InvalidGang …workloadRef…",
        ),
        pair(
            [*PLAIN, workload()],
            "PodGroup/g spec workloadRef",
            (OF["workloadRef"], {"workloadName": "gone", "templateName": "t"}),
            "g 3 on n",
            "g 3 on n; warned: …gone…",
        ),
    ],
    "`spec.preemptionPolicy`": [
        pair(
            PLAIN,
            "PodGroup/g spec preemptionPolicy",
            ("PreemptLowerPriority", value),
            "g 3 on n",
            f"{said} …preemptionPolicy…",
        )
        for value, said in (
            ("Never", "g 3 on n; warned:"),
            ("Sometimes", "g InvalidGang"),
        )
    ],
    "`spec.disruptionMode.all`": [
        pair(
            PLAIN,
            "PodGroup/g spec disruptionMode",
            ({"single": {}}, {"all": {}}),
            "g 3 on n",
            "g 3 on n; warned: …disruptionMode…",
        )
    ],
    "`metadata.name`": [
        pair(
            PLAIN[:2],
            "PodGroup/g metadata name",
            ("g", "G_1"),
            "g WaitingForPods",
            "G_1 InvalidGang …",
        )
    ],
}

"""
Koordinator: every word that the reference lists, changed alone.
"""

from tests.helpers.kube.manifests import pod
from tests.pairs.family import GANG, GPU, LABEL, QUOTA, group, noted, quota, referring
from tests.pairs.pair import ABSENT, pair, room, running, since

PLAIN = [*room(), *noted(min_available="2")]
GROUPED = [*room(), group(minMember=2), *referring()]
BOTH = '["default/g", "default/h"]'
MATES = [
    *room(3),
    *noted("g", 2, min_available="2", groups=BOTH),
    *noted("h", 2, min_available="2", groups=BOTH),
]
ENDED = [
    *room(1),
    pod("g-8", annotations={f"{GANG}/name": "g"}, status={"phase": "Succeeded"}),
    pod(
        "g-9",
        annotations={f"{GANG}/name": "g", f"{GANG}/min-available": "2"},
    ),
]
LOST = [
    *room(2),
    group(minMember=3),
    *referring("g", 1, running),
    *referring("g", 2)[1:],
]


def rivals(meta=None, **of_q):
    """
    Let the older gang of another quota come first where nothing is said of quota q.
    """
    labels = {name: {f"{QUOTA}/name": name} for name in ("a", "q")}
    return [
        *room(2),
        quota("a", most={GPU: 2}),
        quota("q", most={GPU: 2}, meta=meta, **of_q),
        since(group("g", minMember=2), 60),
        since(group("h", minMember=2), 120),
        *(
            {**p, "metadata": {**p["metadata"], "labels": {LABEL: of, **labels[at]}}}
            for of, at in (("g", "q"), ("h", "a"))
            for p in referring(of, 2)
        ),
    ]


OLDER = "g LowerTierOrPriority; h 2 on n"
ENTITLED = "g 2 on n; h LowerTierOrPriority"
VICTIM = [
    *room(2),
    quota("q", least={GPU: 2}, most={GPU: 2}),
    quota("r", most={GPU: 2}),
    *noted("g", 2, labels={f"{QUOTA}/name": "q"}, min_available="2"),
    *noted("v", 2, running, {f"{QUOTA}/name": "r"}, min_available="1"),
]

SECTION = "Koordinator"
ROWS = {
    (
        "pods' label `pod-group.scheduling.sigs.k8s.io/min-available`, annotation "
        "`gang/min-available`; the PodGroup's annotation, its `spec.minMember`"
    ): [
        pair(
            [*room(), group(minMember=4), *referring()],
            f"Pod/g-* metadata annotations {GANG}/min-available",
            (ABSENT, "2"),
            "g WaitingForPods",
            "g 3 on n; warned: …spec.minMember…",
            word="gang/min-available",
        ),
        pair(
            [*room(), group(minMember=4), *referring()],
            f"PodGroup/g metadata annotations {GANG}/min-available",
            (ABSENT, "2"),
            "g WaitingForPods",
            "g 3 on n; warned: …spec.minMember…",
            word="gang/min-available",
        ),
        pair(
            [*room(), group(minMember=4), *referring()],
            f"Pod/g-* metadata labels {LABEL}/min-available",
            (ABSENT, "2"),
            "g WaitingForPods",
            "g 3 on n; warned: …spec.minMember…",
            word=f"{LABEL}/min-available",
        ),
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/min-available",
            ("2", ABSENT),
            "g 3 on n",
            "g InvalidGang annotation gang…/min-available…",
            word="gang/min-available",
        ),
        pair(
            GROUPED,
            "PodGroup/g spec minMember",
            (2, 4),
            "g 3 on n",
            "g WaitingForPods",
            word="spec.minMember",
        ),
    ],
    "annotation `gang/total-number`": [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/total-number",
            ("3", "1"),
            "g 3 on n",
            "g 3 on n; warned: …total-number…below the minimum…",
        )
    ],
    "annotation `gang/mode`": [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/mode",
            ("Strict", value),
            "g 3 on n",
            f"g 3 on n; warned: …/mode…{said}…",
        )
        for value, said in (("NonStrict", "as Strict"), ("Loose", "'Loose' is unknown"))
    ],
    (
        "annotation `gang/waiting-time`, a Go duration; "
        "else `spec.scheduleTimeoutSeconds`"
    ): [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/waiting-time",
            ("5m", "soon"),
            "g 3 on n",
            "g 3 on n; warned: …waiting-time…600s is used…",
            word="gang/waiting-time",
        ),
        pair(
            [
                *room(),
                group(minMember=2),
                *referring(annotations={f"{GANG}/waiting-time": "0s"}),
            ],
            "PodGroup/g spec scheduleTimeoutSeconds",
            (ABSENT, 60),
            "g 3 on n; warned: …600s is used…",
            "g 3 on n; warned: …: 60s is used…",
            word="spec.scheduleTimeoutSeconds",
        ),
    ],
    "annotation `gang/groups`, a JSON list of `namespace/name`": [
        pair(
            MATES,
            f"Pod/* metadata annotations {GANG}/groups",
            (BOTH, ABSENT),
            "g …; h …",
            "g 2 on n; h LowerTierOrPriority",
            word="gang/groups",
        ),
        pair(
            MATES,
            f"Pod/h-* metadata annotations {GANG}/groups",
            (BOTH, '["default/h", "x/y/z"]'),
            "g …; h …",
            "g ConfigConflict…; h InvalidGang …/groups…",
            word="namespace/name",
        ),
        pair(
            [*room(), *MATES[1:]],
            f"Pod/* metadata annotations {GANG}/groups",
            (BOTH, "g, h"),
            "g 2 on n; h 2 on n",
            "g 2 on n; h 2 on n; warned: …/groups…",
            word="gang/groups",
        ),
    ],
    (
        "annotation `gang/match-policy`, "
        "else `pod-group.scheduling.sigs.k8s.io/match-policy`"
    ): [
        pair(
            ENDED,
            f"Pod/g-9 metadata annotations {key}",
            (ABSENT, "waiting-and-running"),
            "g 1 on n",
            "g WaitingForPods",
            word=word,
        )
        for key, word in (
            (f"{GANG}/match-policy", "gang/match-policy"),
            (f"{LABEL}/match-policy", f"{LABEL}/match-policy"),
        )
    ],
    (
        'annotation `gang/timeout` is `"true"`, '
        "on the PodGroup or a pod that has not started"
    ): [
        pair(
            GROUPED,
            f"{at} metadata annotations {GANG}/timeout",
            (ABSENT, "true"),
            "g 3 on n",
            "g TimedOut",
            word="gang/timeout",
        )
        for at in ("PodGroup/g", "Pod/g-0")
    ],
    "`status.phase` `Scheduled`, `Running`, `Finished` or `Failed`": [
        pair(
            LOST,
            "PodGroup/g status phase",
            ("Pending", phase),
            "g WaitingForPods",
            "g 1 on n",
            word=phase,
        )
        for phase in ("Scheduled", "Running", "Finished", "Failed")
    ],
    "`spec.minResources`": [
        pair(
            GROUPED,
            "PodGroup/g spec minResources",
            (ABSENT, {GPU: "9"}),
            "g 3 on n",
            "g InsufficientCapacity",
        )
    ],
    "annotation `gang/network-topology-spec`": [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/network-topology-spec",
            (ABSENT, f'{{"gatherStrategy": [{{"layer": "x", "strategy": "{way}"}}]}}'),
            "g 3 on n",
            f"{said} …network-topology-spec…",
        )
        for way, said in (
            ("MustGather", "g UnsupportedConstraint"),
            ("PreferGather", "g 3 on n; warned:"),
        )
    ],
    "annotation `gang/network-topology-index`": [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/network-topology-index",
            (ABSENT, "1"),
            "g 3 on n",
            "g 3 on n; warned: …network-topology-index…",
        )
    ],
    'label `quota.scheduling.koordinator.sh/preemptible: "false"` of any pod': [
        pair(
            VICTIM,
            f"Pod/v-0 metadata labels {QUOTA}/preemptible",
            ("true", "false"),
            "g reserve 2 on n; v evict 2 on n",
            "g PreemptionProtected",
        )
    ],
    "`metadata.name`": [
        pair(
            rivals(),
            "ElasticQuota/q metadata name",
            ("q", "p"),
            OLDER,
            "g QueueNotFound; h 2 on n",
        )
    ],
    "label `quota.scheduling.koordinator.sh/parent`": [
        pair(
            rivals(),
            f"ElasticQuota/q metadata labels {QUOTA}/parent",
            ("koordinator-root-quota", "gone"),
            OLDER,
            "g QueueNotFound; h 2 on n; warned: …gone…",
        )
    ],
    "`spec.min`, `spec.max`": [
        pair(
            rivals(),
            "ElasticQuota/q spec min",
            ({}, {GPU: 2}),
            OLDER,
            ENTITLED,
            word="spec.min",
        ),
        pair(
            rivals(),
            "ElasticQuota/a spec max",
            ({GPU: 2}, {GPU: 1}),
            OLDER,
            "g 2 on n; h QuotaExceedsMaximum",
            word="spec.max",
        ),
    ],
    "annotation `quota.scheduling.koordinator.sh/shared-weight`": [
        pair(
            rivals(),
            f"ElasticQuota/a metadata annotations {QUOTA}/shared-weight",
            (ABSENT, f'{{"{GPU}": 0}}'),
            OLDER,
            ENTITLED,
        )
    ],
    "annotation `quota.scheduling.koordinator.sh/namespaces`": [
        pair(
            [*room(), quota("q", most={GPU: 1}), *noted("g", 2, min_available="2")],
            f"ElasticQuota/q metadata annotations {QUOTA}/namespaces",
            (ABSENT, '["default"]'),
            "g 2 on n",
            "g QuotaExceedsMaximum",
        )
    ],
    'label `quota.scheduling.koordinator.sh/allow-lent-resource: "false"`': [
        pair(
            [*room(2), quota("q", least={GPU: 2}), *noted("g", 2, min_available="2")],
            f"ElasticQuota/q metadata labels {QUOTA}/allow-lent-resource",
            ("true", "false"),
            "g 2 on n",
            "g QuotaExceedsMaximum",
        )
    ],
}
VALUES = frozenset({'"true"', "status.phase", "namespace/name"})

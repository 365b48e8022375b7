"""
scheduler-plugins coscheduling: every word that the reference lists, changed alone.
"""

from tests.pairs.family import GPU, PLUGIN, X_K8S, group, quota, referring
from tests.pairs.pair import ABSENT, pair, room

PLAIN = [*room(), group(api=X_K8S, minMember=2), *referring(key=PLUGIN)]

SECTION = "scheduler-plugins coscheduling"
ROWS = {
    "pods' label `scheduling.x-k8s.io/pod-group`": [
        pair(
            PLAIN,
            f"Pod/g-2 metadata labels {PLUGIN}",
            ("g", ABSENT),
            "g 3 on n",
            "g 2 on n; g-2 1 on n",
        ),
        pair(
            PLAIN,
            f"Pod/g-2 metadata labels {PLUGIN}",
            ("g", "lost"),
            "g 3 on n",
            "g 2 on n; lost WaitingForGroup…",
        ),
    ],
    "`spec.minMember`": [
        pair(PLAIN, "PodGroup/g spec minMember", (2, 4), "g 3 on n", "g WaitingForPods")
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
    "`spec.scheduleTimeoutSeconds`": [
        pair(
            PLAIN,
            "PodGroup/g spec scheduleTimeoutSeconds",
            (60, 0),
            "g 3 on n",
            "g 3 on n; warned: …spec.scheduleTimeoutSeconds…",
        )
    ],
}
QUOTAS = [*room(), quota("q", X_K8S, least={GPU: 4}, most={GPU: 4}), *PLAIN[1:]]
PROSE = {
    "`spec.min` is the quota, `spec.max` the limit": [
        pair(
            QUOTAS,
            "ElasticQuota/q spec max",
            ({GPU: 4}, {GPU: 1}),
            "g 3 on n",
            "g QuotaExceedsMaximum",
        ),
        pair(
            QUOTAS,
            "ElasticQuota/q spec min",
            ({GPU: 4}, {GPU: 1}),
            "g 3 on n",
            "g QuotaExceedsMaximum",
        ),
    ]
}

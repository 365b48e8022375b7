"""
Alibaba ACK: every word that the reference lists, changed alone.
"""

from tests.helpers.kube.manifests import pod
from tests.pairs.family import (
    GANG,
    GPU,
    LABEL,
    X_K8S,
    group,
    labelled,
    referring,
)
from tests.pairs.pair import ABSENT, pair, room, running

PLAIN = [*room(), *labelled(min_available="2")]
GROUPED = [*room(), group(api=X_K8S, minMember=2), *referring()]
BOTH = '["default/g", "default/h"]'
MATES = [
    *room(3),
    *labelled("g", 2, min_available="2"),
    *labelled("h", 2, min_available="2"),
]
ENDED = [
    *room(1),
    pod("g-8", labels={f"{LABEL}/name": "g"}, status={"phase": "Succeeded"}),
    pod("g-9", labels={f"{LABEL}/name": "g", f"{LABEL}/min-available": "2"}),
]
LOST = [
    *room(2),
    group(api=X_K8S, minMember=3),
    *referring("g", 1, running),
    *referring("g", 2)[1:],
]
ONCE = {f"{GANG}/match-policy": "once-satisfied"}

SECTION = "Alibaba ACK"
ROWS = {
    (
        "pods' label `pod-group/min-available`, annotation "
        "`gang.scheduling.koordinator.sh/min-available`; `spec.minMember`"
    ): [
        pair(
            PLAIN,
            f"Pod/g-* metadata labels {LABEL}/min-available",
            ("2", "4"),
            "g 3 on n",
            "g WaitingForPods",
            word="pod-group/min-available",
        ),
        pair(
            [*room(), *labelled()],
            f"Pod/g-* metadata annotations {GANG}/min-available",
            ("2", "4"),
            "g 3 on n",
            "g WaitingForPods",
            word=f"{GANG}/min-available",
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
    (
        "label or annotation `pod-group/groups`, annotation "
        "`gang.scheduling.koordinator.sh/groups`, of pods or PodGroup"
    ): [
        pair(
            MATES,
            f"Pod/* metadata {where}",
            (ABSENT, BOTH),
            "g 2 on n; h LowerTierOrPriority",
            "g …; h …",
            word=word,
        )
        for where, word in (
            (f"labels {LABEL}/groups", "pod-group/groups"),
            (f"annotations {LABEL}/groups", "pod-group/groups"),
            (f"annotations {GANG}/groups", f"{GANG}/groups"),
        )
    ]
    + [
        pair(
            GROUPED,
            f"PodGroup/g metadata labels {LABEL}/groups",
            (ABSENT, BOTH),
            "g 3 on n",
            "g WaitingForGroup…",
            word="pod-group/groups",
        )
    ],
    "label `pod-group/match-policy`": [
        pair(
            ENDED,
            f"Pod/g-9 metadata labels {LABEL}/match-policy",
            (ABSENT, "waiting-running-succeed"),
            "g WaitingForPods",
            "g 1 on n",
        )
    ],
    "annotation `gang.scheduling.koordinator.sh/match-policy`, without that label": [
        pair(
            ENDED,
            f"Pod/g-9 metadata annotations {GANG}/match-policy",
            (ABSENT, "once-satisfied"),
            "g WaitingForPods",
            "g 1 on n",
        )
    ],
    "`status.phase` as above": [
        pair(
            [
                *LOST[:2],
                *referring("g", 1, running, annotations=ONCE),
                *referring("g", 2, annotations=ONCE)[1:],
            ],
            "PodGroup/g status phase",
            ("Pending", "Running"),
            "g WaitingForPods",
            "g 1 on n",
        )
    ],
    "`spec.minResources`, `spec.scheduleTimeoutSeconds`": [
        pair(
            GROUPED,
            "PodGroup/g spec minResources",
            (ABSENT, {GPU: "9"}),
            "g 3 on n",
            "g InsufficientCapacity",
            word="spec.minResources",
        ),
        pair(
            GROUPED,
            "PodGroup/g spec scheduleTimeoutSeconds",
            (60, "soon"),
            "g 3 on n",
            "g InvalidGang …spec.scheduleTimeoutSeconds…",
            word="spec.scheduleTimeoutSeconds",
        ),
    ],
    "annotations `gang.scheduling.koordinator.sh/mode`, `/total-number`": [
        pair(
            PLAIN,
            f"Pod/g-* metadata annotations {GANG}/{word}",
            (ABSENT, value),
            "g 3 on n",
            f"g 3 on n; warned: …{GANG}/{word}…",
            word=f"{GANG}/mode" if word == "mode" else f"/{word}",
        )
        for word, value in (("mode", "NonStrict"), ("total-number", "4"))
    ],
}

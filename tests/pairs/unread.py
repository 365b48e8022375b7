"""
Words of pods that are known and not read: each is named, and what is left waits.
"""

from adapters.kube.objects.unread_fields import WORDS
from tests.pairs.pair import ABSENT, pair, pods, room

PLAIN = [*room(), *pods("p", 1)]
WAITS = "p-0 UnsupportedConstraint …"
SECTION = "Known, and not read"
ROWS = {
    f"`{word.key}`": [
        pair(
            PLAIN,
            f"Pod/p-0 metadata {place} {word.key}",
            (ABSENT, "x"),
            "p-0 1 on n",
            f"{WAITS}{word.key} is not planned: it means {word.means}; {said}"
            if word.waits
            else f"p-0 1 on n; {said}",
        )
        for place in ("annotations", "labels")
    ]
    for word in WORDS
    for said in [f"warned: not read: 1 pod with {word.key}"]
} | {
    "`spec.workloadRef`": [
        pair(
            PLAIN,
            "Pod/p-0 spec workloadRef",
            (ABSENT, {"name": "w", "podGroup": "g"}),
            "p-0 1 on n",
            f"{WAITS}spec.workloadRef is not planned: it means gangs of …; "
            "warned: not read: 1 pod with spec.workloadRef",
        )
    ],
    "`spec.preemptionPolicy: Never`": [
        pair(
            PLAIN,
            "Pod/p-0 spec preemptionPolicy",
            (ABSENT, "Never"),
            "p-0 1 on n",
            "p-0 1 on n; warned: not read: 1 pod with spec.preemptionPolicy: Never",
        )
    ],
}

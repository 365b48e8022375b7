"""
The labels that name a queue, each alone.
"""

from adapters.kube.dialects.defaults import QUEUE_LABELS
from tests.pairs.kai import queue
from tests.pairs.pair import ABSENT, pair, pods, room

SECTION = "The queue"
ROWS = {}
PROSE = {
    f"`{label}`": [
        pair(
            [
                *room(),
                queue("default"),
                queue("q", limit=0),
                *pods("t", 1),
            ],
            f"Pod/t-0 metadata {kind} {label}",
            (ABSENT, "q"),
            "t-0 1 on n",
            "t-0 QuotaExceedsMaximum",
        )
        for kind in ("labels", "annotations")
    ]
    for label in QUEUE_LABELS
}

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
                *pods("p", 1, owner=("batch/v1", "Job", "t")),
            ],
            f"Pod/p-0 metadata {kind} {label}",
            (ABSENT, "q"),
            "t 1 on n",
            "t QuotaExceedsMaximum",
        )
        for kind in ("labels", "annotations")
    ]
    for label in QUEUE_LABELS
}

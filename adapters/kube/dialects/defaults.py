"""
The dialects as data: who is heard first, and what each means where it says nothing.

Rows are in the order of precedence; ``docs/reference/dialects.md`` says it in words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from models.gangs import MatchPolicy

WORKLOADS = "workloads"
"""
The name under which gangs derived from owners stand.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """
    What a dialect means by what it leaves out.

    ``one_priority``: pods that disagree on their priority are a conflict; else the
    group says it alone.  ``preemptible_below``: work of a lower priority may be evicted
    where nothing is said of it.  ``stale_after``: seconds below the minimum after which
    a gang is evicted; negative is never, none what the policy says.  ``queue`` is where
    work is that names none;
    where the system has queues of its own, that one must exist.
    """

    one_priority: bool = True
    match_policy: MatchPolicy = MatchPolicy.WAITING_AND_RUNNING
    preemptible_below: int | None = None
    stale_after: int | None = -1
    queue: str = "default"
    has_queues: bool = False


DEFAULTS: Mapping[str, Defaults] = {
    "native": Defaults(),
    "kai": Defaults(
        one_priority=False,
        preemptible_below=100,
        stale_after=None,
        queue="default-queue",
        has_queues=True,
    ),
    "volcano": Defaults(
        one_priority=False,
        match_policy=MatchPolicy.WAITING_RUNNING_SUCCEED,
        has_queues=True,
    ),
    "kube-batch": Defaults(one_priority=False, has_queues=True),
    "roc": Defaults(one_priority=False, has_queues=True),
    "koordinator": Defaults(match_policy=MatchPolicy.ONCE_SATISFIED),
    "ack": Defaults(),
    "coscheduling": Defaults(),
    WORKLOADS: Defaults(match_policy=MatchPolicy.WAITING_RUNNING_SUCCEED),
}
"""
The dialects by name, the one that is heard first comes first.
"""

QUEUE_LABELS = (
    "phalanx/queue",
    "kai.scheduler/queue",
    "volcano.sh/queue-name",
    "scheduling.volcano.sh/queue-name",
    "quota.scheduling.koordinator.sh/name",
    "kueue.x-k8s.io/queue-name",
)
"""
Labels and annotations that name the queue of a pod or of its owner, the first wins.
"""

POOL = "kai.scheduler/node-pool"
"""
The label that names the pool of nodes, of nodes and of what may only be on them.
"""

INDEX_LABELS = (
    "batch.kubernetes.io/job-completion-index",
    "apps.kubernetes.io/pod-index",
    "training.kubeflow.org/replica-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "volcano.sh/task-index",
)
"""
Labels and annotations that say which pod of its leaf a pod is; else its name does.
"""


def defaults_of(dialect: str) -> Defaults:
    """
    Give the defaults of a dialect; those of one that the table does not know are plain.
    """
    return DEFAULTS.get(dialect, _PLAIN)


def rank(dialect: str) -> int:
    """
    Say how early a dialect is heard; those that the table does not know come last.
    """
    return _RANKS.get(dialect, len(_RANKS))


_PLAIN = Defaults()
_RANKS = {name: at for at, name in enumerate(DEFAULTS)}

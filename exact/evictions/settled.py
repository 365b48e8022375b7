"""
Whether a round may make anybody leave, in the small model.
"""

from collections.abc import Iterator

from models.gangs import PodPhase, pod_sets
from models.policy import Policy
from models.queues import Queue
from models.snapshot import Snapshot


def is_settled(snapshot: Snapshot, policy: Policy) -> bool:
    """
    Tell whether all that evicts was weighed when others last left.
    """
    ago = sorted(g.evicted_ago for g in snapshot.gangs if g.evicted_ago is not None)
    if not ago or snapshot.unchanged_for is None:
        return False
    evict = policy.evict
    cut = {evict.max_pods, evict.max_gangs, evict.max_lost_per_gpu} != {None}
    late = any(0 <= over < ago[0] for over in _overdue(snapshot, policy))
    return ago[0] <= snapshot.unchanged_for and not cut and not late


def _overdue(snapshot: Snapshot, policy: Policy) -> Iterator[int]:
    """
    Walk how long ago each right that comes with time was there; negative before.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    for gang in snapshot.gangs:
        if policy.waiting.protect_after:
            yield gang.passed_over - policy.waiting.protect_after
        if gang.evicted_ago is not None and policy.evict.again:
            yield gang.evicted_ago - policy.evict.again
        above = list(_path(queues, gang.queue))
        for time in {
            max((queue.reclaim_min_runtime for queue in above), default=0),
            max((queue.preempt_min_runtime for queue in above), default=0),
        } - {0}:
            for leaf in pod_sets(gang.tree):
                running = (pod for pod in leaf.pods if pod.phase is PodPhase.RUNNING)
                yield from (pod.seconds - time for pod in running)


def _path(queues: dict[str, Queue], name: str | None) -> Iterator[Queue]:
    while name in queues:
        yield queues[name]
        name = queues[name].parent

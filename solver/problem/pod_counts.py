"""
Pods that hold room, those whose room can be counted on, and the census of both.
"""

from models.gangs import Pod, PodPhase, is_complete
from models.memory.census import CensusMemo
from models.policy import LONGEST_LEAVING
from models.snapshot import Snapshot
from solver.shares.queue_tree import QueueTree


def is_leaving(pod: Pod) -> bool:
    """
    Tell whether a pod's room can be counted on although it is still there.
    """
    return pod.phase is PodPhase.TERMINATING and pod.seconds < LONGEST_LEAVING


def census_memo() -> CensusMemo:
    """
    Give a memo that has counted nothing yet.
    """
    return CensusMemo(is_complete, is_leaving)


def beyond_quotas(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """
    Give what runs in each queue, and below it, beyond its quota.
    """
    index = {node.name: at for at, node in enumerate(snapshot.nodes)}
    tree = QueueTree.of(snapshot, census_memo().of(snapshot, index))
    return {
        queue.name: {
            name: more
            for name in tree.named
            if (more := tree.beyond_quota(queue.name, name))
        }
        for queue in snapshot.queues
    }

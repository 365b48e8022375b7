"""
Gangs that have to leave: their pods wait again.
"""

from dataclasses import dataclass, replace

from models.changes.freed_pods import freed
from models.changes.refused import unknown
from models.gangs import pod_sets
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictedGangs:
    """
    The running pods of these gangs lose their nodes, and nobody leaves for them soon.
    """

    gangs: tuple[str, ...]


def with_evicted(snapshot: Snapshot, change: EvictedGangs) -> Snapshot:
    """
    Let gangs lose their places.

    Raises
    ------
    ChangeRefusedError
        When one of them is not there.
    """
    known = {gang.key for gang in snapshot.gangs}
    for key in change.gangs:
        if key not in known:
            raise unknown("gang", key, known)
    gangs = []
    for gang in snapshot.gangs:
        if gang.key in change.gangs:
            leaves = pod_sets(gang.tree)
            nodes = {pod.node for leaf in leaves for pod in leaf.pods if pod.node}
            gangs.append(replace(freed(gang, nodes), evicted_ago=0))
        else:
            gangs.append(gang)
    return replace(snapshot, gangs=tuple(gangs))

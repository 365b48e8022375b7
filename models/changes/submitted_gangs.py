"""
Gangs that came.
"""

from dataclasses import dataclass, replace

from models.changes.refused import ChangeRefusedError
from models.gangs import DisruptionBudget, Gang, pod_sets
from models.host_ports import is_host_port, ports_offered
from models.queues import Queue
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedGangs:
    """
    Gangs that are submitted; their queues and topologies are those that are there.

    New ``budgets`` may come with them, and ``queues`` for those that name none.
    """

    gangs: tuple[Gang, ...]
    budgets: tuple[DisruptionBudget, ...] = ()
    queues: tuple[Queue, ...] = ()


def with_submitted(snapshot: Snapshot, change: SubmittedGangs) -> Snapshot:
    """
    Add gangs; nodes offer the ports of their hosts that they ask for.

    Raises
    ------
    ChangeRefusedError
        When a gang of that name is there already.
    """
    known = {gang.key for gang in snapshot.gangs}
    for gang in change.gangs:
        if gang.key in known:
            what = f"there is {gang.key} already"
            raise ChangeRefusedError("gang", what, "give it another name")
        known.add(gang.key)
    gangs = sorted(
        (*snapshot.gangs, *change.gangs), key=lambda gang: (gang.namespace, gang.name)
    )
    budgets = sorted((*snapshot.budgets, *change.budgets), key=lambda one: one.name)
    queues = sorted((*snapshot.queues, *change.queues), key=lambda one: one.name)
    after = replace(
        snapshot, gangs=tuple(gangs), budgets=tuple(budgets), queues=tuple(queues)
    )
    return _offering(after, change.gangs)


def _offering(snapshot: Snapshot, gangs: tuple[Gang, ...]) -> Snapshot:
    leaves = (leaf for gang in gangs for leaf in pod_sets(gang.tree))
    ports = ports_offered(
        {n for leaf in leaves for n in leaf.requests if is_host_port(n)}
    )
    if not ports:
        return snapshot
    nodes = (
        replace(node, allocatable={**node.allocatable, **ports})
        for node in snapshot.nodes
    )
    return replace(snapshot, nodes=tuple(nodes))

"""
Nodes that are no longer there.
"""

from dataclasses import dataclass, replace

from models.changes.freed_pods import freed
from models.changes.refused import unknown
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedNodes:
    """
    The nodes of these ``names`` go, and the pods on them wait again.
    """

    names: tuple[str, ...]


def without_nodes(snapshot: Snapshot, change: RemovedNodes) -> Snapshot:
    """
    Remove nodes.

    Raises
    ------
    ChangeRefusedError
        When one of them is not there.
    """
    known = {node.name for node in snapshot.nodes}
    for name in change.names:
        if name not in known:
            raise unknown("node", name, known)
    gone = frozenset(change.names)
    return replace(
        snapshot,
        nodes=tuple(node for node in snapshot.nodes if node.name not in gone),
        gangs=tuple(freed(gang, gone) for gang in snapshot.gangs),
    )

"""
A node that takes no new pods, one that is drained, and one that takes pods again.
"""

from dataclasses import dataclass, replace
from typing import Literal

from models.changes.freed_pods import freed
from models.changes.refused import unknown
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedNode:
    """
    A node is closed with ``cordon``; with ``drain`` its pods wait again, too.

    What is no pod of a gang stays on it.  With ``open`` it takes pods again.
    """

    node: str
    how: Literal["cordon", "drain", "open"]


def with_closed(snapshot: Snapshot, change: ClosedNode) -> Snapshot:
    """
    Close a node or open it.

    Raises
    ------
    ChangeRefusedError
        When it is not there.
    """
    nodes = {node.name: node for node in snapshot.nodes}
    if change.node not in nodes:
        raise unknown("node", change.node, nodes)
    closed = change.how != "open"
    nodes[change.node] = replace(nodes[change.node], unschedulable=closed)
    after = replace(snapshot, nodes=tuple(nodes.values()))
    if change.how != "drain":
        return after
    gangs = tuple(freed(gang, {change.node}) for gang in snapshot.gangs)
    return replace(after, gangs=gangs)

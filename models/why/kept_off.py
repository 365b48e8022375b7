"""
What keeps a gang off nodes, in words: drained ones, taints, labels, volumes, others.
"""

from collections.abc import Sequence

from models.why.reasons import Facts, counted, listed
from models.why.verdicts import amount

DRAINED, TAINT, SELECTOR, FREE = "drained", "taint", "selector", "free"
REACHED, ALONE, OTHERS = "reached", "alone", "others"
"""
Kinds of rules: what a node is, what a gang asks of it, and who else is on it.
"""
_SAID = {
    DRAINED: " is drained, with {free} free",
    TAINT: " is a taint that it does not tolerate{there}",
    SELECTOR: " is asked for{there} without it",
    FREE: "finds too few free volumes of {at} where it may be",
    REACHED: "its volumes are only where {at}{there}",
    ALONE: "no two of its pods may share a host{there}",
    OTHERS: "its pods may share no host with some others{there}",
}


def kept_off(
    kind: str, at: str, nodes: Sequence[str], resource: str, left: int
) -> Facts:
    """
    Say what keeps a gang off some nodes, and how much of a resource is free there.
    """
    where = counted(len(nodes), "node") if len(nodes) > 3 else listed(nodes, "node")
    free = amount(resource, left)
    there = f"; {free} {'is' if left == 1 else 'are'} free on {where}" if nodes else ""
    said = _SAID[kind].format(at=at, free=free, there=there)
    return {"kind": kind, "nodes": len(nodes), "there": said}

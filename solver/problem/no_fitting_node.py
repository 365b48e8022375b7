"""
Why a pod fits no node, even an empty one: the labels, taints and amounts in its way.
"""

from collections.abc import Collection

from models.names import nearest
from models.reasons import counted
from models.resources import format_quantity
from solver.problem.node_room import Room
from solver.problem.pod_shapes import Shape, Shapes


def why_nowhere(room: Room, shapes: Shapes, shape: int) -> str:
    """
    Say it with the numbers, and with the name that was perhaps meant.
    """
    allowed = shapes.allowed[shape]
    if not allowed.any():
        return _who_is_ruled_out(room, shapes.items[shape])
    which = "node" if allowed.all() else "matching node"
    parts = []
    for column, name in enumerate(room.resources):
        asked = int(shapes.requests[shape, column])
        best = int(room.empty[allowed, column].max())
        if asked and best <= 0 and not any(n.allocatable.get(name) for n in room.nodes):
            return f"no node offers {name}{_meant(name, _offered(room))}"
        if best < asked:
            have, wanted = (format_quantity(name, x) for x in (max(0, best), asked))
            parts.append(f"asks for {wanted} {name}, the largest {which} has {have}")
    return "; ".join(parts) or "no node has enough of all resources at once"


def _offered(room: Room) -> set[str]:
    return {name for node in room.nodes for name in node.allocatable}


def _meant(word: str, known: Collection[str]) -> str:
    found = nearest(word, known)
    return f" (did you mean {found}?)" if found else ""


def _who_is_ruled_out(room: Room, item: Shape) -> str:
    """
    Say why no node is allowed: a label that none has, else how many fail what.
    """
    if not room.nodes:
        return "there is no node"
    for key, value in item.demand.selector:
        labels = {node.labels.get(key) for node in room.nodes} - {None}
        if value not in labels:
            found = _meant(value, [label for label in labels if label is not None])
            return f"no node has the label {key}: {value}{found}"
    counts = {
        "lack its labels": 0,
        "have taints it does not tolerate": 0,
        "are unschedulable": 0,
    }
    for node in room.nodes:
        if not item.demand.matches(node.labels):
            counts["lack its labels"] += 1
        elif node.unschedulable:
            counts["are unschedulable"] += 1
        elif not item.demand.tolerates(node.taints):
            counts["have taints it does not tolerate"] += 1
    if item.banned:
        counts["hold a pod of its gang"] = len(room.nodes) - sum(counts.values())
    parts = [f"{number} {what}" for what, number in counts.items() if number]
    return f"of {counted(len(room.nodes), 'node')} {', '.join(parts)}"

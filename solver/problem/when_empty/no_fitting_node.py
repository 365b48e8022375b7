"""
Why a pod fits no node, even an empty one: the labels, taints and amounts in its way.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from models.devices.gpu_parts import GpuPart, is_part, memory_words, part_named
from models.host_ports import is_host_port
from models.names import nearest
from models.nodes import LabelRule, Node, NodeDemand, Terms
from models.resources import CLAIMED_DEVICES, format_quantity
from models.why.reasons import Facts, counted, does, listed
from models.why.resource_words import in_words, noun
from solver.problem.node_room import Bools, Room, fitting
from solver.problem.pod_shapes import Shape, Shapes


def why_nowhere(room: Room, shapes: Shapes, shape: int) -> Facts:
    """
    Say it with the numbers, and with the name that was perhaps meant.

    Labels and taints that rule nodes out are facts of their own, too.
    """
    allowed = shapes.allowed[shape]
    item = shapes.items[shape]
    if not allowed.any():
        return _nobody_allowed(room, item)
    offered = {name for node in room.nodes for name, n in node.allocatable.items() if n}
    which = "node" if allowed.all() else "matching node"
    parts = []
    for column, name in enumerate(room.resources):
        asked = int(shapes.requests[shape, column])
        best = int(room.empty[allowed, column].max())
        if not asked:
            continue
        if best < asked and is_part(name):
            parts.append(_too_large(part_named(name), room.nodes, allowed, which))
            continue
        if best <= 0 and name not in offered:
            return {"detail": _not_offered(name, asked, offered)}
        if best < asked and is_host_port(name):
            what = in_words(name)
            parts.append(f"asks for {what}, which others use on every {which}")
        elif best < asked:
            have, wanted = (format_quantity(name, x) for x in (max(0, best), asked))
            what = f"{wanted} {noun(name, asked)}"
            parts.append(f"asks for {what}, the largest {which} has {have}")
    text = "; ".join(parts) or f"no {which} has enough of all resources at once"
    large = ~allowed & fitting(room.empty, shapes.requests[shape])
    if not large.any():
        return {"detail": text}
    out = _ruled_out(room, item, large)
    number = counted(int(large.sum()), "node")
    return {**out, "detail": f"{text}; of {number} large enough {out['detail']}"}


def _not_offered(name: str, asked: int, offered: Collection[str]) -> str:
    """
    Say that no node offers a resource; of claimed devices also how many are wanted.
    """
    if name.startswith(CLAIMED_DEVICES):
        what = f"{asked} {in_words(name, asked)}"
        return f"needs {what}; no node has any that the claim allows"
    return f"no node offers {in_words(name)}{_meant(name, offered)}"


def _too_large(part: GpuPart, nodes: Sequence[Node], at: Bools, which: str) -> str:
    """
    Say that no node holds a part, and how much memory there is where it asks for more.
    """
    most = max(nodes[x].gpu_memory for x in np.flatnonzero(at).tolist())
    text = f"no {which} has room for {part}"
    if part.memory_on(most) <= most:
        return text
    largest = f"the largest GPU has {memory_words(most)}"
    unsaid = f"no {which} says how much memory its GPUs have"
    return f"{text}; {largest if most else unsaid}"


def _meant(word: str, known: Collection[str]) -> str:
    if in_words(word) != word:
        return ""
    found = nearest(word, [name for name in known if in_words(name) == name])
    return f" (did you mean {found}?)" if found else ""


def _nobody_allowed(room: Room, item: Shape) -> Facts:
    """
    Say why no node is allowed: a label that none has, else how many fail what.
    """
    if not room.nodes:
        return {"detail": "there is no node"}
    for key, value in item.demand.selector:
        labels = {node.labels.get(key) for node in room.nodes} - {None}
        if value not in labels:
            found = _meant(value, [label for label in labels if label is not None])
            detail = f"no node has the label {key}: {value}{found}"
            return {"detail": detail, "labels": f"{key}={value}"}
    out = _ruled_out(room, item, np.ones(len(room.nodes), dtype=bool))
    number = counted(len(room.nodes), "node")
    return {**out, "detail": f"of {number} {out['detail']}"}


def _ruled_out(room: Room, item: Shape, where: Bools) -> Facts:
    """
    Count what rules out nodes that may not be used, and name the labels and taints.
    """
    demand = item.demand
    facts: Facts = {}
    nodes = [room.nodes[at] for at in np.flatnonzero(where)]
    why = Counter(_what_rules_out(demand, node) for node in nodes)
    lacking, unreached, unschedulable = why["labels"], why["volumes"], why["closed"]
    tainted = [n for n in nodes if _what_rules_out(demand, n) == "taints"]
    parts = []
    if lacking:
        facts["labels"] = labels = listed(labels_of(demand), "label")
        parts.append(f"{does(lacking, 'lacks', 'lack')} its labels ({labels})")
    if unreached:
        facts["volumes"] = places = listed(places_of(demand), "place")
        parts.append(
            f"{does(unreached, 'is', 'are')} not where its volumes are ({places})"
        )
    if tainted:
        facts["taints"] = taints = listed(_taints(demand, tainted), "taint")
        have = does(len(tainted), "has", "have")
        parts.append(f"{have} taints it does not tolerate ({taints})")
    if unschedulable:
        parts.append(f"{does(unschedulable, 'is', 'are')} unschedulable")
    if holding := why[""]:
        parts.append(f"{does(holding, 'holds', 'hold')} a pod of its gang")
    return facts | {"detail": ", ".join(parts)}


def _what_rules_out(demand: NodeDemand, node: Node) -> str:
    """
    Say what keeps a pod off a node first; nothing where the node itself does not.
    """
    if not demand.selects(node.labels):
        return "labels"
    if not demand.reaches(node.labels):
        return "volumes"
    if node.unschedulable:
        return "closed"
    return "" if demand.tolerates(node.taints) else "taints"


def _taints(demand: NodeDemand, nodes: Iterable[Node]) -> list[str]:
    """
    List the taints that keep a pod off some nodes, as kubectl writes them.
    """
    found = {
        f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"
        for node in nodes
        for taint in node.taints
        if not demand.tolerates((taint,))
    }
    return sorted(found)


def labels_of(demand: NodeDemand) -> list[str]:
    """
    List what a pod asks of labels; of terms any one is enough.
    """
    wanted = [f"{key}={value}" for key, value in demand.selector]
    return wanted + ([_one_of(demand.terms)] if demand.terms else [])


def places_of(demand: NodeDemand) -> list[str]:
    """
    List where each volume of a pod may be used.
    """
    return [_one_of(terms) for terms in demand.volumes]


def _one_of(terms: Terms) -> str:
    text = " or ".join(" and ".join(map(_rule, term)) or "nothing" for term in terms)
    return text or "nothing"


def _rule(rule: LabelRule) -> str:
    values = ", ".join(rule.values)
    match rule.operator:
        case "In":
            one = len(rule.values) == 1
            return f"{rule.key}={values}" if one else f"{rule.key} in ({values})"
        case "NotIn":
            return f"{rule.key} not in ({values})"
        case "Gt":
            return f"{rule.key}>{values}"
        case "Lt":
            return f"{rule.key}<{values}"
        case "Exists":
            return rule.key
        case "DoesNotExist":
            return f"no {rule.key}"

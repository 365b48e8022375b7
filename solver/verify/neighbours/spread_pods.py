"""
The rule about pods that are spread over domains.
"""

from collections.abc import Iterator, Sequence

from models.neighbours import Spread
from models.nodes import Node
from solver.verify.evidence import Evidence
from solver.verify.neighbours.occupants import Occupant, occupants
from solver.verify.violation import Violation


def pods_spread(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no domain that gets a pod ends with more than the skew above any other.

    Pods count that stay, and those that come and are spread by the same key: others may
    come after them.  Where a rule wants more domains than there are, one without any
    pod counts as well.
    """
    found = occupants(evidence)
    for one in found:
        if not one.new or not one.said.spread:
            continue
        for rule in one.said.spread:
            here = one.node.labels.get(rule.key)
            counts = _counts(evidence, one, rule, found)
            if here is None or here not in counts:
                what = f"{one.node.name} is in no domain of {rule.key}"
                yield Violation("pods-spread", one.gang, what)
                continue
            least = min(counts.values()) if len(counts) >= rule.domains else 0
            if counts[here] - least > rule.skew:
                what = f"{counts[here]} pods of {rule.pods} in {rule.key}={here}"
                message = f"{what}, {least} elsewhere, skew at most {rule.skew}"
                yield Violation("pods-spread", one.gang, message)


def _counts(
    evidence: Evidence, one: Occupant, rule: Spread, found: Sequence[Occupant]
) -> dict[str, int]:
    """
    Count the selected pods per domain, on the nodes that count.
    """
    nodes = {
        node.name: node.labels[rule.key]
        for node in evidence.snapshot.nodes
        if _counts_here(one, rule, node)
    }
    counts = dict.fromkeys(nodes.values(), 0)
    for other in found:
        where = nodes.get(other.node.name)
        if where is not None and rule.pods in other.said.selected:
            counts[where] += other.stay
            if other.said.is_spread(rule.pods, rule.key):
                counts[where] += other.new
    return counts


def _counts_here(one: Occupant, rule: Spread, node: Node) -> bool:
    if any(each.key not in node.labels for each in one.said.spread):
        return False
    demand = one.demand
    if demand is None:
        return True
    if rule.by_affinity and not demand.selects(node.labels):
        return False
    return not rule.by_taints or demand.tolerates(node.taints)

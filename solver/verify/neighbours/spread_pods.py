"""
The rule about pods that are spread over domains.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from models.neighbours import Spread
from models.nodes import Node
from solver.verify.evidence import Evidence
from solver.verify.neighbours.occupants import Occupant, occupants
from solver.verify.violation import Violation


def pods_spread(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no domain that gets a pod ends with more than the skew above any other.

    Pods count that stay, and those that start and are spread by the same key: others
    may come after them.  Who is moved counts as too many where it comes to, and nobody
    relies on it, unless it is spread by that key itself.  Where a rule wants more
    domains than there are, one without any pod counts as well.
    """
    found = occupants(evidence)
    for one in found:
        if not one.new or not one.said.spread:
            continue
        for rule in one.said.spread:
            here = one.node.labels.get(rule.key)
            counts, moved = _counts(evidence, one, rule, found)
            if here is None or here not in counts:
                what = f"{one.node.name} is in no domain of {rule.key}"
                yield Violation("pods-spread", one.gang, what)
                continue
            least = min(counts.values()) if len(counts) >= rule.domains else 0
            most = counts[here] + moved[here]
            if most - least > rule.skew:
                what = f"{most} pods of {rule.pods} in {rule.key}={here}"
                message = f"{what}, {least} elsewhere, skew at most {rule.skew}"
                yield Violation("pods-spread", one.gang, message)


def _counts(
    evidence: Evidence, one: Occupant, rule: Spread, found: Sequence[Occupant]
) -> tuple[dict[str, int], Counter[str]]:
    """
    Count the selected pods per domain, on the nodes that count, and those moved there.
    """
    nodes = {
        node.name: node.labels[rule.key]
        for node in evidence.snapshot.nodes
        if _counts_here(one, rule, node)
    }
    counts = dict.fromkeys(nodes.values(), 0)
    moved: Counter[str] = Counter()
    for other in found:
        where = nodes.get(other.node.name)
        if where is not None and rule.pods in other.said.selected:
            counts[where] += other.stay
            if other.said.is_spread(rule.pods, rule.key):
                counts[where] += other.new
            else:
                moved[where] += other.moved
    return counts, moved


def _counts_here(one: Occupant, rule: Spread, node: Node) -> bool:
    if any(each.key not in node.labels for each in one.said.spread):
        return False
    demand = one.demand
    if demand is None:
        return True
    if rule.by_affinity and not demand.selects(node.labels):
        return False
    return not rule.by_taints or demand.tolerates(node.taints)

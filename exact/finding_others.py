"""
Gangs that could be beside others: near to somebody, and kept away by nobody for good.

What is there or may come in this round can be found; who runs and may have to leave
keeps nobody away for good.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from exact.facts import Facts, GangFacts, gather
from exact.model import could_start
from exact.trees import least_value
from models.gangs import ON_A_NODE, Gang, PodPhase, PodSet, Tree, pod_sets
from models.neighbours import ALONE, Neighbours
from models.nodes import Node

_Others = list[tuple[Neighbours, Node]]


def could_be_beside(facts: Facts, *, evicts: bool) -> set[str]:
    """
    Name the gangs that could start alone, as far as others matter only beside these.
    """
    there = list(_there(facts, evicts=False))
    firm = list(_there(facts, evicts=evicts))
    alive = {
        key
        for key, fact in facts.gangs.items()
        if fact.plannable and (not fact.needy or _could_start(facts, key))
    }
    while True:
        names = _names(facts, alive, there, firm)
        dead = {
            key
            for key in alive
            if not _satisfied_by(facts, facts.gangs[key], names, there, firm)
        }
        dead |= {k for k in alive if dead.intersection(facts.gangs[k].mates)}
        if not dead:
            return alive
        alive -= dead


def _could_start(facts: Facts, key: str) -> bool:
    gang = facts.gangs[key].gang
    alone = (replace(gang, tree=_without_neighbours(gang.tree)),)
    return could_start(gather(replace(facts.snapshot, gangs=alone)), key)


def _without_neighbours(tree: Tree) -> Tree:
    if isinstance(tree, PodSet):
        return replace(tree, neighbours=ALONE)
    return replace(tree, children=tuple(map(_without_neighbours, tree.children)))


def _there(facts: Facts, *, evicts: bool) -> Iterator[tuple[Neighbours, Node]]:
    """
    Walk those that are there; with ``evicts`` only those that never leave.
    """
    nodes = {node.name: node for node in facts.snapshot.nodes}
    for node in nodes.values():
        yield from ((said, node) for said, count in node.others if count)
    for gang in facts.snapshot.gangs:
        phases = (PodPhase.RUNNING,) if evicts else ON_A_NODE
        for leaf in pod_sets(gang.tree) if not (evicts and gang.preemptible) else ():
            for pod in leaf.pods:
                if pod.phase in phases and pod.node in nodes:
                    yield leaf.neighbours, nodes[pod.node]


def _names(
    facts: Facts, alive: Collection[str], there: _Others, firm: _Others
) -> set[str]:
    """
    Name the selectors of pods that come, in some order in which each finds others.
    """
    names: set[str] = set()
    while True:
        more = {
            name
            for key in alive
            for leaf in _leaves(facts.gangs[key].gang)
            if facts.gangs[key].pending[leaf.name]
            and _comes(facts, leaf, names, there, firm)
            for name in leaf.neighbours.selected
        }
        if more <= names:
            return names
        names |= more


def _leaves(gang: Gang) -> list[PodSet]:
    return list(pod_sets(gang.tree))


def _satisfied_by(
    facts: Facts, fact: GangFacts, names: set[str], there: _Others, firm: _Others
) -> bool:
    if not fact.needy:
        return True
    pending = {
        leaf.name: fact.pending[leaf.name]
        if _comes(facts, leaf, names, there, firm)
        else 0
        for leaf in _leaves(fact.gang)
    }
    return least_value(fact.gang.tree, fact.counted, pending, fact.values) is not None


def _comes(
    facts: Facts, leaf: PodSet, names: set[str], there: _Others, firm: _Others
) -> bool:
    """
    Tell whether pods of a leaf may be on some node, and find whom they look for.
    """
    said, near = leaf.neighbours, leaf.neighbours.near
    if near is not None and near.pods not in names:
        found = {
            key
            for key in near.keys
            for other, node in there
            if near.pods in other.selected and key in node.labels
        }
        first = not found and near.pods in said.selected
        if not first and found != set(near.keys):
            return False
    keys = {*(near.keys if near else ()), *(rule.key for rule in said.spread)}
    return any(
        leaf.demand.allows(node)
        and keys <= node.labels.keys()
        and not any(_clash(said, node, *other) for other in firm)
        for node in facts.snapshot.nodes
    )


def _clash(said: Neighbours, node: Node, other: Neighbours, at: Node) -> bool:
    """
    Tell whether a pod on a node is in a domain with one from which it is apart.
    """
    rules = [rule for rule in said.apart if rule.pods in other.selected]
    rules += [rule for rule in other.apart if rule.pods in said.selected]
    return any(
        rule.key in node.labels and node.labels[rule.key] == at.labels.get(rule.key)
        for rule in rules
    )

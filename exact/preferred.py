"""
What pods that get places lack of the neighbours that they prefer, in the small model.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from exact.small_model import SmallModel
from models.gangs import PodPhase, pod_sets
from models.neighbours import Neighbours, Preferred
from models.nodes import Node
from solver.effort.cp_sat import cp_model

MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pods:
    """
    Pods on one node: those that run there, and those that come.
    """

    said: Neighbours
    node: Node
    there: int = 0
    new: cp_model.LinearExprT = 0


def unmet(small: SmallModel) -> cp_model.LinearExpr:
    """
    Add up the weights of what each new pod lacks.
    """
    pods = list(_pods(small))
    terms: list[cp_model.LinearExprT] = [0]
    for one in pods:
        if not isinstance(one.new, int):
            terms += [_lacks(small, one, rule, pods) for rule in one.said.preferred]
    return cp_model.LinearExpr.sum(terms)


def _lacks(
    small: SmallModel, one: _Pods, rule: Preferred, pods: list[_Pods]
) -> cp_model.LinearExprT:
    """
    Weigh the pods of one kind on one node that lack what a rule prefers.
    """
    value = one.node.labels.get(rule.key)
    if value is None:
        return rule.weight * one.new if rule.weight > 0 else 0
    meant = [
        other.there + other.new
        for other in pods
        if rule.pods in other.said.preferred_by
        and other.node.labels.get(rule.key) == value
    ]
    own = int(rule.pods in one.said.preferred_by)
    some = small.cp.new_bool_var("")
    small.cp.add(sum(meant) >= 1 + own).only_enforce_if(some)
    small.cp.add(sum(meant) <= own).only_enforce_if(~some)
    lacks = small.cp.new_int_var(0, MOST, "")
    bad = some if rule.weight < 0 else ~some
    small.cp.add(lacks >= one.new).only_enforce_if(bad)
    return abs(rule.weight) * lacks


def _pods(small: SmallModel) -> Iterator[_Pods]:
    snapshot = small.facts.snapshot
    for node in snapshot.nodes:
        for said, count in node.others:
            yield _Pods(said=said, node=node, there=count)
    for gang in (fact.gang for fact in small.facts.gangs.values()):
        for leaf in pod_sets(gang.tree):
            if not (leaf.neighbours.preferred or leaf.neighbours.preferred_by):
                continue
            for node in snapshot.nodes:
                running = sum(
                    pod.phase is PodPhase.RUNNING and pod.node == node.name
                    for pod in leaf.pods
                )
                new = small.pods_on(gang.key, leaf.name, node.name)
                yield _Pods(
                    said=leaf.neighbours,
                    node=node,
                    there=running,
                    new=new[0] if new else 0,
                )

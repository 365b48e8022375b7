"""
Pods near each other, apart and spread, in the small model: rows over single domains.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from exact.small_model import SmallModel
from models.gangs import PodPhase, PodSet, pod_sets
from models.neighbours import Apart, Near, Neighbours, Spread
from models.nodes import Node, NodeDemand
from solver.effort.cp_sat import cp_model

MOST = 1_000_000
Sum = cp_model.LinearExprT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pods:
    """
    Pods on one node: ``there`` are those that run or leave, ``stay`` those that run.
    """

    said: Neighbours
    node: Node
    demand: NodeDemand | None = None
    there: int = 0
    stay: int = 0
    new: Sum = 0


def add_neighbours(small: SmallModel) -> None:
    """
    Ensure that new pods are near, apart and spread as they ask, and as others do.
    """
    pods = list(_pods(small))
    if not any(one.said for one in pods if not isinstance(one.new, int)):
        return
    said = {one.said for one in pods}
    for rule in sorted({rule for each in said for rule in each.apart}):
        for here in _domains(pods, rule.key):
            _add_apart(small, rule, here)
    for near in sorted({each.near for each in said if each.near}):
        _add_near(small, near, pods)
    kinds = {(one.said, one.demand) for one in pods if one.said.spread}
    for kind, demand in sorted(kinds, key=repr):
        for spread in kind.spread:
            _add_spread(small, spread, _of(kind, pods), demand, pods)


def _of(said: Neighbours, pods: list[_Pods]) -> list[_Pods]:
    return [one for one in pods if one.said == said]


def _pods(small: SmallModel) -> Iterator[_Pods]:
    snapshot = small.facts.snapshot
    nodes = {node.name: node for node in snapshot.nodes}
    for node in snapshot.nodes:
        for said, count in node.others:
            yield _Pods(said=said, node=node, there=count, stay=count)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            if not leaf.neighbours:
                continue
            for name, node in nodes.items():
                stay = _on(leaf, name, PodPhase.RUNNING)
                new = small.pods_on(gang.key, leaf.name, name)
                yield _Pods(
                    said=leaf.neighbours,
                    node=node,
                    demand=leaf.demand,
                    there=stay + _on(leaf, name, PodPhase.TERMINATING),
                    stay=stay,
                    new=new[0] if new else 0,
                )


def _on(leaf: PodSet, node: str, phase: PodPhase) -> int:
    return sum(pod.phase is phase and pod.node == node for pod in leaf.pods)


def _domains(pods: list[_Pods], key: str) -> list[list[_Pods]]:
    here: dict[str, list[_Pods]] = {}
    for one in pods:
        value = one.node.labels.get(key)
        if value is not None:
            here.setdefault(value, []).append(one)
    return [here[value] for value in sorted(here)]


def _add_apart(small: SmallModel, rule: Apart, here: list[_Pods]) -> None:
    """
    Ensure that whoever is apart from some pods is in no domain with one of them.
    """
    holds = [one for one in here if rule in one.said.apart]
    meant = [one for one in here if rule.pods in one.said.selected]
    both = [one for one in holds if one in meant]
    only = [one for one in holds if one not in meant]
    if any(one.there for one in meant):
        small.cp.add(sum(one.new for one in holds) == 0)
    if any(one.there for one in holds):
        small.cp.add(sum(one.new for one in meant) == 0)
    if only:
        some = small.cp.new_bool_var("")
        small.cp.add(sum(one.new for one in only) <= MOST * some)
        small.cp.add(sum(one.new for one in meant) <= MOST * (1 - some))
    if both:
        some = small.cp.new_bool_var("")
        small.cp.add(sum(one.new for one in both) <= MOST * some)
        total = sum(one.new for one in meant)
        small.cp.add(total <= 1).only_enforce_if(some)


def _add_near(small: SmallModel, near: Near, pods: list[_Pods]) -> None:
    """
    Ensure that every domain with a pod that looks for others has one, or the first.
    """
    meant = [one for one in pods if near.pods in one.said.selected]
    exists = any(
        one.there and any(key in one.node.labels for key in near.keys) for one in meant
    )
    looks = [one for one in pods if one.said.near == near]
    first: dict[int, cp_model.IntVar] = {}
    for at, one in enumerate(looks):
        if any(key not in one.node.labels for key in near.keys):
            small.cp.add(one.new == 0)
        elif not exists and near.pods in one.said.selected:
            first[at] = small.cp.new_bool_var("")
            small.cp.add(first[at] <= one.new)
    small.cp.add_at_most_one(list(first.values()))
    for key in near.keys:
        values = {one.node.labels[key] for one in looks if key in one.node.labels}
        for value in sorted(values):
            found = [
                one.stay + (0 if one.said.near == near else one.new)
                for one in meant
                if one.node.labels.get(key) == value
            ]
            found += [
                var for at, var in first.items() if looks[at].node.labels[key] == value
            ]
            asks = [one.new for one in looks if one.node.labels.get(key) == value]
            small.cp.add(sum(asks) <= MOST * sum(found))


def _add_spread(
    small: SmallModel,
    spread: Spread,
    kind: list[_Pods],
    demand: NodeDemand | None,
    pods: list[_Pods],
) -> None:
    """
    Ensure that no domain with new pods has more than the skew above any other.
    """
    said = kind[0].said
    counting = {
        node.name: node.labels[spread.key]
        for node in small.facts.snapshot.nodes
        if all(rule.key in node.labels for rule in said.spread)
        and not (spread.by_affinity and demand and not demand.selects(node.labels))
        and not (spread.by_taints and demand and not demand.tolerates(node.taints))
    }
    counts: dict[str, list[Sum]] = {value: [] for value in counting.values()}
    for one in pods:
        if spread.pods in one.said.selected and one.node.name in counting:
            new = one.new if one.said.is_spread(spread.pods, spread.key) else 0
            counts[counting[one.node.name]].append(one.stay + new)
    least = small.cp.new_int_var(0, MOST, "")
    if len(counts) < spread.domains:
        small.cp.add(least == 0)
    for terms in counts.values():
        small.cp.add(least <= sum(terms))
    for one in kind:
        if one.demand != demand or isinstance(one.new, int):
            continue
        if one.node.name not in counting:
            small.cp.add(one.new == 0)
            continue
        some = small.cp.new_bool_var("")
        small.cp.add(one.new <= MOST * some)
        total = sum(counts[counting[one.node.name]])
        small.cp.add(total <= least + spread.skew).only_enforce_if(some)

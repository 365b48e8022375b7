"""
Pods with volumes: of a zone, of a node, and a place for each that a node takes.
"""

from dataclasses import replace
from random import Random

from models.gangs import Gang, Group, PodSet, Tree
from models.nodes import LabelRule, Node
from models.resources import FREE_VOLUMES, VOLUME_SLOTS
from models.snapshot import Snapshot

_SLOTS = f"{VOLUME_SLOTS}ebs"
_LOCAL = (f"{FREE_VOLUMES}local/10Gi", f"{FREE_VOLUMES}local/20Gi")
_OFTEN, _SOME = 0.4, 0.2


def with_volumes(seed: str, snapshot: Snapshot, part: float) -> Snapshot:
    """
    Let pods of some cases have volumes; ``part`` of all cases.

    What decides is the seed alone; the case itself draws nothing from it.
    """
    rnd = Random(f"volumes-{seed}")
    if rnd.random() >= part:
        return snapshot
    zones = sorted({node.labels.get("zone", "") for node in snapshot.nodes})
    nodes = tuple(_offering(rnd, node) for node in snapshot.nodes)
    gangs = tuple(_keeping(rnd, gang, zones) for gang in snapshot.gangs)
    return replace(snapshot, nodes=nodes, gangs=gangs)


def _offering(rnd: Random, node: Node) -> Node:
    """
    Give a node free volumes of two sizes, the larger for both, and slots.
    """
    large = rnd.randint(0, 2)
    offers = {_SLOTS: rnd.randint(1, 5), _LOCAL[1]: large}
    offers[_LOCAL[0]] = large + rnd.randint(0, 2)
    return replace(node, allocatable={**node.allocatable, **offers})


def _keeping(rnd: Random, gang: Gang, zones: list[str]) -> Gang:
    """
    Give the pods of a gang volumes where none of them runs yet.
    """
    return replace(gang, tree=_of_tree(rnd, gang.tree, zones))


def _of_tree(rnd: Random, tree: Tree, zones: list[str]) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_of_tree(rnd, child, zones) for child in tree.children)
        return replace(tree, children=children)
    return _of_leaf(rnd, tree, zones)


def _of_leaf(rnd: Random, leaf: PodSet, zones: list[str]) -> PodSet:
    asks = dict(leaf.requests)
    zonal = rnd.random() < _SOME
    zone = rnd.choice(zones)
    if rnd.random() < _OFTEN:
        asks[_SLOTS] = rnd.randint(1, 2)
    if rnd.random() < _SOME:
        asks |= dict.fromkeys(_LOCAL[: rnd.randint(1, 2)], 1)
    if any(pod.node for pod in leaf.pods):
        return leaf
    rule = LabelRule(key="zone", operator="In", values=(zone,))
    volumes = (((rule,),),) if zonal else ()
    return replace(leaf, requests=asks, demand=replace(leaf.demand, volumes=volumes))

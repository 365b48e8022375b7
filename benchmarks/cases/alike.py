"""
Gangs that are alike in their pods and unlike in what stands above them.

Whoever takes such gangs for equal gives one of them the other's answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from benchmarks.cases.parts import LEVELS
from models.gangs import Gang, Group, Pod, PodPhase, PodSet, Tree
from models.topology import TopologyDemand

_LEAF = "w"
_AGES = (0, 60, 1200)


def with_alike(seed: str, gangs: Sequence[Gang], most: int) -> list[Gang]:
    """
    Put the only leaf of some gang below a root, and add its like below another one.

    Parameters
    ----------
    seed
        What decides alone; the case itself draws nothing from it.
    gangs
        The gangs of a case.
    most
        How many gangs there may be; where there are as many, none is added.
    """
    rnd = Random(f"alike-{seed}")
    plain = [
        (at, gang.tree)
        for at, gang in enumerate(gangs)
        if isinstance(gang.tree, PodSet) and not gang.mates and _is_new(gang.tree)
    ]
    if not plain or rnd.random() < 0.6:
        return list(gangs)
    at, leaf = rnd.choice(plain)
    gang = gangs[at]
    result = list(gangs)
    result[at] = replace(gang, tree=_below(rnd, leaf, gang.name))
    if len(gangs) < most:
        name = f"g{len(gangs)}"
        tree = _below(rnd, leaf, name)
        result.append(replace(gang, name=name, age=rnd.choice(_AGES), tree=tree))
    return result


def _is_new(leaf: PodSet) -> bool:
    return all(pod.phase is PodPhase.PENDING for pod in leaf.pods)


def _below(rnd: Random, leaf: PodSet, name: str) -> Tree:
    """
    Put a leaf below a root of its own, sometimes with a node between them.
    """
    pods = tuple(Pod(f"{name}-{_LEAF}-{i}") for i in range(len(leaf.pods)))
    tree: Tree = replace(leaf, name=_LEAF, pods=pods)
    for at in range(rnd.choice((1, 1, 2))):
        groups = rnd.choice((0, 1, 1))
        tree = Group(
            name=f"inner{at}",
            min_groups=groups,
            min_pods=rnd.randint(1, leaf.replicas) if rnd.random() < 0.5 else 0,
            children=(tree,),
            topology=_topology(rnd),
        )
    return replace(tree, name=name)


def _topology(rnd: Random) -> TopologyDemand | None:
    level = rnd.choice(LEVELS)
    match rnd.choice(("none", "none", "required", "required", "preferred")):
        case "required":
            return TopologyDemand(topology="default", required=level)
        case "preferred":
            return TopologyDemand(topology="default", preferred=level)
        case _:
            return None

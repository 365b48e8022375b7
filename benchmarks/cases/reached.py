"""
Free volumes that several nodes reach, and pods that claim some.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from models.gangs import Gang, Group, Tree
from models.neighbours import ReachedVolumes
from models.nodes import Node
from models.snapshot import Snapshot
from models.volume_slots import UNLIMITED, volume_slots

_KINDS = ("large", "small")
_MOST_SETS = 4


def with_volumes(seed: str, snapshot: Snapshot) -> Snapshot:
    """
    Let nodes reach volumes, some the same ones, and pods claim them.

    What decides is the seed alone; the case itself draws nothing from it.
    """
    rnd = Random(f"reached-{seed}")
    reached: dict[str, list[ReachedVolumes]] = {n.name: [] for n in snapshot.nodes}
    for at in range(rnd.randint(1, _MOST_SETS)):
        kinds = rnd.choice((_KINDS, _KINDS[:1], _KINDS[1:]))
        one = ReachedVolumes(f"set-{at}", kinds, rnd.randint(1, 3))
        for node in rnd.sample(snapshot.nodes, rnd.randint(1, len(snapshot.nodes))):
            reached[node.name].append(one)
    return replace(
        snapshot,
        nodes=tuple(_reaching(node, reached[node.name]) for node in snapshot.nodes),
        gangs=tuple(_claiming_gang(rnd, gang) for gang in snapshot.gangs),
    )


def with_shared_claims(seed: str, snapshot: Snapshot) -> Snapshot:
    """
    Let pods of some leaves, also of several gangs, share claims of free volumes.
    """
    rnd = Random(f"shared-{seed}")
    names = [(f"set-{at}", rnd.choice(_KINDS)) for at in range(rnd.randint(1, 3))]
    gangs = tuple(
        replace(gang, tree=_sharing(rnd, gang.tree, names)) for gang in snapshot.gangs
    )
    return replace(with_volumes(seed, snapshot), gangs=gangs)


def with_shared_slots(seed: str, snapshot: Snapshot) -> Snapshot:
    """
    Let nodes take few volumes, or any number, and pods share some claims of them.
    """
    rnd = Random(f"slots-{seed}")
    alone, *shared = kinds = [volume_slots("disk", name) for name in ("", "a", "b")]
    plenty = [ReachedVolumes("elsewhere", tuple(kinds), UNLIMITED)]
    nodes = []
    for node in snapshot.nodes:
        number = rnd.choice((None, 0, 1, 1, 2, 3))
        few = [ReachedVolumes(f"at {node.name}", tuple(kinds), number or 0)]
        nodes.append(_reaching(node, plenty if number is None else few * bool(number)))
    names = list(zip(("a", "b"), shared, strict=True))
    gangs = tuple(
        replace(gang, tree=_taking(rnd, gang.tree, names, alone))
        for gang in snapshot.gangs
    )
    return replace(snapshot, nodes=tuple(nodes), gangs=gangs)


def _taking(
    rnd: Random, tree: Tree, names: Sequence[tuple[str, str]], alone: str
) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_taking(rnd, child, names, alone) for child in tree.children)
        return replace(tree, children=children)
    shared = tuple(sorted(rnd.sample(names, rnd.choice((0, 1, 1, 2)))))
    number = rnd.choice((0, 0, 1, 1, 2))
    claims = ((alone, number),) if number else ()
    return replace(
        tree, neighbours=replace(tree.neighbours, claims=claims, shared=shared)
    )


def _sharing(rnd: Random, tree: Tree, names: Sequence[tuple[str, str]]) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_sharing(rnd, child, names) for child in tree.children)
        return replace(tree, children=children)
    shared = tuple(sorted(rnd.sample(names, rnd.choice((0, 1, 1, min(2, len(names)))))))
    asked = rnd.choice(((), (), (), (1, 0), (0, 1)))
    claims = tuple((kind, n) for kind, n in zip(_KINDS, asked, strict=False) if n)
    said = replace(tree.neighbours, claims=claims, shared=shared)
    return replace(tree, neighbours=said)


def _reaching(node: Node, volumes: list[ReachedVolumes]) -> Node:
    return replace(node, volumes=tuple(sorted(volumes)))


def _claiming_gang(rnd: Random, gang: Gang) -> Gang:
    return replace(gang, tree=_claiming(rnd, gang.tree))


def _claiming(rnd: Random, tree: Tree) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_claiming(rnd, child) for child in tree.children)
        return replace(tree, children=children)
    asked = rnd.choice(((), (), (1, 0), (0, 1), (0, 1), (1, 1), (0, 2)))
    claims = tuple((kind, n) for kind, n in zip(_KINDS, asked, strict=False) if n)
    return replace(tree, neighbours=replace(tree.neighbours, claims=claims))

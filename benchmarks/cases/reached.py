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

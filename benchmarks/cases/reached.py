"""
Free volumes that several nodes reach, and pods that claim some.
"""

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

"""
Pods beside others: near, apart, spread, and what they prefer of these.
"""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from models.gangs import Gang, Group, PodSet, Tree
from models.neighbours import Apart, Near, Neighbours, Preferred, Spread

_NAMES = ("x", "y")
_KEYS = ("zone", "rack", "kubernetes.io/hostname")
_OFTEN, _SOME, _RARE = 0.5, 0.3, 0.15


def with_neighbours(seed: str, gangs: Iterable[Gang], part: float) -> list[Gang]:
    """
    Let pods of some cases be near others, apart or spread; ``part`` of all cases.

    What decides is the seed alone; the case itself draws nothing from it.
    """
    rnd = Random(f"beside-{seed}")
    if rnd.random() >= part:
        return list(gangs)
    return [replace(gang, tree=_beside(rnd, gang.tree)) for gang in gangs]


def preferring(gangs: Iterable[Gang]) -> list[Gang]:
    """
    Leave of what is asked only what is preferred.
    """
    return [replace(gang, tree=_preferring(gang.tree)) for gang in gangs]


def with_spread(seed: str, gangs: Iterable[Gang]) -> list[Gang]:
    """
    Let many pods be spread among each other, over nodes on which they may not be too.
    """
    rnd = Random(f"spread-{seed}")
    return [replace(gang, tree=_spread(rnd, gang.tree)) for gang in gangs]


def _spread(rnd: Random, tree: Tree) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_spread(rnd, child) for child in tree.children)
        return replace(tree, children=children)
    rule = Spread(
        pods=_NAMES[0],
        key=rnd.choice(_KEYS),
        skew=rnd.choice((1, 1, 2)),
        domains=rnd.choice((1, 1, 2, 3)),
        by_affinity=rnd.random() < _OFTEN,
        by_taints=rnd.random() < _SOME,
    )
    said = Neighbours(
        selected=_NAMES[:1] if rnd.random() < _OFTEN else (),
        spread=(rule,) if rnd.random() < _SOME else (),
    )
    return replace(tree, neighbours=said)


def _preferring(tree: Tree) -> Tree:
    if isinstance(tree, Group):
        return replace(tree, children=tuple(map(_preferring, tree.children)))
    said = tree.neighbours
    only = Neighbours(preferred=said.preferred, preferred_by=said.preferred_by)
    return replace(tree, neighbours=only)


def _beside(rnd: Random, tree: Tree) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_beside(rnd, child) for child in tree.children)
        return replace(tree, children=children)
    return _leaf_beside(rnd, tree)


def _leaf_beside(rnd: Random, leaf: PodSet) -> PodSet:
    def named() -> str:
        return rnd.choice(_NAMES)

    def key() -> str:
        return rnd.choice(_KEYS)

    selected = tuple(sorted(n for n in _NAMES if rnd.random() < _SOME))
    near = Near(named(), (key(),)) if rnd.random() < _RARE else None
    apart = (Apart(named(), key()),) if rnd.random() < _RARE else ()
    spread = (Spread(named(), key(), rnd.choice((1, 2))),)
    preferred = (Preferred(named(), key(), rnd.choice((-3, -1, 1, 2))),)
    return replace(
        leaf,
        neighbours=Neighbours(
            selected=selected,
            near=near,
            apart=apart,
            spread=spread if rnd.random() < _RARE else (),
            preferred=preferred if rnd.random() < _OFTEN else (),
            preferred_by=tuple(sorted(n for n in _NAMES if rnd.random() < _OFTEN)),
        ),
    )

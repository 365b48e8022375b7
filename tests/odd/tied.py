"""
Pieces of nodes in odd rounds: what several of those that run have in common.

They are drawn after all else, by a chance of their own: rounds without stay the same.
"""

from random import Random

from tests.odd.gangs import leaves_below
from tests.odd.world import GPU, Part

_TIED = 0.7
_MOST = 2


def add_tied(chance: Random, given: Part) -> None:
    """
    Let most nodes have pieces, and most of those that run be tied to some of them.
    """
    for node in given["nodes"]:
        if chance.random() < _TIED:
            _add_pieces(chance, node)
    pieces = {node["name"]: len(node.get("tied", ())) for node in given["nodes"]}
    for gang in given["gangs"]:
        for leaf in leaves_below(gang):
            for word in ("running", "terminating"):
                for entry in leaf.get(word, ()):
                    every = range(pieces.get(entry["node"], 0))
                    tied = [at for at in every if chance.random() < _TIED]
                    if tied:
                        entry["tied"] = tied


def _add_pieces(chance: Random, node: Part) -> None:
    """
    Let a node have one piece or two more than it has anyway, of GPUs mostly.
    """
    held = [name for name in node["allocatable"] if name in {GPU, "cpu"}]
    tied = []
    for _ in range(chance.randint(1, _MOST)):
        names = [GPU] if GPU in held and chance.random() < 0.8 else held
        tied.append({name: chance.randint(1, 4) for name in names})
    used = {**node.get("used", {})}
    offered = {**node["allocatable"]}
    for piece in tied:
        for name, amount in piece.items():
            used[name] = used.get(name, 0) + amount
            offered[name] = offered[name] + amount
    node |= {"allocatable": offered, "used": used, "tied": tied}

"""
Free volumes that several nodes reach, in the small model: who has which of them.
"""

from collections.abc import Iterable, Sequence

from exact.small_model import SmallModel
from models.neighbours import ReachedVolumes
from models.nodes import Node
from solver.effort.cp_sat import cp_model

Sum = int | cp_model.LinearExpr
Claims = tuple[Node, str, int, Sum]
"""
A node, a kind, the claims of it that are there already, and those that come.
"""
_Piece = tuple[ReachedVolumes, int]
_Given = dict[_Piece, Sequence[_Piece]]


def add_volumes(small: SmallModel, claims: Iterable[Claims]) -> None:
    """
    Ensure that each claim that comes has a volume of its own.
    """
    of_volumes: dict[ReachedVolumes, list[cp_model.IntVar]] = {}
    given: _Given = {}
    for node, kind, there, coming in claims:
        have = sum(finds_one(node, kind, given) for _ in range(there))
        mine = []
        for one in node.volumes:
            if kind in one.kinds:
                mine.append(small.cp.new_int_var(0, one.number, ""))
                of_volumes.setdefault(one, []).append(mine[-1])
        small.cp.add(cp_model.LinearExpr.sum([0, *mine]) == coming + have)
    for one, row in of_volumes.items():
        small.cp.add(cp_model.LinearExpr.sum(row) <= one.number)


def finds_one(node: Node, kind: str, given: _Given) -> bool:
    """
    Give one more claim a volume, if others that have some may take other ones.
    """
    suited = [
        (one, at)
        for one in node.volumes
        if kind in one.kinds
        for at in range(one.number)
    ]
    return _augments(suited, given, set())


def _augments(suited: Sequence[_Piece], given: _Given, seen: set[_Piece]) -> bool:
    for piece in suited:
        if piece in seen:
            continue
        seen.add(piece)
        if piece not in given or _augments(given[piece], given, seen):
            given[piece] = suited
            return True
    return False

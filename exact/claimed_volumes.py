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
_MOST = 1_000_000
_Piece = tuple[ReachedVolumes, int]
_Given = dict[_Piece, Sequence[ReachedVolumes]]


Shared = tuple[tuple[str, str], Node, int, Sum]
"""
A claim that pods share and its kind, a node, the pods there, and those that come.
"""


def add_volumes(
    small: SmallModel, claims: Iterable[Claims], shared: Iterable[Shared]
) -> None:
    """
    Ensure that each claim that comes has a volume of its own, on all of its nodes.
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
    users: dict[tuple[str, str], list[Shared]] = {}
    for each in shared:
        users.setdefault(each[0], []).append(each)
    for claim, pods in sorted(users.items()):
        for one, var in _for_all(small, claim[1], pods, given).items():
            of_volumes.setdefault(one, []).append(var)
    for one, row in of_volumes.items():
        small.cp.add(cp_model.LinearExpr.sum(row) <= one.number)


def _for_all(
    small: SmallModel, kind: str, pods: Sequence[Shared], given: _Given
) -> dict[ReachedVolumes, cp_model.IntVar]:
    """
    Ensure that a claim of several pods has one volume, which all their nodes reach.
    """
    every = {one for _, node, _, _ in pods for one in node.volumes if kind in one.kinds}
    chosen = {one: small.cp.new_bool_var("") for one in sorted(every)}
    small.cp.add(cp_model.LinearExpr.sum(list(chosen.values())) <= 1)
    now = [node for _, node, there, _ in pods if there]
    both = [x for x in sorted(every) if all(x in node.volumes for node in now)]
    has = bool(now) and _augments(both, given, set())
    for _, node, there, coming in pods:
        reached = [var for one, var in chosen.items() if one in node.volumes]
        number = cp_model.LinearExpr.sum([0, *reached])
        if there and has:
            small.cp.add(number >= 1)
        if isinstance(coming, int):
            continue
        small.cp.add(coming <= _MOST * number)
        if now and not has:
            small.cp.add(coming == 0)
    return chosen


def finds_one(node: Node, kind: str, given: _Given) -> bool:
    """
    Give one more claim a volume, if others that have some may take other ones.
    """
    suited = [one for one in node.volumes if kind in one.kinds]
    return _augments(suited, given, set())


def _augments(
    suited: Sequence[ReachedVolumes], given: _Given, seen: set[_Piece]
) -> bool:
    """
    Give one of some volumes, of which each may be there a million times.
    """
    for piece in ((one, at) for one in suited for at in range(one.number)):
        if piece in seen:
            continue
        seen.add(piece)
        if piece not in given or _augments(given[piece], given, seen):
            given[piece] = suited
            return True
    return False

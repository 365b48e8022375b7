"""
Weights of pods that no node exceeds: a bound of what all nodes hold together.

Sums of GPUs and CPUs say what nodes could hold if pods were sand.  The prices of the
master, once no pattern is missing, are weights that say what whole pods come to
(Gilmore and Gomory): a row of the model.
"""

from collections.abc import Mapping, Sequence

from solver.effort.budget import Budget
from solver.encode.variables import Linear
from solver.patterns.filled_node import EqualNodes, Pattern
from solver.patterns.master import Master
from solver.patterns.missing_patterns import MissingPatterns

_NODE = 10_080
"""
What the node weighs that is worth most.
"""
_NEAR = 5
"""
What weighs so little more is no better.
"""
_MOST_ROUNDS, _AT_ONCE, _FADES = 60, 8, 0.85
_CELLS_PER_UNIT = 300e6
"""
How often patterns are added, how many at a time, and what is left of the worth of pods
that are in one of them for the next; cells that are looked at for a deterministic unit.
"""


def add_missing(
    master: Master, equal: Sequence[EqualNodes], budget: Budget
) -> tuple[Linear, int] | None:
    """
    Add patterns that are missing; give weights of all pods and what all nodes hold.
    """
    kinds = _kinds_of(equal)
    wanted = [0] * (1 + max(master.wanted, default=0))
    for shape, row in master.wanted.items():
        wanted[shape] = row.most
    bound = None
    for _ in range(_MOST_ROUNDS):
        if budget.left <= 0 or not master.solve(budget):
            break
        worth, costs = _whole(*master.prices())
        most = [0] * len(equal)
        added = 0
        for kind, members in kinds:
            before = kind.effort
            for at, number in zip(members, kind.lay(worth, wanted), strict=True):
                most[at] = number
            added += _add(master, kind, members, worth, costs, wanted)
            budget.charge((kind.effort - before) / _CELLS_PER_UNIT)
        bound = worth, sum(a * b for a, b in zip(most, master.left, strict=True))
        if not added:
            break
    if bound is None:
        return None
    body = Linear()
    for shape, row in master.wanted.items():
        if bound[0][shape]:
            body.extend(row, bound[0][shape])
    return body, bound[1]


def _kinds_of(
    equal: Sequence[EqualNodes],
) -> list[tuple[MissingPatterns, list[int]]]:
    """
    Sort nodes by who may lie there.
    """
    found: dict[tuple[object, ...], list[int]] = {}
    for at, one in enumerate(equal):
        found.setdefault((*one.asks.items(),), []).append(at)
    return [
        (MissingPatterns([equal[at] for at in members]), members)
        for members in found.values()
    ]


def _whole(
    pods: Mapping[int, float], nodes: Sequence[float]
) -> tuple[dict[int, int], list[int]]:
    """
    Round prices so that the dearest node costs a fixed whole number.
    """
    top = max(*nodes, 0.0)
    scale = _NODE / top if top > 0 else 0.0
    worth = {shape: max(0, round(one * scale)) for shape, one in pods.items()}
    return worth, [round(one * scale) for one in nodes]


def _add(
    master: Master,
    kind: MissingPatterns,
    members: Sequence[int],
    worth: Mapping[int, int],
    costs: Sequence[int],
    wanted: Sequence[int],
) -> int:
    """
    Add what is worth more than the node that holds it costs, and what comes next.
    """
    fading, added = dict(worth), 0
    for _ in range(max(1, _AT_ONCE // len(members))):
        found: set[Pattern] = set()
        for place, at in enumerate(members):
            pattern = kind.content(place)
            value = sum(worth[shape] * number for shape, number in pattern)
            if master.left[at] and value > costs[at] + _NEAR:
                added += master.add((at, pattern))
                found.add(pattern)
        if not found:
            break
        for shape in {shape for pattern in found for shape, _ in pattern}:
            fading[shape] = int(fading[shape] * _FADES)
        kind.lay(fading, wanted)
    return added

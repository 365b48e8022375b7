"""
Pieces of nodes in a step of the small model: free once all have left who are tied.
"""

from collections import defaultdict
from collections.abc import Iterator

from exact.evictions.step import Rows, Step, is_leaving
from models.gangs import ON_A_NODE, Pod, pod_sets
from models.resources import Resources

Place = tuple[str, int]
Piece = tuple[Place, Resources, list[tuple[str, Pod]]]


def add_freed(step: Step, soon: Rows, leaves: Rows) -> None:
    """
    Add to what is left soon, and to what may be left, what pieces hold.
    """
    mine = [*_freed_soon(step)]
    for (node, _), held in mine:
        for name, amount in held.items():
            soon[node, name].append(amount)
    _add_literals(step, leaves, mine)


def add_beside_frozen(
    step: Step, taken: dict[tuple[str, str], int], leaves: Rows
) -> None:
    """
    Add to what was frozen to be left, and to what may be left beside, what pieces hold.
    """
    mine = [*_freed_by_frozen(step)]
    for (node, _), held in mine:
        for name, amount in held.items():
            taken[node, name] += amount
    _add_literals(step, leaves, [*_freed_soon(step), *mine])


def _freed_by_frozen(step: Step) -> Iterator[tuple[Place, Resources]]:
    """
    Walk the pieces that those leave who were frozen to leave, and nobody else.
    """
    for place, held, tied in _pieces(step):
        left = [key in step.frozen.departures for key, _ in tied]
        soon = [_is_leaving(step, pod) for _, pod in tied]
        if any(left) and all(map(max, left, soon)):
            yield place, held


def _freed_soon(step: Step) -> Iterator[tuple[Place, Resources]]:
    """
    Walk the pieces that those leave who are leaving already.
    """
    for place, held, tied in _pieces(step):
        if all(_is_leaving(step, pod) for _, pod in tied):
            yield place, held


def _add_literals(
    step: Step, leaves: Rows, others: list[tuple[Place, Resources]]
) -> None:
    """
    Add what is left of all other pieces, each with a literal that says so.
    """
    gone = {runner.key: step.leaves(runner) for runner in step.runners}
    known = {place for place, _ in others}
    for place, held, tied in _pieces(step):
        if place in known:
            continue
        literal = step.cp.new_bool_var("")
        for key, pod in tied:
            if not _is_leaving(step, pod):
                step.cp.add(literal <= gone.get(key, 0))
        for name, amount in held.items():
            leaves[place[0], name].append(amount * literal)


def _is_leaving(step: Step, pod: Pod) -> bool:
    return step.promises and is_leaving(pod)


def _pieces(step: Step) -> Iterator[Piece]:
    """
    Walk the pieces to which somebody is tied.
    """
    who: dict[tuple[str, int], list[tuple[str, Pod]]] = defaultdict(list)
    for fact in step.before.gangs.values():
        for leaf in pod_sets(fact.gang.tree):
            for pod in leaf.pods:
                for number in pod.tied if pod.phase in ON_A_NODE else ():
                    key = f"{fact.gang.namespace}/{pod.name}"
                    who[pod.node or "", number].append((key, pod))
    for node in step.before.snapshot.nodes:
        for number, held in enumerate(node.tied):
            if tied := who.get((node.name, number)):
                yield (node.name, number), held, tied

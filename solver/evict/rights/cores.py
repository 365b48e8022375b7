"""
Cores: what of a gang, or of one of its tree nodes, leaves as one unit.

Surplus pods are units of their own; so an elastic gang of three that needs two is a
unit of one and a unit of two.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from models.resources import Resources, add
from solver.problem.gang_state import Standing


@dataclass(frozen=True, slots=True)
class Parts:
    """
    What leaves of one gang: all of it, its largest unit, and what every unit holds.
    """

    amounts: Resources
    largest: Resources
    held: frozenset[str]


def as_one(amounts: Resources) -> Parts:
    """
    See all that leaves as one unit.
    """
    held = frozenset(name for name, amount in amounts.items() if amount)
    return Parts(amounts, amounts, held)


def parts_of(state: Standing, gone: Mapping[int, int]) -> Parts:
    """
    Sum up what leaves of a gang, with so many pods of each leaf.

    A surplus pod that goes with a core need not hold what the core holds.
    """
    total: dict[str, int] = {}
    largest: dict[str, int] = {}
    with_core: dict[int, set[str]] = {}
    for i, number in gone.items():
        if number:
            requests = state.leaves[i].pod_set.requests
            add(total, requests, number)
            _raise(largest, requests)
            held = with_core.setdefault(i, set())
            held.update(name for name, amount in requests.items() if amount)
    for t, node in enumerate(state.nodes):
        running = sum(len(state.leaves[i].running) for i in node.leaves)
        if running and running == sum(gone.get(i, 0) for i in node.leaves):
            core = core_amounts(state, t)
            _raise(largest, core)
            for i in node.leaves:
                with_core.setdefault(i, set()).update(core)
    rows = [with_core[i] for i, number in gone.items() if number]
    return Parts(total, largest, frozenset(set.intersection(*rows) if rows else ()))


def core_amounts(state: Standing, t: int) -> dict[str, int]:
    """
    Add up what the core of a tree node asks for.
    """
    total: dict[str, int] = {}
    for i, number in core_of(state, t).items():
        add(total, state.leaves[i].pod_set.requests, number)
    return {name: amount for name, amount in total.items() if amount}


def core_of(state: Standing, t: int) -> dict[int, int]:
    """
    Count the pods per leaf that leave as one where a tree node is emptied.

    Of a gang below its minimum these are all; a node below its own has no core.
    """
    if t == 0 and not state.satisfied:
        return {i: len(leaf.running) for i, leaf in enumerate(state.leaves)}
    return _core(state, t, least=0) if state.nodes[t].live else {}


def _core(state: Standing, t: int, *, least: int) -> dict[int, int]:
    """
    Count the running pods that a live node needs: at least so many, in file order.

    Of an inner node they are the cores of the first children that it lacks without
    what runs, and then the next pods that it lacks.
    """
    node = state.nodes[t]
    running = sum(len(state.leaves[i].running) for i in node.leaves)
    stays = max(0, node.counted - running)
    if node.leaf >= 0:
        need = max(state.leaves[node.leaf].minimum, least) - stays
        return {node.leaf: min(running, max(0, need))}
    live = [child for child in node.children if state.nodes[child].live]
    cores = [_core(state, child, least=1) for child in live]
    missing = [core for core in cores if any(core.values())]
    groups = node.min_groups - (len(cores) - len(missing))
    found = dict.fromkeys(node.leaves, 0)
    for core in missing[: max(0, groups)]:
        for i, number in core.items():
            found[i] += number
    need = max(node.min_pods, least) - stays - sum(found.values())
    for i in node.leaves:
        more = min(max(0, need), len(state.leaves[i].running) - found[i])
        found[i] += more
        need -= more
    return found


def _raise(largest: dict[str, int], amounts: Resources) -> None:
    for name, amount in amounts.items():
        largest[name] = max(largest.get(name, 0), amount)

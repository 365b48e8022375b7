"""
Dealing by hand: what the relaxation starts is placed unit by unit, the hardest first.

Large pods go before small ones, and of the same size those confined to a small domain.
Units that find no place are named, to be dealt first the next time.
"""

from collections.abc import Callable, Collection

from solver.core import least_core
from solver.decode import Value, Want, wants_of
from solver.draft import Draft
from solver.encode.encoding import Encoding
from solver.ledger import Charge
from solver.place import place_gang
from solver.problem import Problem, Unit
from solver.score import num_gpus
from solver.standing import Standing
from solver.workspace import Workspace


def deal(
    problem: Problem, encoding: Encoding, value: Value, first: Collection[str]
) -> tuple[Draft, list[str]]:
    """
    Place what an answer of the relaxation wants; name the units without a place.

    Parameters
    ----------
    problem
        The round as it is.
    encoding
        The model of its relaxation.
    value
        The answer.
    first
        Units that found no place the last time.
    """
    wants, entitled = wants_of(encoding, value)
    units = {unit.key: unit for unit in problem.units}
    asked: dict[str, list[Want]] = {}
    for want in wants:
        asked.setdefault(want.unit.key, []).append(want)
    work = Workspace(problem)
    starting = [units[key] for key in asked if units[key].starts]
    failed = [
        unit.key
        for unit in sorted(starting, key=_by_hardship(problem, first))
        if not _start(work, unit, asked[unit.key])
    ]
    for unit in starting:
        if unit.key not in failed and unit.key in entitled:
            _entitle(work, unit)
    for unit in map(units.__getitem__, asked):
        if unit.key not in failed:
            _grow(work, unit, asked[unit.key])
    return work.draft(), failed


def _by_hardship(
    problem: Problem, first: Collection[str]
) -> Callable[[Unit], tuple[bool, int, int, int, str]]:
    def rank(unit: Unit) -> tuple[bool, int, int, int, str]:
        leaves = [leaf for state in unit.states for leaf in state.leaves]
        widest = max(num_gpus(leaf.pod_set.requests) for leaf in leaves)
        total = sum(leaf.need for leaf in leaves)
        depth = max(_depth(problem, state) for state in unit.states)
        return (unit.key not in first, -widest, -depth, -total, unit.key)

    return rank


def _depth(problem: Problem, state: Standing) -> int:
    """
    Count how far down the topology a gang is confined.
    """
    depth = 0
    for node in state.nodes:
        demand = node.topology
        if demand is not None and demand.required is not None:
            levels = problem.topologies[demand.topology].levels
            depth = max(depth, 1 + levels.index(demand.required))
    return depth


def _is_confined(state: Standing) -> bool:
    return any(node.topology is not None for node in state.nodes)


def _start(work: Workspace, unit: Unit, wants: list[Want]) -> bool:
    mark = work.mark()
    for state in unit.states:
        if _is_confined(state):
            done = place_gang(work, state)
        else:
            mine = [w for w in wants if w.core and w.state.key == state.key]
            done = all(work.fill(state, w.leaf, w.count, None) == w.count for w in mine)
        if not done:
            work.undo(mark)
            return False
    return True


def _entitle(work: Workspace, unit: Unit) -> None:
    """
    Book a unit against the fair share, unless the cores it got by hand exceed it.
    """
    booked: list[tuple[Standing, Charge]] = []
    for state in unit.states:
        core = least_core(state, work.places(state) or ())
        charge = work.ledger.charge_of(state, core)
        if not work.ledger.entitles(state, charge):
            for other, paid in booked:
                work.ledger.entitle(other, paid, -1)
            return
        work.ledger.entitle(state, charge)
        booked.append((state, charge))
    work.entitled.update(state.key for state in unit.states)


def _grow(work: Workspace, unit: Unit, wants: list[Want]) -> None:
    for want in wants:
        if not want.core or not unit.starts:
            state = next(s for s in unit.states if s.key == want.state.key)
            if not _is_confined(state):
                work.fill(state, want.leaf, want.count, None)

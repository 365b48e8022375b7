"""
Dealing by hand: what the relaxation starts is placed unit by unit, the hardest first.

Large pods go before small ones, and of the same size those confined to a small domain.
Units that find no place are named, to be dealt as if their pods were twice as large.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from models.resources import num_gpus
from solver.decode.wants import Value, Want, cores_of, wants_of
from solver.encode.encoding import Encoding
from solver.place.draft import Draft
from solver.place.fill import fill
from solver.place.place_gang import place_gang, place_surplus
from solver.place.queue_ledger import Charge
from solver.place.round_state import RoundState
from solver.problem.core_pods import least_core
from solver.problem.gang_state import Standing
from solver.problem.node_room import NO_PLACES
from solver.problem.problem import Problem, Unit


def deal(
    problem: Problem, encoding: Encoding, value: Value, failures: Mapping[str, int]
) -> tuple[Draft, list[str]]:
    """
    Place what an answer of the relaxation wants; name the units without a place.

    ``failures`` say how often units found no place so far.
    """
    wants, entitled = wants_of(encoding, value)
    cores = cores_of(encoding, value)
    units = {unit.key: unit for unit in problem.units}
    asked: dict[str, list[Want]] = {}
    for want in wants:
        asked.setdefault(want.unit.key, []).append(want)
    hands = [_RelaxedGang(units[key], asked[key]) for key in asked]
    work = RoundState(problem)
    failed = [
        hand
        for hand in sorted(hands, key=_by_hardship(problem, failures))
        if not hand.start(work)
    ]
    for hand in hands:
        if hand not in failed:
            if hand.unit.key in entitled:
                hand.entitle(work, cores)
            hand.grow(work)
    return work.draft(), [hand.unit.key for hand in failed]


class _RelaxedGang:
    """
    One unit, as the answer wants it: no leaf has more pending pods than are wanted.
    """

    def __init__(self, unit: Unit, wants: Sequence[Want]) -> None:
        counts: dict[tuple[str, int], int] = {}
        for want in wants:
            key = (want.state.key, want.leaf)
            counts[key] = counts.get(key, 0) + want.count
        self.unit = unit
        self.wants = [w for w in wants if w.core] if unit.starts else []
        self.more = wants if not unit.starts else [w for w in wants if not w.core]
        self.states = [_cut(state, counts) for state in unit.states]

    def start(self, work: RoundState) -> bool:
        """
        Place all cores of the unit, or nothing.
        """
        mark = work.mark()
        for state in self.states if self.unit.starts else ():
            if _is_confined(state):
                done = place_gang(work, state)
            else:
                mine = [w for w in self.wants if w.state.key == state.key]
                done = all(fill(work, state, w.leaf, w.count) == w.count for w in mine)
            if not done:
                work.undo(mark)
                return False
        return True

    def entitle(self, work: RoundState, cores: Mapping[str, Mapping[int, int]]) -> None:
        """
        Book the unit against the fair share, unless what it got by hand exceeds it.
        """
        charges: list[tuple[Standing, Charge]] = []
        for state in self.states:
            core = cores.get(state.key)
            if core is None or _is_confined(state):
                core = least_core(state, work.places(state) or NO_PLACES)
            charges.append((state, work.ledger.charge_of(state, core)))
        if work.ledger.entitle_all(charges):
            work.entitled.update(state.key for state in self.states)

    def grow(self, work: RoundState) -> None:
        """
        Place what is wanted beyond the cores, as far as there is room.
        """
        for state in self.states:
            if _is_confined(state):
                place_surplus(work, state)
            else:
                for want in self.more:
                    if want.state.key == state.key:
                        fill(work, state, want.leaf, want.count)


def _cut(state: Standing, counts: Mapping[tuple[str, int], int]) -> Standing:
    leaves = tuple(
        replace(leaf, pending=leaf.pending[: counts.get((state.key, i), 0)])
        for i, leaf in enumerate(state.leaves)
    )
    return replace(state, leaves=leaves)


def _by_hardship(
    problem: Problem, failures: Mapping[str, int]
) -> Callable[[_RelaxedGang], tuple[int, int, int, int, str]]:
    def rank(hand: _RelaxedGang) -> tuple[int, int, int, int, str]:
        unit = hand.unit
        leaves = [leaf for state in unit.states for leaf in state.leaves]
        widest = max(num_gpus(leaf.pod_set.requests) for leaf in leaves)
        total = sum(leaf.need for leaf in leaves)
        depth = max(_depth(problem, state) for state in unit.states)
        size = max(2 * widest, 1) << failures.get(unit.key, 0)
        return (-size, -depth, -unit.band, -total, unit.key)

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

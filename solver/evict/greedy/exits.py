"""
The exits of an eviction by hand: which pods leave, by which rule, and where to.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from solver.evict.greedy.victim_table import VictimTable
from solver.evict.greedy.what_goes import Going
from solver.evict.pod_exits import pod_exits
from solver.evict.rights.policy_bounds import MOVED
from solver.place.round_state import RoundState
from solver.problem.leaving_pods import NOWHERE, Exit


def exits_of(
    goings: Collection[Going], table: VictimTable, work: RoundState
) -> Iterator[Exit]:
    """
    Write down who leaves, and where to.
    """
    evicted: Counter[int] = Counter()
    for going in goings:
        if going.leaver.rule != MOVED:
            evicted[going.item.wide] += len(going.runners)
    for going in goings:
        wide = going.item.wide
        whole = going.whole or (evicted[wide] == len(table.victims.wide[wide].pods))
        yield from _exits(going, table, work, whole=whole)


def _exits(
    going: Going, table: VictimTable, work: RoundState, *, whole: bool
) -> Iterator[Exit]:
    targets = _targets(going, work)
    gang, rule = going.item.victim.gang, going.leaver.rule
    for one in pod_exits(table.problem, gang, going.runners, rule, whole=whole):
        yield replace(one, target=targets.get(id(one.pod), NOWHERE))


def _targets(going: Going, work: RoundState) -> dict[int, int]:
    if going.unit is None:
        return {}
    (state,) = going.unit.states
    placed = work.placed[state.key]
    return {
        id(pod): host
        for i, leaf in enumerate(state.leaves)
        for pod, host in zip(leaf.pending, sorted(placed.get(i, ())), strict=True)
    }

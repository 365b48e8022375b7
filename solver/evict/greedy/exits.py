"""
The exits of an eviction by hand: which pods leave, by which rule, and where to.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from models.gangs import pod_sets
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.greedy.what_goes import Going
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
    leaves = tuple(pod_sets(going.item.victim.gang.tree))
    targets = _targets(going, work)
    values = table.problem.values
    for (leaf, pod), host in going.runners:
        yield Exit(
            gang=going.item.victim.gang.key,
            leaf=leaf,
            pod=pod,
            host=host,
            gpus=table.problem.gpus_of(leaves[leaf].requests),
            work=values.work(leaves[leaf].requests, pod.seconds),
            size=values.of_pod(leaves[leaf].requests),
            rule=going.leaver.rule,
            whole=whole,
            band=going.leaver.band,
            target=targets.get(id(pod), NOWHERE),
        )


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

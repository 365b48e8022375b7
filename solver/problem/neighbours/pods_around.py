"""
Pods around: who is in each domain of those that ours must be near to or apart from.

Who runs counts as there until it is gone, also if it leaves in this round; but nobody
is near to a pod that leaves, and spread counts those that stay.  Once all are gone who
leave, they keep nobody away.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from models.gangs import ON_A_NODE, Gang, PodPhase, PodSet, leaf_of, pod_sets
from models.neighbours import Neighbours, RulePairs
from models.nodes import NodeDemand
from solver.problem.gang_state import Standing
from solver.problem.neighbours.claimed_volumes import ClaimedVolumes, claimed_volumes
from solver.problem.neighbours.spread_counts import KeyDomains, Pair, SpreadCounts
from solver.problem.node_room import Bools, Ints, Room


@dataclass(slots=True)
class PodsAround:
    """
    How many pods are in each domain, by selector and key.

    ``members`` are those that the selector selects, ``holders`` are apart from these,
    and ``hosts`` may be relied on as neighbours; ``exists`` says how many there are in
    any domain, also of those that leave.  It is as it is now, or ``later``, when all
    are gone who leave: those are ``ending`` that do so already.  Nobody relies on
    gangs that are ``stale``.  ``volumes`` are those that several nodes reach.
    """

    domains: KeyDomains
    spread: SpreadCounts
    volumes: ClaimedVolumes
    near: RulePairs = field(default_factory=RulePairs)
    apart: RulePairs = field(default_factory=RulePairs)
    members: dict[Pair, Ints] = field(default_factory=dict)
    holders: dict[Pair, Ints] = field(default_factory=dict)
    hosts: dict[Pair, Ints] = field(default_factory=dict)
    exists: dict[Pair, int] = field(default_factory=dict)
    ending: tuple[tuple[Neighbours, int], ...] = ()
    later: bool = False
    stale: frozenset[str] = frozenset()

    def copy(self) -> "PodsAround":
        """
        Give the same, to be changed.
        """
        return replace(
            self,
            spread=self.spread.copy(),
            volumes=self.volumes.copy(),
            members={pair: row.copy() for pair, row in self.members.items()},
            holders={pair: row.copy() for pair, row in self.holders.items()},
            hosts={pair: row.copy() for pair, row in self.hosts.items()},
            exists=dict(self.exists),
        )

    def afterwards(self) -> "PodsAround":
        """
        See it when all are gone who leave.
        """
        found = replace(self.copy(), later=True)
        for said, node in self.ending:
            found.keep_away(said, np.array([node]), np.array([-1]))
        return found

    def add(
        self,
        said: Neighbours,
        nodes: Ints,
        counts: Ints,
        *,
        stays: bool = True,
        comes: bool = False,
        relied_on: bool = True,
    ) -> None:
        """
        Count pods on nodes: who ``stays`` is spread, who is ``relied_on`` is near.

        Of those that come only these count for spread that are spread themselves, since
        others may come after them.
        """
        if said.takes_volumes:
            self.volumes.add(said, nodes, counts)
        near = self.near.of(said)
        for pair in near:
            inside = self.domains.of(pair[1])[nodes] >= 0
            self.exists[pair] = self.exists.get(pair, 0) + int(counts[inside].sum())
        if stays:
            self.spread.add(said, nodes, counts, comes=comes)
        self.keep_away(said, nodes, counts)
        for pair in near if stays and relied_on else ():
            self.domains.count(self.hosts, pair, nodes, counts)

    def keep_away(self, said: Neighbours, nodes: Ints, counts: Ints) -> None:
        """
        Count pods on nodes for those that are apart from them, and the other way round.
        """
        for pair in self.apart.of(said):
            self.domains.count(self.members, pair, nodes, counts)
        for rule in said.apart:
            self.domains.count(self.holders, (rule.pods, rule.key), nodes, counts)

    def leave(self, gang: Gang, leaf: int, on: int | list[int], sign: int = 1) -> None:
        """
        Rely no more on pods that leave, or again on such as stay after all.

        They are still there for those apart from them, but for later.
        """
        said = leaf_of(gang, leaf).neighbours
        if not said:
            return
        at = np.array([x for x in np.atleast_1d(on) if x >= 0], dtype=np.int64)
        one = np.full(len(at), -sign)
        if self.later:
            self.keep_away(said, at, one)
        if gang.key in self.stale:
            return
        self.spread.add(said, at, one)
        for pair in self.near.of(said):
            self.domains.count(self.hosts, pair, at, one)

    def is_by_turns(self, said: Neighbours) -> bool:
        """
        Tell whether each pod of a kind changes where the next of them may be.
        """
        found = said.takes_volumes or self.spread.counts(said) or self.is_first(said)
        return found or any(rule.pods in said.selected for rule in said.apart)

    def may_be(
        self, said: Neighbours, demand: NodeDemand, where: Bools | None = None
    ) -> Bools:
        """
        Tell on which nodes one more pod may be, on those that are asked for.
        """
        free = self.apart_from(said) & self.near_others(said)
        if said.takes_volumes:
            free &= self.volumes.may_be(said, free if where is None else free & where)
        for rule in said.spread:
            free &= self.spread.allows(said, rule, demand)
        counts = self.spread.counts(said)
        return free & self.spread.spares(said, demand) if counts else free

    def apart_from(self, said: Neighbours) -> Bools:
        """
        Tell where nobody is that a pod is apart from, nor one that is apart from it.
        """
        free = np.ones(len(self.domains.nodes), dtype=bool)
        clashes = [(self.members, (rule.pods, rule.key)) for rule in said.apart]
        clashes += [(self.holders, pair) for pair in self.apart.of(said)]
        for table, pair in clashes:
            row = table.get(pair)
            if row is not None and row.any():
                cells = self.domains.of(pair[1])
                free &= (cells < 0) | (row[cells] == 0)
        return free

    def has_keys(self, said: Neighbours) -> Bools:
        """
        Tell which nodes have the labels that a pod's neighbours are found by.
        """
        found = np.ones(len(self.domains.nodes), dtype=bool)
        for key in (*(said.near.keys if said.near else ()), *said.spread_keys()):
            found &= self.domains.of(key) >= 0
        return found

    def is_first(self, said: Neighbours) -> bool:
        """
        Tell whether a pod looks for its like, of which there is none yet.
        """
        near = said.near
        if near is None or near.pods not in said.selected:
            return False
        return not any(self.exists.get((near.pods, key)) for key in near.keys)

    def may_find(self, said: Neighbours, coming: Collection[str]) -> bool:
        """
        Tell whether a pod finds those it looks for somewhere, or among those coming.
        """
        near = said.near
        if near is None or near.pods in coming or self.is_first(said):
            return True
        return all(self.exists.get((near.pods, key)) for key in near.keys)

    def near_others(self, said: Neighbours) -> Bools:
        """
        Tell where those are that one more pod looks for, and the labels it goes by.
        """
        near = said.near
        found = self.has_keys(said)
        if near is None or self.is_first(said):
            return found
        for key in near.keys:
            row = self.hosts.get((near.pods, key))
            if row is None or not row.any():
                return np.zeros_like(found)
            cells = self.domains.of(key)
            found &= (cells >= 0) & (row[cells] > 0)
        return found


def apart_pairs(around: PodsAround, said: Neighbours) -> set[Pair]:
    """
    Give the pairs by which a pod is apart from others, or some of these from it.
    """
    others = {pair for pair in around.holders if pair[0] in said.selected}
    return others | {(rule.pods, rule.key) for rule in said.apart}


def without_apart(around: PodsAround, pairs: Collection[Pair]) -> PodsAround:
    """
    See those around as if nobody were apart by some pairs.
    """
    found = around.copy()
    found.apart = RulePairs(found.apart - {*pairs})
    for pair in pairs:
        found.members.pop(pair, None)
        found.holders.pop(pair, None)
    return found


def looks_for_others(said: Neighbours) -> bool:
    """
    Tell whether a pod must be near or apart from some, or some from it.
    """
    return bool(said.near or said.apart or said.selected)


def come(
    around: PodsAround,
    said: Neighbours,
    demand: NodeDemand,
    nodes: Ints,
    counts: Ints,
    *,
    relied_on: bool = True,
) -> None:
    """
    Count pods that are given places.
    """
    around.add(said, nodes, counts, comes=True, relied_on=relied_on)
    around.spread.come(said, demand, nodes, counts)


def pods_around(
    room: Room,
    states: Iterable[Standing],
    gangs: Iterable[Gang],
    stale: frozenset[str] = frozenset(),
    *,
    moving: bool = False,
) -> PodsAround | None:
    """
    Count who is around pods that wait, or that may be ``moving`` for these.

    None where none of them has neighbours.
    """
    leaves = [(g, leaf) for g in gangs for leaf in pod_sets(g.tree) if leaf.neighbours]
    said = _said_by_who_comes(states, leaves if moving else ())
    if not said:
        return None
    domains = KeyDomains(room.nodes)
    nodes = enumerate(domains.nodes)
    others = [(at, who, count) for at, node in nodes for who, count in node.others]
    every = {*said, *(x.neighbours for _, x in leaves), *(x for _, x, _ in others)}
    found = PodsAround(
        domains=domains,
        near=RulePairs((n.near.pods, k) for n in said if n.near for k in n.near.keys),
        apart=RulePairs((r.pods, r.key) for n in every for r in n.apart),
        spread=SpreadCounts(domains, said),
        volumes=claimed_volumes(domains),
        stale=stale,
    )
    for at, who, count in others:
        found.add(who, np.array([at]), np.array([count]))
    for (who, stays, perhaps), hosts in _running(room.index, leaves, stale).items():
        there, ones = np.array(hosts), np.ones_like(hosts)
        found.add(who, there, ones, stays=stays)
        if perhaps:
            found.spread.add(who, there, ones, perhaps=True)
    found.volumes.settle()
    found.ending = tuple(_ending(room.index, leaves))
    return found


def _said_by_who_comes(
    states: Iterable[Standing], moving: Iterable[tuple[Gang, PodSet]]
) -> set[Neighbours]:
    """
    Give what those say of others that wait, or that may be moved for who waits.
    """
    waiting = [leaf for state in states for leaf in state.leaves if leaf.pending]
    said = {leaf.pod_set.neighbours for leaf in waiting}
    if waiting:
        said |= {leaf.neighbours for gang, leaf in moving if _may_move(gang, leaf)}
    return {each for each in said if each}


def _may_move(gang: Gang, leaf: PodSet) -> bool:
    return gang.preemptible and any(x.phase is PodPhase.RUNNING for x in leaf.pods)


def _ending(
    index: Mapping[str, int], leaves: Iterable[tuple[Gang, PodSet]]
) -> Iterator[tuple[Neighbours, int]]:
    for _, leaf in leaves:
        for pod in leaf.pods:
            if pod.phase is PodPhase.TERMINATING and (pod.node or "") in index:
                yield leaf.neighbours, index[pod.node or ""]


def _running(
    index: Mapping[str, int],
    leaves: Iterable[tuple[Gang, PodSet]],
    stale: frozenset[str],
) -> dict[tuple[Neighbours, bool, bool], list[int]]:
    found: dict[tuple[Neighbours, bool, bool], list[int]] = {}
    for gang, leaf in leaves:
        for pod in leaf.pods:
            at = index.get(pod.node) if pod.node is not None else None
            if at is not None and pod.phase in ON_A_NODE:
                runs, is_stale = pod.phase is PodPhase.RUNNING, gang.key in stale
                key = leaf.neighbours, runs and not is_stale, runs and is_stale
                found.setdefault(key, []).append(at)
    return found

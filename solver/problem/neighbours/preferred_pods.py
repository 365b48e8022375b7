"""
Preferred neighbours: what pods would like around them, and how much of it is unmet.

A pod that would be near some others lacks them where no other of these is in its domain
of the key, and one that would be apart from some lacks that where another one is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.gangs import Gang, PodPhase, PodSet, pod_sets
from models.neighbours import Neighbours, Preferred
from solver.problem.gang_state import Standing
from solver.problem.neighbours.spread_counts import KeyDomains, Pair
from solver.problem.node_room import Bools, Ints, Room

Placed = Iterable[tuple[Neighbours, Sequence[int]]]
"""
Pods of some kinds, each on the node of its number.
"""


@dataclass(slots=True)
class PreferredPods:
    """
    How many pods are in each domain, of those that somebody would be near or apart.
    """

    domains: KeyDomains
    pairs: frozenset[Pair]
    there: dict[Pair, Ints] = field(default_factory=dict)

    def copy(self) -> "PreferredPods":
        """
        Give the same, to be changed.
        """
        there = {pair: row.copy() for pair, row in self.there.items()}
        return PreferredPods(self.domains, self.pairs, there)

    def add(self, said: Neighbours, nodes: Ints, counts: Ints) -> None:
        """
        Count pods on nodes.
        """
        for pair in self.pairs:
            if pair[0] in said.preferred_by:
                self.domains.count(self.there, pair, nodes, counts)

    def num_there(self, rule: Preferred) -> Ints:
        """
        Count the pods that a rule means, per domain of its key.
        """
        row = self.there.get((rule.pods, rule.key))
        return self.domains.none_in(rule.key) if row is None else row

    def unmet_on(self, said: Neighbours) -> Ints:
        """
        Say for each node how much one more pod there would lack.
        """
        total = np.zeros(len(self.domains.nodes), dtype=np.int64)
        for rule in said.preferred:
            cells = self.domains.of(rule.key)
            some = np.zeros(len(cells), dtype=bool)
            inside = cells >= 0
            some[inside] = self.num_there(rule)[cells[inside]] > 0
            total += abs(rule.weight) * (some if rule.weight < 0 else ~some)
        return total

    def first_domain(self, said: Neighbours, room: Ints, count: int) -> Bools | None:
        """
        Give the domain that holds all pods that like their own kind, for the first.
        """
        rules = [
            rule
            for rule in said.preferred
            if rule.weight > 0
            and rule.pods in said.preferred_by
            and not self.num_there(rule).any()
        ]
        if not rules:
            return None
        cells = self.domains.of(max(rules, key=lambda rule: rule.weight).key)
        inside = cells >= 0
        sums = np.bincount(cells[inside], weights=room[inside], minlength=1)
        able = np.flatnonzero(sums >= count)
        return cells == able[np.argmin(sums[able])] if len(able) else None

    def unmet(self, placed: Placed) -> int:
        """
        Add up what pods lack that get places, all of them counted.
        """
        everybody = self.copy()
        wants: dict[Neighbours, list[int]] = {}
        for said, hosts in placed:
            if (said.preferred or said.preferred_by) and len(hosts):
                at = np.array(hosts, dtype=np.int64)
                everybody.add(said, at, np.ones_like(at))
                if said.preferred:
                    wants.setdefault(said, []).extend(hosts)
        return sum(
            everybody.lacking(said, rule, hosts)
            for said, hosts in wants.items()
            for rule in said.preferred
        )

    def lacking(self, said: Neighbours, rule: Preferred, hosts: Sequence[int]) -> int:
        """
        Add up what pods of one kind lack by one of their rules.
        """
        cells = self.domains.of(rule.key)[hosts]
        own = int(rule.pods in said.preferred_by)
        others = self.num_there(rule)[cells[cells >= 0]] - own
        near = int((others > 0).sum())
        return abs(rule.weight) * (near if rule.weight < 0 else len(cells) - near)


def preferred_pods(
    room: Room, states: Mapping[str, Standing], gangs: Iterable[Gang]
) -> PreferredPods | None:
    """
    Count who runs of those that pods that wait would be near or apart from.
    """
    waiting = {
        leaf.pod_set.neighbours
        for state in states.values()
        for leaf in state.leaves
        if leaf.pending
    }
    pairs = frozenset((r.pods, r.key) for said in waiting for r in said.preferred)
    if not pairs:
        return None
    found = PreferredPods(KeyDomains(room.nodes), pairs)
    one = np.array([1])
    for at, node in enumerate(room.nodes):
        for said, count in node.others:
            found.add(said, np.array([at]), np.array([count]))
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            for at in _running(leaf, room) if leaf.neighbours.preferred_by else ():
                found.add(leaf.neighbours, np.array([at]), one)
    return found


def _running(leaf: PodSet, room: Room) -> Iterator[int]:
    for pod in leaf.pods:
        at = room.index.get(pod.node) if pod.node is not None else None
        if at is not None and pod.phase is PodPhase.RUNNING:
            yield at

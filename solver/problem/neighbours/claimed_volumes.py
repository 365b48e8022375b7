"""
Free volumes that several nodes reach: each serves one claim, and each claim needs one.

One that pods share needs one that all of their nodes reach.
What pods have stays theirs for the round, whoever leaves: its claim does.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from models.neighbours import Neighbours, ReachedVolumes
from solver.problem.neighbours.spread_counts import REACHED, KeyDomains
from solver.problem.node_room import Bools, Ints

Asker = tuple[int | str, str]
"""
A domain of nodes that reach the same volumes, or a claim that pods share, and a kind.
"""
_Ways = dict[ReachedVolumes, tuple[Asker, ReachedVolumes | None]]


class VolumeMatching:
    """
    Claims with a volume of their own, as many as can have one: some are moved for it.
    """

    def __init__(self, reached: Sequence[tuple[ReachedVolumes, ...]]) -> None:
        self.reached = reached
        self.held: dict[Asker, Counter[ReachedVolumes]] = {}
        self.spare = {one: one.number for here in reached for one in here}
        self.holders: dict[ReachedVolumes, Counter[Asker]] = {}
        self.shared: dict[Asker, Counter[int]] = {}
        self._suited: dict[Asker, list[ReachedVolumes]] = {}

    def copy(self) -> "VolumeMatching":
        """
        Give the same, to be changed.
        """
        found = VolumeMatching(())
        found.reached, found._suited = self.reached, self._suited
        found.held, found.holders = dict(self.held), dict(self.holders)
        found.spare, found.shared = dict(self.spare), dict(self.shared)
        return found

    def suited(self, asker: Asker) -> list[ReachedVolumes]:
        """
        List the volumes that a claim may have.
        """
        domain, kind = asker
        if isinstance(domain, str):
            rows = [self.suited((at, kind)) for at in self.shared[asker]]
            return [x for x in rows[0] if all(x in row for row in rows)] if rows else []
        if asker not in self._suited:
            here = self.reached[domain] if domain >= 0 else ()
            self._suited[asker] = [one for one in here if kind in one.kinds]
        return self._suited[asker]

    def share(self, asker: Asker, domain: int, number: int) -> bool:
        """
        Let so many more pods in a domain share a claim; tell whether it has a volume.
        """
        row = self.shared.get(asker, Counter()) + Counter({domain: number})
        self.shared[asker] = row
        held = self.held.get(asker)
        if held and not (row and held.keys() <= set(self.suited(asker))):
            self.give(asker, 1)
        return not row or bool(self.held.get(asker)) or self._take_one(asker)

    def take(self, asker: Asker, number: int) -> int:
        """
        Give volumes to so many more claims; say how many get one.
        """
        tried = range(number)
        return next((n for n in tried if not self._take_one(asker)), number)

    def give(self, asker: Asker, number: int) -> None:
        """
        Take volumes back from so many claims.
        """
        for _ in range(number):
            one = next(iter(self.held[asker]))
            self.spare[one] += 1
            self._change(asker, one, -1)

    def _take_one(self, asker: Asker) -> bool:
        came: _Ways = dict.fromkeys(self.suited(asker), (asker, None))
        queue = list(came)
        for one in queue:
            if self.spare[one] > 0:
                self._hand_on(one, came)
                return True
            for holder in self.holders.get(one, ()):
                more = [x for x in self.suited(holder) if x not in came]
                came |= dict.fromkeys(more, (holder, one))
                queue += more
        return False

    def _hand_on(self, one: ReachedVolumes, came: _Ways) -> None:
        """
        Give a free volume to who asks for it, and what that one had to the one before.
        """
        self.spare[one] -= 1
        at: ReachedVolumes | None = one
        while at is not None:
            taker, had = came[at]
            self._change(taker, at, 1)
            if had is not None:
                self._change(taker, had, -1)
            at = had

    def _change(self, asker: Asker, one: ReachedVolumes, number: int) -> None:
        """
        Let claims have so many more of some volumes; rows are never changed in place.
        """
        self.held[asker] = self.held.get(asker, Counter()) + Counter({one: number})
        holders = self.holders.get(one, Counter())
        self.holders[one] = holders + Counter({asker: number})


@dataclass(slots=True)
class ClaimedVolumes:
    """
    The claims of pods that are there or come, by the domains that their nodes are in.

    ``parts`` number the domains, ``known`` says where pods may be, below 0 if unknown.
    """

    of_node: Ints
    matching: VolumeMatching
    parts: Ints
    claims: Counter[Asker] = field(default_factory=Counter)
    known: dict[tuple[object, tuple[object, ...]], Ints] = field(default_factory=dict)

    def copy(self) -> "ClaimedVolumes":
        """
        Give the same, to be changed.
        """
        return replace(
            self,
            matching=self.matching.copy(),
            claims=self.claims.copy(),
            known=dict(self.known),
        )

    def add(self, said: Neighbours, nodes: Ints, counts: Ints) -> None:
        """
        Count pods on nodes, fewer where counts are below zero.
        """
        domains = self.of_node[nodes]
        changed = np.isin(self.parts, self.parts[domains]) & (self.parts >= 0)
        self.known = {
            key: np.where(changed, -1, row)
            for key, row in self.known.items()
            if set(said.shared).isdisjoint(key[1])
        }
        for domain, count in zip(domains.tolist(), counts.tolist(), strict=True):
            for kind, number in said.claims:
                self._count((domain, kind), number * count)
            for asker in said.shared if count else ():
                self.matching.share(asker, domain, count)
                self._count(asker, bool(self.matching.shared[asker]))

    def settle(self) -> None:
        """
        Give volumes to those that are there: claims of one pod first, then in order.
        """
        for asker, row in self.matching.held.items():
            self.matching.give(asker, row.total())
        for asker in sorted(self.claims, key=lambda x: (isinstance(x[0], str), x)):
            self.matching.take(asker, self.claims[asker])

    def may_be(self, said: Neighbours) -> Bools:
        """
        Tell on which nodes one more pod finds a volume for each of its claims.
        """
        unknown = np.append(np.full(len(self.parts) - 1, -1), 0)
        row = self.known.setdefault((said.claims, said.shared), unknown)
        for domain in np.flatnonzero(row < 0).tolist():
            row[domain] = self._is_able(said, domain)
        return row[self.of_node] > 0

    def _is_able(self, said: Neighbours, domain: int) -> bool:
        """
        Tell whether one more pod finds a volume for each of its claims in a domain.
        """
        trial = self.matching.copy()
        return all(trial.take((domain, x), n) == n for x, n in said.claims) and all(
            trial.share(one, domain, 1) for one in said.shared
        )

    def _count(self, asker: Asker, number: int) -> None:
        is_shared = isinstance(asker[0], str)
        self.claims[asker] = number + (0 if is_shared else self.claims[asker])
        others = self.claims if is_shared or number <= 0 else ()
        for other in (asker, *others):
            have = self.matching.held.get(other, Counter()).total()
            self.matching.give(other, have - self.claims[other])
            self.matching.take(other, self.claims[other] - have)


def claimed_volumes(domains: KeyDomains) -> ClaimedVolumes:
    """
    Give the free volumes of nodes, of which nobody has any yet.
    """
    of_node = domains.of(REACHED)
    known = dict(zip(of_node.tolist(), domains.nodes, strict=True))
    number = int(of_node.max(initial=-1)) + 1
    matching = VolumeMatching([known[at].volumes for at in range(number)])
    return ClaimedVolumes(of_node, matching, _parts(matching.reached))


def _parts(reached: Sequence[tuple[ReachedVolumes, ...]]) -> Ints:
    """
    Give each domain a number, those that volumes join the same; no domain comes last.
    """
    parts = np.arange(len(reached) + 1)
    parts[-1] = -1
    first: dict[ReachedVolumes, int] = {}
    for domain, here in enumerate(reached):
        for one in here:
            other = parts[first.setdefault(one, domain)]
            if other != parts[domain]:
                parts[parts == other] = parts[domain]
    return parts

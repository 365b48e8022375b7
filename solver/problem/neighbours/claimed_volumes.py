"""
Free volumes that several nodes reach: each serves one claim, and each claim needs one.

One that pods share needs one that all of their nodes reach.
What pods have stays theirs for the round, whoever leaves: its claim does.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
        self.shared: dict[Asker, Counter[int]] = {}
        self._suited: dict[Asker, list[ReachedVolumes]] = {}

    def copy(self) -> "VolumeMatching":
        """
        Give the same, to be changed.
        """
        found = VolumeMatching(())
        found.reached, found._suited = self.reached, self._suited
        found.held = {asker: row.copy() for asker, row in self.held.items()}
        found.spare = dict(self.spare)
        found.shared = {asker: row.copy() for asker, row in self.shared.items()}
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
        row = self.shared.setdefault(asker, Counter())
        row[domain] += number
        if row[domain] <= 0:
            del row[domain]
        held = self.held.get(asker)
        if held and not (row and held.keys() <= set(self.suited(asker))):
            self.give(asker, 1)
        return not row or bool(self.held.get(asker)) or self._take_one(asker)

    def take(self, asker: Asker, number: int) -> int:
        """
        Give volumes to so many more claims; say how many get one.
        """
        for done in range(number):
            if not self._take_one(asker):
                return done
        return number

    def give(self, asker: Asker, number: int) -> None:
        """
        Take volumes back from so many claims.
        """
        row = self.held.get(asker, Counter())
        for _ in range(number):
            one = next(iter(row))
            self.spare[one] += 1
            row[one] -= 1
            if not row[one]:
                del row[one]

    def open(self) -> set[ReachedVolumes]:
        """
        Name the volumes of which one is free, or can be if others take another one.
        """
        found = {one for one, number in self.spare.items() if number > 0}
        before = -1
        while before != len(found):
            before = len(found)
            for asker, row in self.held.items():
                if not found.isdisjoint(self.suited(asker)):
                    found.update(row)
        return found

    def _take_one(self, asker: Asker) -> bool:
        came: _Ways = dict.fromkeys(self.suited(asker), (asker, None))
        queue = list(came)
        for one in queue:
            if self.spare[one] > 0:
                self._hand_on(one, came)
                return True
            for holder, row in self.held.items():
                if row.get(one):
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
            row = self.held.setdefault(taker, Counter())
            row[at] += 1
            if had is not None:
                row[had] -= 1
                if not row[had]:
                    del row[had]
            at = had


@dataclass(slots=True)
class ClaimedVolumes:
    """
    The claims of pods that are there or come, by the domains that their nodes are in.
    """

    of_node: Ints
    matching: VolumeMatching
    claims: Counter[Asker] = field(default_factory=Counter)
    known: dict[object, Bools] = field(default_factory=dict)

    def copy(self) -> "ClaimedVolumes":
        """
        Give the same, to be changed.
        """
        return ClaimedVolumes(
            of_node=self.of_node,
            matching=self.matching.copy(),
            claims=self.claims.copy(),
            known=dict(self.known),
        )

    def add(self, said: Neighbours, nodes: Ints, counts: Ints) -> None:
        """
        Count pods on nodes, fewer where counts are below zero.
        """
        self.known.clear()
        for domain, count in zip(
            self.of_node[nodes].tolist(), counts.tolist(), strict=True
        ):
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
        for asker in sorted(
            self.claims, key=lambda one: (isinstance(one[0], str), one)
        ):
            self.matching.take(asker, self.claims[asker])

    def may_be(self, said: Neighbours) -> Bools:
        """
        Tell on which nodes one more pod finds a volume for each of its claims.
        """
        key = said.claims, said.shared
        if key not in self.known:
            domains = range(len(self.matching.reached))
            able = [*self._able(said, domains), False]
            self.known[key] = np.array(able, dtype=bool)[self.of_node]
        return self.known[key]

    def _able(self, said: Neighbours, domains: Sequence[int]) -> Iterator[bool]:
        alone = len(said.claims) == 1 and said.claims[0][1] == 1 and not said.shared
        found = self.matching.open() if alone else set()
        for domain in domains:
            asked = [((domain, kind), number) for kind, number in said.claims]
            if alone:
                yield not found.isdisjoint(self.matching.suited(asked[0][0]))
            else:
                trial = self.matching.copy()
                yield all(trial.take(asker, n) == n for asker, n in asked) and all(
                    trial.share(asker, domain, 1) for asker in said.shared
                )

    def _count(self, asker: Asker, number: int) -> None:
        is_shared = isinstance(asker[0], str)
        self.claims[asker] = number + (0 if is_shared else self.claims[asker])
        if number > 0 and not is_shared:
            self.matching.take(asker, number)
            return
        have = self.matching.held.get(asker, Counter()).total()
        self.matching.give(asker, max(0, have - self.claims[asker]))
        for other, claims in self.claims.items():
            have = self.matching.held.get(other, Counter()).total()
            self.matching.take(other, claims - have)


def claimed_volumes(domains: KeyDomains) -> ClaimedVolumes:
    """
    Give the free volumes of nodes, of which nobody has any yet.
    """
    of_node = domains.of(REACHED)
    known = dict(zip(of_node.tolist(), domains.nodes, strict=True))
    number = int(of_node.max(initial=-1)) + 1
    matching = VolumeMatching([known[at].volumes for at in range(number)])
    return ClaimedVolumes(of_node, matching)

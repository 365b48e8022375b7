"""
Free volumes that several nodes reach: each serves one claim, and each claim needs one.

One that pods share needs one that all of their nodes reach.
What pods have stays theirs for the round, whoever leaves: its claim does.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from models.neighbours import Neighbours, ReachedVolumes, sharer
from solver.problem.neighbours.spread_counts import REACHED, KeyDomains
from solver.problem.neighbours.volume_matching import Asker, VolumeMatching
from solver.problem.node_room import Bools, Ints

Known = dict[tuple[object, tuple[Asker, ...]], Ints]
_MOST_STEPS = 64
_Step = tuple[Neighbours, Ints, Ints, Known]
"""
Pods that came or went, and what was known before.
"""


@dataclass(slots=True)
class ClaimedVolumes:
    """
    The claims of pods that are there or come, by the domains that their nodes are in.

    ``parts`` number the domains, ``known`` says where pods may be, below 0 if unknown;
    ``trusted`` is what is not known to be wrong.
    """

    of_node: Ints
    matching: VolumeMatching
    parts: Ints
    claims: Counter[Asker] = field(default_factory=Counter)
    known: Known = field(default_factory=dict)
    trusted: bool = False
    _steps: deque[_Step] = field(default_factory=lambda: deque(maxlen=_MOST_STEPS))

    def copy(self) -> "ClaimedVolumes":
        """
        Give the same, to be changed.
        """
        return replace(
            self,
            matching=self.matching.copy(),
            claims=self.claims.copy(),
            known=dict(self.known),
            _steps=deque(maxlen=_MOST_STEPS),
        )

    def add(self, said: Neighbours, nodes: Ints, counts: Ints) -> None:
        """
        Count pods on nodes, fewer where counts are below zero.
        """
        domains, lacked = self.of_node[nodes], self.lacking > 0
        for domain, count in zip(domains.tolist(), counts.tolist(), strict=True):
            for kind, number in said.claims:
                self._count((domain, kind), number * count)
            for claim in said.shared if count else ():
                asker = sharer(claim, domain)
                self.matching.share(asker, domain, count)
                self._count(asker, bool(self.matching.shared[asker]))
        if self._steps:
            who, where, came, known = self._steps[-1]
            if who is said and where is nodes and not (came + counts).any():
                self.known = known
                self._steps.pop()
                return
        self._steps.append((said, nodes, counts, self.known))
        come, go = bool((counts > 0).any()), bool((counts < 0).any())
        every = lacked or self.lacking > 0 or (go and (come or bool(said.shared)))
        changed = np.isin(self.parts, self.parts[domains]) & (self.parts >= 0)
        # Where none may be, none may when more have come, and the other way round.
        self.known = {
            key: np.where(changed & (every | (row == (0 if go else 1))), -1, row)
            for key, row in self.known.items()
            if set(said.shared).isdisjoint(key[1])
        }

    @contextmanager
    def on_trust(self) -> Iterator[Known]:
        """
        Say that pods may be wherever it is not known that they may not.
        """
        self.trusted = True
        try:
            yield self.known
        finally:
            self.trusted = False

    def rule_out(self, said: Neighbours, node: int, known: Known) -> None:
        """
        Note that a pod finds no volume on a node, beside what was known.
        """
        row = known[said.claims, said.shared].copy()
        domain = int(self.of_node[node])
        row[domain] = 0
        for kind, _ in said.claims:
            if not self.matching.could_take((domain, kind)):
                for at in np.flatnonzero(row).tolist():
                    row[at] *= not self.matching.is_closed((at, kind))
        self.known = {**known, (said.claims, said.shared): row}

    def settle(self) -> None:
        """
        Give volumes to those that are there: claims of one pod first, then in order.
        """
        for asker, row in [*self.matching.held.items()]:
            self.matching.give(asker, sum(row.values()))
        for asker in sorted(self.claims, key=lambda x: (isinstance(x[0], str), x)):
            self.matching.take(asker, self.claims[asker])

    def may_be(self, said: Neighbours, where: Bools | None = None) -> Bools:
        """
        Tell on which nodes one more pod finds a volume for each of its claims.

        Elsewhere than on some nodes, ``where`` that is said, it may be said wrongly.
        """
        unknown = np.append(np.full(len(self.parts) - 1, -1, dtype=np.int8), 0)
        row = self.known.setdefault((said.claims, said.shared), unknown)
        if self.trusted:
            return np.asarray(row[self.of_node] != 0)
        asked = np.zeros(len(row), dtype=bool)
        asked[self.of_node if where is None else self.of_node[where]] = True
        row[asked & (row < 0) & self._has_enough(said)] = 1
        for domain in np.flatnonzero(asked & (row < 0)).tolist():
            shared = [sharer(claim, domain) for claim in said.shared]
            row[domain] = self.matching.could_take_all(domain, said.claims, shared)
        return row[self.of_node] > 0

    def for_all(self, said: Neighbours, room: Ints, count: int) -> Bools:
        """
        Tell where pods that share a claim may begin: tight, with room for all of them.
        """
        rooms = np.bincount(self.of_node + 1, room, len(self.parts))[1:]
        found = np.ones(len(self.of_node), dtype=bool)
        for asker in said.shared:
            if sharer(asker, 0) == asker and not self.matching.held.get(asker):
                able = [
                    (float(rooms[domains].sum()), domains)
                    for domains in self.matching.reaching(asker[1])
                ]
                able = [each for each in able if each[0] >= count]
                if able:
                    found &= np.isin(self.of_node, min(able)[1])
        return found

    def _has_enough(self, said: Neighbours) -> Bools:
        """
        Tell in which domains nobody has the volumes that one more pod may need.
        """
        number = sum(n for _, n in said.claims)
        found = np.full(len(self.parts), not said.shared)
        for kind, _ in said.claims if not said.shared else ():
            row = self.matching.direct.get(kind)
            found &= row is not None and row >= number
        return found

    @property
    def lacking(self) -> int:
        """
        Count the claims that have no volume.
        """
        return self.claims.total() - self.matching.num_held

    def _count(self, asker: Asker, number: int) -> None:
        is_shared = isinstance(asker[0], str)
        self.claims[asker] = number + (0 if is_shared else self.claims[asker])
        self._suit(asker)
        for other in self.claims if number <= 0 and self.lacking else ():
            self._suit(other)

    def _suit(self, asker: Asker) -> None:
        """
        Give volumes to claims that have too few, or take back what is too much.
        """
        more = self.claims[asker] - sum(self.matching.held.get(asker, {}).values())
        self.matching.give(asker, -more)
        self.matching.take(asker, more)


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

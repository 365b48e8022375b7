"""
Claims and the free volumes that they have: as many have one as can, some move for it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from models.neighbours import ReachedVolumes
from solver.problem.node_room import Ints

Asker = tuple[int | str, str]
"""
A domain of nodes that reach the same volumes, or a claim that pods share, and a kind.
"""
_Ways = dict[ReachedVolumes, tuple[Asker, ReachedVolumes | None]]
_Change = tuple[Asker, ReachedVolumes, int]
_T = TypeVar("_T")


class VolumeMatching:
    """
    Claims with a volume of their own, as many as can have one: some are moved for it.

    ``direct`` says by kind how many volumes nobody has in each domain; no domain comes
    last.  From ``_open`` volumes a way leads to one that nobody has, from ``_closed``
    ones there is none until somebody gives one back.
    """

    def __init__(self, reached: Sequence[tuple[ReachedVolumes, ...]]) -> None:
        self.reached = reached
        self.held: dict[Asker, Mapping[ReachedVolumes, int]] = {}
        self.spare = {one: one.number for here in reached for one in here}
        self.holders: dict[ReachedVolumes, Mapping[Asker, int]] = {}
        self.shared: dict[Asker, Counter[int]] = {}
        self.direct: dict[str, Ints] = {}
        self._suited: dict[Asker, list[ReachedVolumes]] = {}
        self._domains = _domains_of(reached)
        self.num_held = 0
        self._open: set[ReachedVolumes] = set()
        self._closed: set[ReachedVolumes] = set()
        self._tried: list[_Change] | None = None
        for one, number in self.spare.items():
            for kind in one.kinds:
                row = self.direct.setdefault(kind, np.zeros(len(reached) + 1, int))
                row[self._domains[one]] += number

    def copy(self) -> "VolumeMatching":
        """
        Give the same, to be changed.
        """
        found = VolumeMatching(())
        found.reached, found._suited = self.reached, self._suited
        found._domains = self._domains
        found.held, found.holders = dict(self.held), dict(self.holders)
        found.spare, found.shared = dict(self.spare), dict(self.shared)
        found.num_held = self.num_held
        found.direct = {kind: row.copy() for kind, row in self.direct.items()}
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

    def reaching(self, kind: str) -> Iterator[list[int]]:
        """
        Walk the domains of each volume of a kind that nobody has.
        """
        for one, domains in self._domains.items():
            if kind in one.kinds and self.spare[one] > 0:
                yield domains

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
        left = number
        for one in self.suited(asker) if left > 0 else ():
            if more := min(left, self.spare[one]):
                self._change(asker, one, more)
                left -= more
        while left > 0 and self._take_one(asker):
            left -= 1
        return number - left

    def give(self, asker: Asker, number: int) -> None:
        """
        Take volumes back from so many claims.
        """
        if number > 0:
            self._closed = set()
        for _ in range(number):
            self._change(asker, next(iter(self.held[asker])), -1)

    def could_take(self, asker: Asker) -> bool:
        """
        Tell whether one more claim would get a volume.
        """
        came: _Ways = dict.fromkeys(self.suited(asker), (asker, None))
        last = at = self._last_of_way(came, self._open)
        while at is not None:
            self._open.add(at)
            at = came[at][1]
        return last is not None

    def is_closed(self, asker: Asker) -> bool:
        """
        Tell whether it is known that one more claim gets no volume.
        """
        return self._closed.issuperset(self.suited(asker))

    def could_take_all(
        self, domain: int, claims: Sequence[tuple[str, int]], shared: Sequence[Asker]
    ) -> bool:
        """
        Tell whether one more pod finds a volume for each of its claims in a domain.
        """
        if not all(self.could_take((domain, kind)) for kind, _ in claims):
            return False
        if not shared and sum(number for _, number in claims) == 1:
            return True
        tried: list[_Change] = []
        before = self.shared, self._open, self._closed
        self.shared, self._closed = dict(self.shared), set(self._closed)
        self._tried = tried
        found = all(self.take((domain, x), n) == n for x, n in claims) and all(
            self.share(one, domain, 1) for one in shared
        )
        for asker, one, number in [*reversed(tried)]:
            self._change(asker, one, -number)
        (self.shared, self._open, self._closed), self._tried = before, None
        return found

    def _take_one(self, asker: Asker) -> bool:
        came: _Ways = dict.fromkeys(self.suited(asker), (asker, None))
        last = self._last_of_way(came)
        if last is not None:
            self._hand_on(last, came)
        return last is not None

    def _last_of_way(
        self, came: _Ways, known: Collection[ReachedVolumes] = ()
    ) -> ReachedVolumes | None:
        """
        Find a volume that nobody has, by way of those who have one and may change it.

        One that is ``known`` to lead to such a one will do.
        """
        spare, closed = self.spare, self._closed
        queue = [one for one in came if one not in closed]
        last = next((x for x in queue if spare[x] > 0 or x in known), None)
        for one in queue if last is None else ():
            for holder in self.holders.get(one, ()):
                for more in self.suited(holder):
                    if more not in came and more not in closed:
                        came[more] = holder, one
                        if spare[more] > 0 or more in known:
                            return more
                        queue.append(more)
        if last is None:
            closed.update(came)
        return last

    def _hand_on(self, one: ReachedVolumes, came: _Ways) -> None:
        """
        Give a free volume to who asks for it, and what that one had to the one before.
        """
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
        self.held[asker] = _with(self.held.get(asker, {}), one, number)
        self.holders[one] = _with(self.holders.get(one, {}), asker, number)
        self.spare[one] -= number
        self._open = set()
        if self._tried is not None:
            self._tried.append((asker, one, number))
            return
        self.num_held += number
        for kind in one.kinds:
            self.direct[kind][self._domains[one]] -= number


def _with(row: Mapping[_T, int], one: _T, number: int) -> dict[_T, int]:
    """
    Give a row with so many more of one, which is left out where there are none.
    """
    found = {**row, one: row.get(one, 0) + number}
    if not found[one]:
        del found[one]
    return found


def _domains_of(
    reached: Sequence[tuple[ReachedVolumes, ...]],
) -> dict[ReachedVolumes, list[int]]:
    found: dict[ReachedVolumes, list[int]] = {}
    for domain, here in enumerate(reached):
        for one in here:
            found.setdefault(one, []).append(domain)
    return found

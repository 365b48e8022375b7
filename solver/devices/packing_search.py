"""
Searching for places on so many devices where packing by fit finds none.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from solver.devices.packing_items import Bin, Wanted, put

_MOST_TRIES = 2_000
"""
How many places are tried before a packing by fit is taken as it is.
"""
Chosen = tuple[tuple[int, ...], ...]


class PackingSearch:
    """
    Places for all pods on some devices, one pod after the other.

    What is left of devices tells whether the rest fits, whoever left it: what failed
    once is not tried again.
    """

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        pods = [(one.item, one.devices) for one in wanted for _ in range(one.number)]
        self._pods = pods
        self._tries = _MOST_TRIES
        self._failed: set[tuple[int, frozenset[tuple[Bin, int]]]] = set()
        self._last = [max(1, amount) for amount in pods[-1][0].room] if pods else []
        asked = [(0,) * (2 * len(self._last))]
        for item, devices in reversed(pods):
            more = self._weighed([item.room])
            row = zip(asked[-1], more, strict=True)
            asked.append(tuple(had + devices * each for had, each in row))
        self._asked = asked[::-1]

    def run(self, bins: Sequence[Bin], at: int = 0) -> Chosen | None:
        """
        Give the places of the pods from one on; none where there are none, or too late.
        """
        if at == len(self._pods):
            return ()
        key = at, frozenset(Counter(bins).items())
        if key in self._failed or not self._could_hold(bins, at):
            return None
        found = self._tried(bins, at)
        if found is None:
            self._failed.add(key)
        return found

    def _could_hold(self, bins: Sequence[Bin], at: int) -> bool:
        """
        Tell whether sums allow the rest, and how often the last of it goes into what.
        """
        free = self._weighed([device.room for device in bins])
        return all(asked <= b for asked, b in zip(self._asked[at], free, strict=True))

    def _weighed(self, rooms: Sequence[tuple[int, ...]]) -> list[int]:
        found = []
        for at, size in enumerate(self._last):
            amounts = [room[at] for room in rooms]
            found += [sum(amounts), sum([amount // size for amount in amounts])]
        return found

    def _tried(self, bins: Sequence[Bin], at: int) -> Chosen | None:
        item, devices = self._pods[at]
        puts = [(i, more) for i, one in enumerate(bins) if (more := put(one, item))]
        seen: set[tuple[Bin, ...]] = set()
        puts.sort(key=lambda each: (bins[each[0]].room, each[0]))
        for chosen in combinations(puts, devices):
            kind = tuple(bins[i] for i, _ in chosen)
            if kind in seen:
                continue
            seen.add(kind)
            self._tries -= 1
            if self._tries < 0:
                return None
            after = list(bins)
            for i, more in chosen:
                after[i] = more
            rest = self.run(after, at + 1)
            if rest is not None:
                return (tuple(sorted(i for i, _ in chosen)), *rest)
        return None

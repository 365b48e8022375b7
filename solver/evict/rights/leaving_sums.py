"""
What leaves, added up: its number, its amounts and largest units, and who starts for it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from models.plan import Rule
from models.resources import Resources, add
from solver.evict.rights.cores import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaver:
    """
    What leaves at one go: of which gang, by which rule, and what its units hold.
    """

    gang: str
    queue: str
    band: int
    rule: Rule
    parts: Parts
    pods: int
    budgets: tuple[int, ...] = ()


@dataclass(slots=True)
class Sums:
    """
    What leaves added up: its number, what it holds in all, and the largest units.
    """

    number: int = 0
    total: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, dict[int, int]] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)

    def add(self, parts: Parts, sign: int) -> None:
        """
        Add what leaves, or take it out.
        """
        self.number += sign
        for name in parts.held:
            self.held[name] += sign
        for name, amount in parts.amounts.items():
            if not amount:
                continue
            self.total[name] = self.total.get(name, 0) + sign * amount
            sizes = self.sizes.setdefault(name, {})
            size = parts.largest[name]
            count = sizes.get(size, 0) + sign
            if count:
                sizes[size] = count
            else:
                del sizes[size]

    def largest(self, name: str) -> int:
        """
        Give the size of the largest unit.
        """
        return max(self.sizes.get(name, ()), default=0)

    def holds(self, name: str) -> bool:
        """
        Tell whether every unit holds something of a resource.
        """
        return self.held[name] == self.number


@dataclass(slots=True)
class Preempted:
    """
    What is preempted inside each leaf queue, and what starts there, by band.
    """

    queues: dict[str, dict[int, Sums]] = field(default_factory=dict)
    _started: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)

    def start(self, queue: str, band: int, asked: Resources, sign: int) -> None:
        """
        Count what a start asks for, or take it back.
        """
        bands = self._started.setdefault(queue, {})
        add(bands.setdefault(band, {}), asked, sign)

    def add(self, leaver: Leaver, sign: int) -> None:
        """
        Count what leaves, or what stays after all.
        """
        bands = self.queues.setdefault(leaver.queue, {})
        bands.setdefault(leaver.band, Sums()).add(leaver.parts, sign)

    def may_lose(self, queue: str) -> bool:
        """
        Tell whether higher bands start more than leaves below, less one unit.
        """
        rows = {b: row for b, row in self.queues[queue].items() if row.number}
        started = self._started.get(queue, {})
        return not rows or any(
            all(row.holds(name) for row in rows.values())
            and all(_is_less(rows, started, band, name) for band in rows)
            for name in sorted({name for row in started.values() for name in row})
        )


def _is_less(
    rows: Mapping[int, Sums],
    started: Mapping[int, Mapping[str, int]],
    band: int,
    name: str,
) -> bool:
    """
    Tell whether a band and those above it lose less than starts above it ask for.
    """
    high = [row for b, row in rows.items() if b >= band]
    gone = sum(row.total.get(name, 0) for row in high)
    largest = max(row.largest(name) for row in high)
    above = sum(row.get(name, 0) for b, row in started.items() if b > band)
    return gone - largest < above

"""
Gangs that the cluster did not let go: nobody asks them again for a while.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from adapters.machine.backoff import Backoff
from models.gangs import DisruptionBudget
from models.memory.aged_gangs import places_of, replaced
from models.receipt import Receipt
from models.snapshot import Snapshot

EXIT_BACKOFF: Final = Backoff(first=5.0, longest=300.0)
"""
How long a gang is left alone of which a pod was not let go.
"""
_LEAVES: Final = frozenset({"Evict", "Move"})


@dataclass(slots=True)
class RefusedExits:
    """
    How often in a row each gang was not let go, and until when it is left alone.

    It is not kept for who leads next: he asks once, and learns it.
    """

    _kept: dict[str, tuple[int, float]] = field(default_factory=dict)

    def note(self, receipts: Iterable[Receipt], now: float) -> None:
        """
        Note who was not let go, and forget who was.

        What fails in passing, such as a server that is gone for a moment, is asked once
        more first: else others would leave instead of a gang that left in half.
        """
        results: dict[str, set[str]] = {}
        for receipt in receipts:
            if receipt.operation.op in _LEAVES:
                results.setdefault(receipt.operation.gang, set()).add(receipt.result)
        for key, found in results.items():
            if found & {"refused", "again"}:
                failures = 1 + self._kept.get(key, (0, 0.0))[0]
                is_alone = failures > 1 or "refused" in found
                until = now + EXIT_BACKOFF.after(failures) if is_alone else now
                self._kept[key] = failures, until
            elif "done" in found:
                self._kept.pop(key, None)
        kept, longest = self._kept.items(), EXIT_BACKOFF.longest
        self._kept = {k: x for k, x in kept if -2 * longest <= x[1] - now <= longest}

    def applied(self, snapshot: Snapshot, now: float) -> Snapshot:
        """
        Give the snapshot in which none of these gangs may leave.
        """
        there = places_of(snapshot.gangs)
        stay = sorted(key for key, _ in self._alone(now) if key in there)
        if not stay:
            return snapshot
        budgets = [
            DisruptionBudget(name=f"{key} was not let go", gangs=(key,), allowed=0)
            for key in stay
        ]
        gangs = {
            there[key]: replace(snapshot.gangs[there[key]], stale_after=-1)
            for key in stay
        }
        return replace(
            snapshot,
            gangs=replaced(snapshot.gangs, gangs),
            budgets=(*snapshot.budgets, *budgets),
        )

    def eases_in(self, now: float) -> float:
        """
        Give the seconds until the first of them may be asked again.
        """
        return min((until - now for _, until in self._alone(now)), default=inf)

    def _alone(self, now: float) -> Iterator[tuple[str, float]]:
        """
        Walk the gangs that are left alone; a clock that was set back ends that.
        """
        for key, (_, until) in self._kept.items():
            if now < until <= now + EXIT_BACKOFF.longest:
                yield key, until

"""
What is remembered of each gang, by name, and put beside what a snapshot says of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from adapters.loop.memory.gang_memory import GangMemory
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.promises import Promise
from adapters.loop.memory.unchanged import leaving_for_others
from adapters.machine.backoff import Backoff
from models.gangs import (
    Gang,
    MatchPolicy,
    is_complete,
    running_pods,
)
from models.plan import Plan
from models.receipt import Receipt
from solver import is_live

BIND_BACKOFF: Final = Backoff(first=5.0, longest=300.0)
"""
How long a gang waits after binds that were refused.
"""
_FORGOTTEN_AFTER: Final = 600.0
_SAME_BIRTH: Final = 5.0


class GangTable(dict[str, GangMemory]):
    """
    The memory of each gang, by its name.

    ``stale_after`` is how many seconds a gang may stay in half by our fault.  Of those
    that are shown as bound before they are nothing is noted meanwhile.
    """

    def __init__(self, stale_after: int, holds: HoldMemory) -> None:
        super().__init__()
        self._stale_after = stale_after
        self._holds = holds
        self._begun: set[str] = set()
        self._held: set[str] = set()
        self._spared: dict[str, float | None] = {}

    def of(self, gang: Gang, now: float) -> GangMemory:
        """
        Give the memory of a gang; from now on there is one.
        """
        return self.setdefault(gang.key, GangMemory(born=now - gang.age, seen=now))

    def begin(self, plan: Plan, gangs: Mapping[str, Gang], now: float) -> None:
        """
        Hear what is bound from now on, and shown as bound before it is, and who leaves.
        """
        self._begun = {step.gang for step in plan.operations if step.op == "Bind"}
        self._spared = {}
        for step in leaving_for_others(plan):
            held = self.of(gangs[step.gang], now)
            self._spared.setdefault(step.gang, held.evicted_at)
            held.evicted_at, held.halved = now, held.halved or step.op == "Evict"

    def leaves(self, gang: Gang, now: float) -> None:
        """
        Hear that a pod of a gang was let go.
        """
        self.of(gang, now).evicted_at = now
        self._spared.pop(gang.key, None)

    def spare(self) -> None:
        """
        Forget that gangs had to leave of which nobody was let go.
        """
        for key in self._spared.keys() & self.keys():
            self[key].evicted_at = self._spared[key]
        self._spared = {}

    def break_off(self) -> None:
        """
        Hear that carrying a plan out broke: nobody will say what was done of it.
        """
        self._begun, self._spared = set(), {}

    def forget_all(self) -> None:
        """
        Know of no gang.
        """
        self.clear()
        self.break_off()
        self._held = set()

    def made_to_leave(self) -> dict[str, float]:
        """
        Give when each gang had to leave that had to.
        """
        gangs = self.items()
        return {k: m.evicted_at for k, m in gangs if m.evicted_at is not None}

    def forget_unseen(self, now: float) -> None:
        """
        Forget gangs that nobody has seen for long; a clock may be set back meanwhile.
        """
        for held in self.values():
            held.seen = min(held.seen, now)
        late = now - _FORGOTTEN_AFTER
        for key in [key for key, held in self.items() if held.seen < late]:
            del self[key]

    def applied(self, gang: Gang, now: float) -> Gang:
        """
        Give a gang with what is remembered of it.
        """
        held = self.get(gang.key)
        whole = is_complete(gang)
        if held is None and whole:
            return gang
        born = now - gang.age
        if held is not None and held.born and born > held.born + _SAME_BIRTH:
            # Another one of that name; pods that had to leave may be made anew, though.
            held = GangMemory(evicted_at=held.evicted_at)
            self[gang.key] = held
            self._holds.forget((gang.key,))
        live = whole or is_live(gang)
        is_shown = gang.key in self._begun | self._held
        if live and not is_shown:
            self._holds.forget((gang.key,))
        below = not live and any(running_pods(gang))
        if held is None:
            if not below:
                return gang
            held = self.of(gang, now)
        held.born, held.seen = held.born or born, now
        held.set_back(now, 2 * BIND_BACKOFF.longest)
        if not is_shown:
            self._note(gang, held, now, live=live, below=below)
        held_for, held_first = (0, None) if live else self._holds.of(gang.key, now)
        return replace(
            gang,
            passed_over=0 if live else _waited(held, now),
            held_for=held_for,
            held_first=held_first,
            lent_by=held.lent_by,
            evicted_ago=_since(held.evicted_at, now),
            backoff=max(gang.backoff, ceil(held.again_at - now), 0),
            stale_since=_stale_since(gang, held, now),
            stale_after=self._grace(gang, held),
            once_satisfied=gang.once_satisfied or held.satisfied,
        )

    @staticmethod
    def _note(
        gang: Gang, held: GangMemory, now: float, *, live: bool, below: bool
    ) -> None:
        """
        Note where a gang stands now.
        """
        if live:
            held.waited, held.waits_since = 0.0, None
            if gang.match_policy is MatchPolicy.ONCE_SATISFIED:
                held.satisfied = True
        if not below:
            held.below_since, held.halved = None, held.halved and not live
        elif held.below_since is None:
            held.below_since = now

    def _grace(self, gang: Gang, held: GangMemory) -> int | None:
        """
        Give how long a gang may run below its minimum: what is our fault we mend.
        """
        off = gang.stale_after is not None and gang.stale_after < 0
        return self._stale_after if off and held.halved else gang.stale_after

    def bound(
        self, gang: Gang, receipts: Sequence[Receipt], now: float
    ) -> list[Promise]:
        """
        Note what became of binds; give those to be made again at the same places.
        """
        self._begun.discard(gang.key)
        self._held.discard(gang.key)
        if any(receipt.result == "held" for receipt in receipts):
            self._held.add(gang.key)
        receipts = [receipt for receipt in receipts if receipt.result != "held"]
        failed = [receipt for receipt in receipts if receipt.result != "done"]
        if not receipts:
            return []  # nothing of it is bound yet
        if not failed and gang.key not in self:
            return []
        held = self.of(gang, now)
        if not failed:
            held.failures, held.again_at, held.halved = 0, 0.0, False
            return []
        held.halved = held.halved or len(failed) < len(receipts)
        again: list[Promise] = []
        tried = {receipt.result for receipt in failed}
        if "refused" in tried or (held.failures and "again" in tried):
            held.again_at = now + BIND_BACKOFF.after(held.failures + 1)
        elif held.halved:
            again = [Promise.of(receipt.operation) for receipt in failed]
        held.failures += bool(tried & {"refused", "again"})
        return again


def _waited(held: GangMemory, now: float) -> int:
    since = 0.0 if held.waits_since is None else max(0.0, now - held.waits_since)
    return int(held.waited + since)


def _since(moment: float | None, now: float) -> int | None:
    return None if moment is None else max(0, int(now - moment))


def _stale_since(gang: Gang, held: GangMemory, now: float) -> int | None:
    if gang.stale_since is not None:
        return gang.stale_since
    ordinary = gang.match_policy is MatchPolicy.ONCE_SATISFIED and (
        gang.once_satisfied or held.satisfied
    )
    return None if ordinary else _since(held.below_since, now)

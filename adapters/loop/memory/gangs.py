"""
What a loop remembers of gangs between its rounds, since no snapshot can know it.

Who was passed over for how long, who had to leave, whose bind was refused, which places
are promised.  It decides nothing: planning reads it as fields of the snapshot.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.loop.memory.ended_gangs import EndedGangs
from adapters.loop.memory.gang_memory import (
    GangMemory,
    as_number,
    importance,
    known,
    plain,
)
from adapters.loop.memory.gang_table import GangTable
from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.promises import Promise, Promises
from adapters.loop.memory.refused_exits import RefusedExits
from adapters.loop.memory.start_memory import StartMemory
from adapters.loop.memory.unchanged import Stillness
from adapters.loop.memory.used_so_far import UsageMemory
from models.gangs import Gang, is_complete
from models.memory.aged_gangs import by_name, places_of, replaced, still
from models.memory.kept import Kept
from models.memory.start_record import lines_of
from models.plan import Plan
from models.receipt import Receipt
from models.snapshot import Snapshot
from solver import beyond_quotas, not_chosen


class Memory:
    """
    What is remembered of all gangs, and the places that are promised.

    ``stale_after`` is how many seconds a gang may stay in half by our fault, ``window``
    for how many it is remembered what idled for heads; what queues used counts half
    after ``half_life``.  For ``evict_after`` seconds after we led for the first time of
    all, nobody leaves.
    """

    def __init__(
        self,
        stale_after: int = 60,
        evict_after: float = 0.0,
        window: int = 86400,
        half_life: int | None = None,
    ) -> None:
        self.promises = Promises()
        self.refused = RefusedExits()
        self.first_led: float | None = None
        self._evict_after = evict_after
        self._window = window
        self._whole: Kept[Gang, bool] = Kept(is_complete)
        self.held = HeldTime(window)
        self._ended = EndedGangs()
        self._starts = StartMemory()
        self._holds = HoldMemory()
        self.gangs = GangTable(stale_after, self._holds)
        self._usage = UsageMemory(half_life)
        self._stillness = Stillness()

    def applied(self, snapshot: Snapshot, now: float) -> Snapshot:
        """
        Give the snapshot with what is remembered of its gangs.
        """
        changed = self._changed(snapshot.gangs, now)
        self.gangs.forget_unseen(now)
        known = replace(snapshot, gangs=replaced(snapshot.gangs, changed))
        self._starts.note(snapshot.gangs, now)
        known = replace(
            known,
            unchanged_for=self._stillness.seconds(known, now),
            held=self.held.within(now),
            queues=self._usage.applied(known.queues, now),
            run_times=self._ended.note(snapshot, now, self.gangs.made_to_leave()),
            starts=self._starts.record(now),
        )
        if self._usage.half_life is not None:
            self._usage.note(beyond_quotas(known), now)
        return self.refused.applied(self.promises.applied(known, now), now)

    def _changed(self, gangs: Sequence[Gang], now: float) -> dict[int, Gang]:
        """
        Give the gangs that do not run whole, or are remembered, by their places.
        """
        there = places_of(gangs)
        self._holds.forget([key for key in self._holds.gangs if key not in there])
        places = {there[key] for key in self.gangs.keys() & there.keys()}
        whole = self._whole.of(still(gangs))
        places.update(at for at, is_whole in enumerate(whole) if not is_whole)
        return {at: self.gangs.applied(gangs[at], now) for at in sorted(places)}

    def planned(self, snapshot: Snapshot, plan: Plan, now: float) -> None:
        """
        Note who was passed over and which places are promised, and what is begun.
        """
        self.passed_over(snapshot, plan, now)
        self.gangs.begin(plan, by_name(snapshot.gangs), now)
        self._stillness.planned(plan, now)

    def passed_over(self, snapshot: Snapshot, plan: Plan, now: float) -> None:
        """
        Note who was passed over, and which places are promised.

        Of a plan that begins nothing it is all there is: one may be under way still.
        """
        gangs = by_name(snapshot.gangs)
        waiting = not_chosen(plan.gangs) & gangs.keys()
        self._starts.waits(lines_of(gangs[key] for key in sorted(waiting)), now)
        for key in waiting:
            held = self.gangs.of(gangs[key], now)
            if held.waits_since is None:
                held.waits_since = now
        for key in self.gangs.keys() & gangs.keys() - waiting:
            held = self.gangs[key]
            if held.waits_since is not None:
                held.waited += max(0.0, now - held.waits_since)
                held.waits_since = None
        lenders = plan.lenders()
        starting = {line.name for line in plan.gangs if line.state == "Starting"}
        for key in starting & (self.gangs.keys() | lenders.keys()):
            self.gangs.of(gangs[key], now).lent_by = lenders.get(key, ())
        self.held.note(plan.held, now)
        self._holds.planned(plan.paid_holds(), now)
        self.promises.planned(snapshot, plan, now)

    def carried_out(
        self, snapshot: Snapshot, receipts: Sequence[Receipt], now: float
    ) -> None:
        """
        Note what became of every operation.
        """
        self.refused.note(receipts, now)
        gangs = by_name(snapshot.gangs)
        binds: dict[str, list[Receipt]] = {}
        for receipt in receipts:
            step = receipt.operation
            if step.op == "Bind":
                binds.setdefault(step.gang, []).append(receipt)
            elif step.op in {"Evict", "Move"}:
                if receipt.result != "done":
                    self.promises.void((step.gang, *step.beneficiaries))
                elif step.rule != "stale":
                    self.gangs.leaves(gangs[step.gang], now)
            if receipt.result not in {"done", "held"}:
                self._stillness.broken()
        self.gangs.spare()
        for key, mine in binds.items():
            for promise in self.gangs.bound(gangs[key], mine, now):
                self.promises.hold(promise)

    def intended(self, promises: Iterable[Promise], now: float) -> None:
        """
        Take binds that somebody began, and may not have ended, for promises.
        """
        for promise in promises:
            self.promises.hold(promise)
            held = self.gangs.setdefault(promise.gang, GangMemory(seen=now))
            held.halved = True

    def calm_for(self, now: float) -> float:
        """
        Give the seconds for which nobody leaves yet; 0 once that is over.

        A clock that was set back does not make it longer.
        """
        if self.first_led is None or now < self.first_led:
            return 0.0
        return max(0.0, self.first_led + self._evict_after - now)

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.

        The gangs that it matters most for come first: there may be no room for all.
        """
        some = ((key, held) for key, held in self.gangs.items() if not held.is_blank())
        gangs = {key: plain(held) for key, held in sorted(some, key=importance)}
        kept: dict[str, Any] = {"gangs": gangs, "promises": self.promises.document()}
        if self.first_led is not None:
            kept["first_led"] = round(self.first_led, 1)
        if (unchanged := self._stillness.document()) is not None:
            kept["unchanged"] = unchanged
        if (held := self.held.document())["slots"]:
            kept["held"] = held
        if (holds := self._holds.document())["held"]:
            kept["holds"] = holds
        kept |= self._ended.document()
        if (starts := self._starts.document()) is not None:
            kept["starts"] = starts
        if self._usage.half_life is not None:
            kept["usage"] = self._usage.document()
        return kept

    def restore(self, document: Mapping[str, Any], now: float) -> int:
        """
        Take what was kept, in place of what we remember; count what is not as we write.

        Another version may have written it: what it says besides is passed by, and
        what it does not say has a default.
        """
        gangs, promises = document.get("gangs"), document.get("promises")
        self.first_led = as_number(document.get("first_led"))
        self.gangs.forget_all()
        lost = 0
        for key, said in gangs.items() if isinstance(gangs, Mapping) else ():
            if isinstance(said, Mapping):
                self.gangs[key] = GangMemory(**known(said), seen=now)
            else:
                lost += 1
        self._stillness = Stillness()
        lost += not self._stillness.restore(document.get("unchanged"))
        self.held = HeldTime(self._window)
        lost += not self.held.restore(document.get("held"))
        lost += not self._usage.restore(document.get("usage"))
        lost += not self._holds.restore(document.get("holds"))
        lost += not self._ended.restore(document)
        lost += not self._starts.restore(document.get("starts"))
        self.promises = Promises()
        return lost + self.promises.restore(
            promises if isinstance(promises, list) else ()
        )

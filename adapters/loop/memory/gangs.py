"""
What a loop remembers of gangs between its rounds, since no snapshot can know it.

Who was passed over for how long, who had to leave, whose bind was refused, which places
are promised.  It decides nothing: planning reads it as fields of the snapshot.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, Final

from adapters.loop.memory.ended_gangs import EndedGangs
from adapters.loop.memory.gang_memory import GangMemory, importance, known, plain
from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.promises import Promise, Promises
from adapters.loop.memory.start_memory import StartMemory
from adapters.loop.memory.unchanged import Stillness, leaving_for_others
from adapters.loop.memory.used_so_far import UsageMemory
from adapters.machine.backoff import Backoff
from models.aged_gangs import by_name, places_of, replaced, still
from models.gangs import Gang, MatchPolicy, PodPhase, is_complete, pod_sets
from models.kept import Kept
from models.plan import Plan
from models.receipt import Receipt
from models.snapshot import Snapshot
from models.start_record import lines_of
from solver import NOT_CHOSEN, beyond_quotas, is_live

BIND_BACKOFF: Final = Backoff(first=5.0, longest=300.0)
"""
How long a gang waits after binds that were refused.
"""
_FORGOTTEN_AFTER: Final = 600.0
_SAME_BIRTH: Final = 5.0


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
        self.gangs: dict[str, GangMemory] = {}
        self.promises = Promises()
        self.first_led: float | None = None
        self._stale_after = stale_after
        self._evict_after = evict_after
        self._window = window
        self._whole: Kept[Gang, bool] = Kept(is_complete)
        self._held = HeldTime()
        self._ended = EndedGangs()
        self._starts = StartMemory()
        self._holds = HoldMemory()
        self._usage = UsageMemory(half_life)
        self._stillness = Stillness()
        self._spared: dict[str, float | None] = {}

    def applied(self, snapshot: Snapshot, now: float) -> Snapshot:
        """
        Give the snapshot with what is remembered of its gangs.
        """
        changed, late = self._changed(snapshot.gangs, now), now - _FORGOTTEN_AFTER
        self.gangs = {k: m for k, m in self.gangs.items() if m.seen >= late}
        known = replace(snapshot, gangs=replaced(snapshot.gangs, changed))
        self._starts.note(snapshot.gangs, now)
        known = replace(
            known,
            unchanged_for=self._stillness.seconds(known, now),
            held=self._held.within(self._window, now),
            queues=self._usage.applied(known.queues, now),
            run_times=self._ended.note(snapshot, now, self._made_to_leave()),
            starts=self._starts.record(now),
        )
        if self._usage.half_life is not None:
            self._usage.note(beyond_quotas(known), now)
        return self.promises.applied(known, now)

    def _made_to_leave(self) -> dict[str, float]:
        gangs = self.gangs.items()
        return {k: m.evicted_at for k, m in gangs if m.evicted_at is not None}

    def _changed(self, gangs: Sequence[Gang], now: float) -> dict[int, Gang]:
        """
        Give the gangs that do not run whole, or are remembered, by their places.
        """
        there = places_of(gangs)
        self._holds.forget([key for key in self._holds.gangs if key not in there])
        places = {there[key] for key in self.gangs.keys() & there.keys()}
        whole = self._whole.of(still(gangs))
        places.update(at for at, is_whole in enumerate(whole) if not is_whole)
        return {at: self._gang(gangs[at], now) for at in sorted(places)}

    def planned(self, snapshot: Snapshot, plan: Plan, now: float) -> None:
        """
        Note who was passed over, and which places are promised.
        """
        passed = {
            line.name
            for line in plan.gangs
            if line.waiting is not None and line.waiting.reason in NOT_CHOSEN
        }
        gangs = by_name(snapshot.gangs)
        waiting = passed & gangs.keys()
        self._starts.waits(lines_of(gangs[key] for key in sorted(waiting)), now)
        for key in waiting:
            held = self._of(gangs[key], now)
            if held.waits_since is None:
                held.waits_since = now
        for key in self.gangs.keys() & gangs.keys() - passed:
            held = self.gangs[key]
            if held.waits_since is not None:
                held.waited += max(0.0, now - held.waits_since)
                held.waits_since = None
        self._held.note(plan.held, now)
        self._holds.planned(plan.holds, now)
        self.promises.planned(snapshot, plan, now)
        self._stillness.planned(plan, now)
        self._spared = {}
        for key in {step.gang for step in leaving_for_others(plan)}:
            held = self._of(gangs[key], now)
            self._spared[key], held.evicted_at = held.evicted_at, now

    def carried_out(
        self, snapshot: Snapshot, receipts: Iterable[Receipt], now: float
    ) -> None:
        """
        Note what became of every operation.
        """
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
                    self._of(gangs[step.gang], now).evicted_at = now
                    self._spared.pop(step.gang, None)
            if receipt.result not in {"done", "held"}:
                self._stillness.broken()
        for key, before in self._spared.items():
            self._of(gangs[key], now).evicted_at = before  # nobody of it left
        self._spared = {}
        for key, mine in binds.items():
            self._bound(gangs[key], mine, now)

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
        if (held := self._held.document())["slots"]:
            kept["held"] = held
        if (holds := self._holds.document())["held"]:
            kept["holds"] = holds
        if ended := self._ended.document():
            kept["ended"] = ended
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
        led = document.get("first_led")
        self.first_led = float(led) if isinstance(led, int | float) else None
        self.gangs, lost = {}, 0
        for key, said in gangs.items() if isinstance(gangs, Mapping) else ():
            if isinstance(said, Mapping):
                self.gangs[key] = GangMemory(**known(said), seen=now)
            else:
                lost += 1
        self._stillness, self._spared = Stillness(), {}
        lost += not self._stillness.restore(document.get("unchanged"))
        self._held = HeldTime()
        self._held.restore({**document.get("held", {}), "gpus": 0})
        lost += not self._usage.restore(document.get("usage"))
        lost += not self._holds.restore(document.get("holds"))
        lost += not self._ended.restore(document.get("ended"))
        lost += not self._starts.restore(document.get("starts"))
        self.promises = Promises()
        return lost + self.promises.restore(
            promises if isinstance(promises, list) else ()
        )

    def _of(self, gang: Gang, now: float) -> GangMemory:
        return self.gangs.setdefault(
            gang.key, GangMemory(born=now - gang.age, seen=now)
        )

    def _gang(self, gang: Gang, now: float) -> Gang:
        """
        Give a gang with what is remembered of it.
        """
        held = self.gangs.get(gang.key)
        whole = is_complete(gang)
        if held is None and whole:
            return gang
        born = now - gang.age
        if held is not None and held.born and born > held.born + _SAME_BIRTH:
            # Another one of that name; pods that had to leave may be made anew, though.
            held = GangMemory(evicted_at=held.evicted_at)
            self.gangs[gang.key] = held
            self._holds.forget((gang.key,))
        live = whole or is_live(gang)
        if live:
            self._holds.forget((gang.key,))
        below = not live and _runs(gang)
        if held is None:
            if not below:
                return gang
            held = self._of(gang, now)
        held.born, held.seen = held.born or born, now
        self._note(gang, held, now, live=live, below=below)
        held_for, held_first = self._holds.of(gang.key, now)
        return replace(
            gang,
            passed_over=_waited(held, now),
            held_for=held_for,
            held_first=held_first,
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

    def _bound(self, gang: Gang, receipts: list[Receipt], now: float) -> None:
        receipts = [receipt for receipt in receipts if receipt.result != "held"]
        failed = [receipt for receipt in receipts if receipt.result != "done"]
        if not receipts:
            return  # nothing of it is bound yet
        if not failed and gang.key not in self.gangs:
            return
        held = self._of(gang, now)
        if not failed:
            held.failures, held.again_at, held.halved = 0, 0.0, False
            return
        held.halved = len(failed) < len(receipts)
        tried = {receipt.result for receipt in failed}
        if "refused" in tried or (held.failures and "again" in tried):
            held.again_at = now + BIND_BACKOFF.after(held.failures + 1)
        elif held.halved:
            for receipt in failed:
                self.promises.hold(Promise.of(receipt.operation))
        held.failures += bool(tried & {"refused", "again"})


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


def _runs(gang: Gang) -> bool:
    return any(
        pod.phase is PodPhase.RUNNING
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )

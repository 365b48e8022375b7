"""
A cluster as a sink of plans: intent first, then binds and evictions, gang by gang.
"""

import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial

from adapters.kube.acting.devices.claimed_device_binder import ClaimedDeviceBinder
from adapters.kube.acting.executor import STOPPING, THREADS, carry_out
from adapters.kube.acting.held_binds import HeldBinds
from adapters.kube.acting.intent import MOST_BINDS, MOST_TEXT, IntentStore
from adapters.kube.acting.intent_format import Intent
from adapters.kube.acting.may_begin import StillWanted
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.volume_binder import Act
from adapters.kube.api.errors import ClusterError
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.promises import Promise
from models.memory.aged_gangs import still
from models.plan import Operation, Plan
from models.receipt import Receipt
from models.snapshot import Snapshot
from models.why.reasons import Waiting

_log = logging.getLogger(__name__)
_LEAVES = frozenset({"Evict", "Move"})
_UNTIL_DONE = 3_600.0
"""
The seconds for which a plan is shown as carried out unless that ends before.
"""


class ClusterSink:
    """
    Carries plans out in a cluster, one after the other.

    ``hold`` comes first: from then on the cache shows the plan as if carried out.  No
    further gang is begun once ``goes_on`` says no; begun ones are ended.
    """

    def __init__(
        self,
        cache: Cache,
        deeds: Deeds,
        store: IntentStore,
        memory: Memory,
        *,
        goes_on: Callable[[], bool] = lambda: True,
        threads: int = THREADS,
    ) -> None:
        self._cache = cache
        self._deeds = deeds
        self._store = store
        self._memory = memory
        self._held = HeldBinds(deeds, cache)
        self._devices = ClaimedDeviceBinder(deeds, cache)
        self._still = StillWanted(deeds)
        self._turn: Turn | None = None
        self._goes_on = goes_on
        self._carry_out = partial(carry_out, threads=threads, goes_on=goes_on)
        self._left_out: frozenset[Operation] = frozenset()
        self._intent = Intent()
        self._groups: dict[str, str] = {}

    @property
    def is_lost(self) -> bool:
        """
        Tell whether the intent is not ours any more, so that nothing can be begun.
        """
        return self._store.is_lost

    def open(self, now: float) -> None:
        """
        Begin to lead: what the last leader was about to bind is promised.
        """
        self._held.clear()
        found = self._store.claim()
        if lost := self._memory.restore(found.memory, now):
            _log.warning("memory_left_out", extra={"fields": {"entries": lost}})
        self._memory.intended(found.binds, now)
        self._intent = found
        if found == Intent():
            self._memory.first_led = now
            fields = {"seconds_without_evictions": self._memory.calm_for(now)}
            _log.info("led_for_the_first_time", extra={"fields": fields})

    def hold(self, turn: Turn) -> None:
        """
        Take what a plan binds for bound and what it evicts for leaving, from now on.
        """
        self._turn, steps = turn, turn.plan.operations
        self._still = StillWanted(self._deeds, steps)
        binds = [step for step in steps if step.op == "Bind"]
        self._groups = _groups(turn.snapshot, binds)
        binds, self._left_out = self._within_bounds(binds)
        self._held.turn(binds)
        for step in binds:
            notes = self._held.notes(step) or self._deeds.devices.notes_now(step)
            self._cache.assume(step.pod, step.uid or "", step.node, _UNTIL_DONE, notes)
        for step in steps:
            if step.op in _LEAVES:
                _show(self._cache, step, _UNTIL_DONE)
        self._intent = Intent(
            round=turn.name,
            binds=(*self._held.promised, *map(Promise.of, binds)),
            memory=self._memory.document(),
        )

    def looked(self, snapshot: Snapshot, pause: Waiting | None) -> None:
        """
        Give up gangs that wait for volumes, or another binder, and may not begin now.
        """
        self._held.looked(snapshot, pause)

    def due(self) -> Turn | None:
        """
        Give the binds of a gang that waited for volumes, or for another binder.
        """
        turn = self._held.due()
        if turn is not None:
            self._groups = _groups(turn.snapshot, turn.plan.operations)
        return turn

    def execute(self, plan: Plan) -> Sequence[Receipt]:
        """
        Carry a plan out as far as it goes, with a receipt for each of its operations.
        """
        left = self._left_out
        steps = [s for s in plan.operations if s.op != "Reserve" and s not in left]
        try:
            receipts = dict(zip(steps, self._carried_out(steps), strict=True))
        except BaseException:
            for step in steps:
                _show(self._cache, step)
            raise
        for step, receipt in receipts.items():
            if receipt.result == "done":
                _show(self._cache, step)
            elif receipt.result != "held":
                self._cache.forget(step.pod)
        return [receipts.get(step) or _kept(step, left) for step in plan.operations]

    def remember(self) -> None:
        """
        Keep what is remembered, and what waits for volumes, where it has changed.

        Devices that were given to pods without a node are taken back.
        """
        self._devices.sweep()
        self._held.sweep()
        now = Intent(binds=self._held.promised, memory=self._memory.document())
        if now != self._intent:
            self._store.write(now)
            self._intent = now

    def _carried_out(self, steps: Sequence[Operation]) -> Sequence[Receipt]:
        """
        Store the intent, then do it.
        """
        if not steps:
            return []
        self._deeds.begin()
        try:
            self._deeds.patiently(partial(self._store.write, self._intent))
        except ClusterError as error:
            fields = {"error": str(error), "skipped": len(steps)}
            _log.warning("intent_not_stored", extra={"fields": fields})
            return [_skipped(step, str(error)) for step in steps]
        found: dict[Operation, Receipt] = {}
        lacking: dict[str, list[Operation]] = {}
        for name, unit in _units(steps, self._groups).items():
            binds = [step for step in unit if step.op == "Bind"]
            ended = self._held.ended(name, binds) if binds else None
            found |= {one.operation: one for one in ended or ()}
            if not ended and self._held.lacks(binds, are_new=ended is None):
                lacking[name] = binds
        held = {step for binds in lacking.values() for step in binds}
        now = [step for step in steps if step not in found and step not in held]
        found |= self._done_with_devices(now)
        for name, binds in lacking.items():
            found |= zip(binds, self._begun(name, binds), strict=True)
        return [found[step] for step in steps]

    def _done_with_devices(
        self, steps: Sequence[Operation]
    ) -> dict[Operation, Receipt]:
        """
        Bind and evict, after claims of devices have theirs.
        """
        binds = _units((x for x in steps if x.op == "Bind"), self._groups)
        units = self._devices.concerned(binds)
        found = self._devices.prepare(units, self._run) if units else {}
        now = [step for step in steps if step not in found]
        found |= zip(now, self._run(now, self._done), strict=True)
        mine = {step for unit in units.values() for step in unit}
        self._devices.settle(found[step] for step in now if step in mine)
        return found

    def _begun(self, name: str, binds: Sequence[Operation]) -> list[Receipt]:
        """
        Let the claims of a gang be bound before its pods, or another binder bind them.
        """
        if self._turn is None or not self._goes_on():
            return [_skipped(step, STOPPING) for step in binds]
        return self._held.begin(name, self._turn, binds, self._run)

    def _run(self, steps: Sequence[Operation], act: Act) -> list[Receipt]:
        why_not = self._still.why_not
        return self._carry_out(steps, act, groups=self._groups, why_not=why_not)

    def _within_bounds(
        self, binds: list[Operation]
    ) -> tuple[list[Operation], frozenset[Operation]]:
        """
        Part the binds that one intent can store from those left to the next round.
        """
        room = min(MOST_BINDS, MOST_TEXT // max(map(_letters, binds), default=1))
        if len(binds) <= room:
            return binds, frozenset()
        taken: list[Operation] = []
        for unit in _units(binds, self._groups).values():
            if len(taken) + len(unit) <= room or not taken:
                taken += unit
        return taken, frozenset(binds) - frozenset(taken)

    def _done(self, step: Operation) -> Receipt:
        if step.op != "Bind":
            return self._deeds.evict(step)
        if self._held.is_bound(step):
            return Receipt(operation=step, result="done")
        return self._deeds.bind(step)


def _units(
    steps: Iterable[Operation], groups: Mapping[str, str]
) -> dict[str, list[Operation]]:
    """
    Part operations by the gangs, or groups of gangs, that start together.
    """
    units: dict[str, list[Operation]] = {}
    for step in steps:
        units.setdefault(groups.get(step.gang, step.gang), []).append(step)
    return units


def _show(cache: Cache, step: Operation, seconds: float | None = None) -> None:
    """
    Let an operation be shown as done for a while, until the API server says so.
    """
    if step.op in _LEAVES:
        cache.assume_leaving(step.pod, step.uid or "", seconds)
    elif step.op == "Bind":
        cache.assume(step.pod, step.uid or "", step.node, seconds)


def _letters(step: Operation) -> int:
    return len(step.gang) + len(step.pod) + len(step.node) + len(step.uid or "") + 16


def _kept(step: Operation, left_out: Container[Operation]) -> Receipt:
    if step in left_out:
        return _skipped(step, "left to the next round: no round stores more binds")
    return Receipt(operation=step, result="done", message="held, nothing written")


def _skipped(step: Operation, why: str) -> Receipt:
    return Receipt(operation=step, result="skipped", message=why)


def _groups(snapshot: Snapshot, steps: Iterable[Operation]) -> dict[str, str]:
    """
    Name the group of each gang that starts together with others.
    """
    wanted = {step.gang for step in steps}
    return {
        gang.key: " ".join(sorted(gang.mates))
        for gang in still(snapshot.gangs)
        if gang.mates and gang.key in wanted
    }

"""
The loop: look, decide, carry out; for as long as we lead.

While a plan is carried out the next round is decided, on a snapshot that shows the plan
as if carried out, as soon as something has changed: else there is nothing new to decide
by, and binds need the machine.  One plan waits at most, and is dropped where the one
before it did not go as planned.  Nothing about gangs is decided here.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from uuid import uuid4

from adapters.files import bundles
from adapters.loop.execution import Execution, begin
from adapters.loop.interfaces import Reporter, Turn
from adapters.loop.parts import Parts
from adapters.loop.paused import withheld
from adapters.machine.backoff import Backoff
from models.errors import PhalanxError, PlanRejectedError
from models.plan import FailedTry, Plan
from models.reasons import Waiting
from models.snapshot import Snapshot
from solver import next_moment

_REMEMBER_EVERY = 30.0
_AFTER_ERROR = 5.0
_REST = Backoff(first=_AFTER_ERROR, longest=60.0)
_AFTER_FAILURE = 0.5


@dataclass(slots=True)
class _Quiet:
    """
    Until when, until which change, and in which pause there is nothing to do.
    """

    revision: int
    until: float
    pause: Waiting | None = None


@dataclass(slots=True)
class Loop:
    """
    Rounds in the thread that calls ``run``, until another calls ``stop``.
    """

    parts: Parts
    _leads: bool = False
    _quiet: _Quiet | None = None
    _running: Execution | None = None
    _next: Turn | None = None
    _acted_on: int = -1
    _planned_at: float = 0.0
    _spent: float = 0.0
    _about: Snapshot | None = None
    _errors: int = 0
    _rest: float = 0.0
    _remembered_at: float = 0.0
    _owed: float | None = None
    _paused: Waiting | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """
        Do rounds until we are stopped, and end what was begun.
        """
        while not self._stopped.is_set():
            try:
                self.step()
                pause, self._errors = self._pause(), 0
            except Exception as error:  # noqa: BLE001 - the top of the loop
                pause = self._broke(error)
            self._wait(pause)
        self._wind_down()

    def stop(self) -> None:
        """
        Let the loop end; what is begun is ended first.
        """
        self._stopped.set()
        self.parts.source.changed.set()

    @property
    def is_stopping(self) -> bool:
        """
        Tell whether nothing new is begun any more.
        """
        return self._stopped.is_set()

    def step(self) -> None:
        """
        Look once, and do what there is to do.
        """
        self._tell(lambda to: to.ticked())
        self._about = None
        self._collect()
        if not self._lead():
            return
        if self._owed is not None and self.parts.clock() >= self._owed:
            self._remember()
        if self._next is not None:
            self._carry_out()
        elif self._running is None and (held := self.parts.sink.due()) is not None:
            parts = self.parts
            self._running = begin(held, parts.sink, parts.clock, self._over)
        elif self._is_quiet():
            self._tell(lambda to: to.skipped())
            if self.parts.clock() >= self._remembered_at + _REMEMBER_EVERY:
                self._remember()
        elif not self._is_awaiting():
            self._round()

    def _lead(self) -> bool:
        """
        Tell whether we lead, and begin or end doing so.
        """
        held = self.parts.leadership.is_held()
        if held and not self._leads:
            if self._running is not None:
                return False  # of an earlier term; its binds stop by themselves
            self.parts.sink.open(self.parts.now())
            self._quiet = None
        if held != self._leads:
            self._leads = held
            self._tell(lambda to: to.leading(is_leader=held))
        if not held and self._next is not None:
            self._drop("we no longer lead")
        return held

    def _is_quiet(self) -> bool:
        quiet = self._quiet
        if quiet is None:
            return False
        if self.parts.pause() != quiet.pause:
            return False
        fresh = self.parts.pulse.events or self._is_due()
        if fresh and self.parts.source.revision != quiet.revision:
            return False
        return self.parts.now() < quiet.until

    def _is_awaiting(self) -> bool:
        """
        Tell whether nothing has changed since the plan that is carried out.
        """
        if self._running is None or self._is_due():
            return False
        return self.parts.source.revision == self._acted_on

    def _is_due(self) -> bool:
        return self.parts.clock() >= self._planned_at + self.parts.pulse.interval

    def _round(self) -> None:
        """
        Decide once.
        """
        parts = self.parts
        began, revision = parts.now(), parts.source.revision
        start, self._paused = parts.clock(), parts.pause()
        try:
            self._about = parts.source.snapshot()
            self._about = snapshot = parts.memory.applied(self._about, began)
        except PhalanxError as caught:
            refusal = caught
            self._tell(lambda to: to.refused(refusal))
            self._rest = _AFTER_FAILURE
            return
        seen = parts.clock()
        name = _name(began)
        plan = self._decided(snapshot, name, began)
        self._planned_at = parts.clock()
        self._spent = self._planned_at - start
        if plan is None:
            self._quieten(snapshot, began, revision)
            return
        seconds = {"snapshot": seen - start, "plan": self._planned_at - seen}
        turn = Turn(snapshot, plan, (), name, began, seconds)
        if plan.fallback is not None:
            bundle = self._keep(name, snapshot, plan.fallback.failed)
            self._tell(lambda to: to.fell_back(turn, bundle))
        self._take(turn, revision)

    def _take(self, turn: Turn, revision: int) -> None:
        """
        Begin with a plan that has something to do, where it may be done.
        """
        parts, plan = self.parts, turn.plan
        if self._paused is not None or not parts.acts:
            why = self._paused
            shown = replace(turn, plan=withheld(plan, why)) if why else turn
            self._tell(lambda to: to.planned(shown))
            self._quieten(turn.snapshot, turn.began, revision)
            return
        idle = parts.memory.promises.repeats(plan)
        self._tell(lambda to: to.planned(turn))
        if idle:
            parts.memory.planned(turn.snapshot, plan, turn.began)
            self._quieten(turn.snapshot, turn.began, revision, plan.held)
        else:
            self._quiet, self._acted_on = None, revision
            self._next = turn
            self._carry_out()

    def _decided(self, snapshot: Snapshot, name: str, began: float) -> Plan | None:
        """
        Give a plan; of one that breaks a rule keep what shows it, and nothing else.
        """
        parts = self.parts
        try:
            return parts.planner(snapshot, parts.policy_at(began))
        except PlanRejectedError as caught:
            error, bundle = caught, self._keep(name, snapshot, caught.failed, caught)
            self._tell(lambda to: to.rejected(snapshot, error, bundle))
        return None

    def _broke(self, error: Exception) -> float:
        """
        Keep what shows an error that nobody expected, and rest, longer each time.

        Nothing is begun by a round that breaks.  Changes do not end the rest: who
        breaks on what is there breaks on every change.  A server that is away before
        anything was looked at is tried again soon; give the pause for that.
        """
        if isinstance(error, PhalanxError) and self._about is None:
            self._tell(_failed(error))
            self._quiet = None
            return _AFTER_ERROR
        self._errors += 1
        path = self._keep(_name(self.parts.now()), self._about, (), error)
        if path is not None:
            error.add_note(f"kept in {path}")
        self._tell(_failed(error))
        self._drop("a round broke")
        self._quiet = None
        self._rest = _REST.after(self._errors)
        return 0.0

    def _keep(
        self,
        name: str,
        snapshot: Snapshot | None,
        failed: Sequence[FailedTry],
        error: Exception | None = None,
    ) -> Path | None:
        """
        Write a bundle; of a round without a snapshot, where it broke.
        """
        parts, folder = self.parts, self.parts.folder
        if folder is None:
            return None
        try:
            if snapshot is not None:
                case = bundles.FailedRound(
                    snapshot, parts.policy_at(parts.now()), failed
                )
                return bundles.save(folder, name, case, error)
            return None if error is None else bundles.trace(folder, name, error)
        except Exception as worse:  # noqa: BLE001 - what is lost is only the bundle
            self._tell(_failed(worse))
            return None

    def _quieten(
        self, snapshot: Snapshot, now: float, revision: int, held: int = 0
    ) -> None:
        """
        Note that there is nothing to do until something changes, or time changes it.
        """
        moment = next_moment(snapshot, self.parts.policy_at(now), held)
        calm = self.parts.memory.calm_for(now) or inf
        self._quiet = _Quiet(
            revision,
            now + min(calm, inf if moment is None else moment),
            self._paused,
        )

    def _carry_out(self) -> None:
        """
        Begin with the plan that waits, once the one before it has ended.
        """
        if self._running is not None or self._next is None:
            return
        if self.parts.pause() is not None:
            self._drop("we are paused")
            return
        parts, turn, self._next = self.parts, self._next, None
        parts.memory.planned(turn.snapshot, turn.plan, turn.began)
        parts.sink.hold(turn)
        self._running = begin(turn, parts.sink, parts.clock, self._over)

    def _over(self) -> None:
        """
        Hear that a plan is carried out, from the thread that did it.
        """
        self.parts.source.changed.set()

    def _collect(self) -> None:
        """
        Take what came of a plan, once it is carried out.
        """
        running = self._running
        if running is None or not running.is_over:
            return
        self._running, self._about = None, running.turn.snapshot
        if (done := running.done) is not None:
            self._tell(lambda to: to.carried_out(done))
            self.parts.memory.carried_out(
                done.snapshot, done.receipts, self.parts.now()
            )
        if not running.went_well:
            if done is not None and self._owed is None:
                self._owed = self.parts.clock()  # else the next leader believes the old
            self._drop("the plan before it did not go as planned")
            self._quiet, self._rest = None, _AFTER_FAILURE
        if running.error is not None:
            self._tell(lambda to: to.dropped(running.turn, "carrying it out broke"))
            raise running.error

    def _drop(self, why: str) -> None:
        dropped, self._next = self._next, None
        if dropped is not None:
            self._tell(lambda to: to.dropped(dropped, why))

    def _pause(self) -> float:
        """
        Give the seconds until the next look, where nothing changes before.
        """
        pulse = self.parts.pulse
        if self._next is not None or not self._leads:
            return pulse.interval
        if self._is_awaiting():
            return pulse.interval
        if self._quiet is None:
            return 2 * self._spent if self._running is not None else 0.0
        left = self._quiet.until - self.parts.now()
        return max(0.0, min(pulse.interval, left))

    def _wait(self, pause: float) -> None:
        """
        Wait for a change, and a moment longer, since one rarely comes alone.

        While binds are under way the next round leaves them the machine for a while.
        """
        changed, pulse = self.parts.source.changed, self.parts.pulse
        rest, self._rest = self._rest, 0.0
        if rest:
            self._stopped.wait(rest)
        if pause > 0:
            changed.wait(pause)
        changed.clear()
        if self._running is not None:
            self._running.join(max(pulse.settle, min(1.0, self._spent)))
        if pulse.settle:
            self._settle()

    def _settle(self) -> None:
        """
        Wait until no change follows another, at most for as long as a round takes.

        A gang that is seen in part would cost a whole round before the one that it is
        bound in.
        """
        parts = self.parts
        until = parts.clock() + min(1.0, self._spent)
        seen = -1
        while seen != (now := parts.source.revision):
            seen = now
            self._stopped.wait(parts.pulse.settle)
            if self._stopped.is_set() or parts.clock() >= until:
                return

    def _remember(self) -> None:
        """
        Keep what is remembered, for whoever leads after us; not while something binds.

        Where that fails rounds go on, and it is tried again: nothing is bound without
        an intent, which holds all of it.
        """
        if self._running is not None:
            return
        self._remembered_at, self._owed = self.parts.clock(), None
        try:
            self.parts.sink.remember()
        except PhalanxError as error:
            self._owed = self._remembered_at + _AFTER_ERROR
            self._tell(_failed(error))

    def _wind_down(self) -> None:
        """
        Wait until begun gangs are whole; leave the rest to the next leader.
        """
        self._drop("we stop")
        running = self._running
        if running is not None and not running.join(self.parts.pulse.shutdown):
            return
        try:
            self._collect()
            if self._leads and self.parts.leadership.is_held():
                self.parts.sink.remember()
        except Exception as error:  # noqa: BLE001 - we end in any case
            self._tell(_failed(error))

    def _tell(self, say: Callable[[Reporter], None]) -> None:
        """
        Tell the reporter; what goes wrong there stops no round.
        """
        reporter = self.parts.reporter
        try:
            say(reporter)
        except Exception as error:  # noqa: BLE001 - said once, and nothing else
            with suppress(Exception):
                reporter.failed(error)


def _failed(error: Exception) -> Callable[[Reporter], None]:
    return lambda to: to.failed(error)


def _name(began: float) -> str:
    """
    Name a round by its time, so that names sort, and by chance.
    """
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(began))
    return f"{moment}-{uuid4().hex[:6]}"

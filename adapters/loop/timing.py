"""
When a loop looks next: how long it is quiet, rests after an error, or waits.
"""

import threading
from dataclasses import dataclass, field
from math import inf

from adapters.loop.execution import Execution
from adapters.loop.parts import Parts
from adapters.machine.backoff import Backoff
from models.plan import Plan
from models.snapshot import Snapshot
from models.why.reasons import Waiting
from solver import next_moment

AFTER_FAILURE = 0.5
_REST = Backoff(first=AFTER_FAILURE, longest=60.0)


@dataclass(frozen=True, slots=True)
class Quiet:
    """
    Until when, until which change, and in which pause there is nothing to do.
    """

    revision: int
    until: float
    pause: Waiting | None = None


@dataclass(slots=True)
class Timing:
    """
    When the last round was planned and how long it took, and what is waited for now.

    ``rest`` are seconds that no change ends; ``stopped`` ends every wait.
    """

    parts: Parts
    stopped: threading.Event = field(default_factory=threading.Event)
    quiet: Quiet | None = None
    rest: float = 0.0
    spent: float = 0.0
    _planned_at: float = 0.0
    _in_vain: int = 0

    def planned(self, start: float) -> None:
        """
        Note that a round is decided, which began to look at ``start``.
        """
        self._planned_at = self.parts.clock()
        self.spent = self._planned_at - start

    def carried_out(self, running: Execution) -> None:
        """
        Look again where not all was done, after a rest, or where held binds ended.

        How their gangs stand then is told with the next round.  Where nothing could be
        tried at all, as without an intent, the rest is longer each time.
        """
        self._in_vain = self._in_vain + 1 if running.came_to_nothing else 0
        if not running.went_well:
            self.rest = _REST.after(self._in_vain)
        if running.turn.ends_held or not running.went_well:
            self.quiet = None

    @property
    def is_due(self) -> bool:
        """
        Tell whether it is time to look, whatever has changed.
        """
        return self.parts.clock() >= self._planned_at + self.parts.pulse.interval

    @property
    def is_quiet(self) -> bool:
        """
        Tell whether there is still nothing to do.
        """
        quiet, parts = self.quiet, self.parts
        if quiet is None or parts.pause() != quiet.pause:
            return False
        fresh = parts.pulse.events or self.is_due
        if fresh and parts.source.revision != quiet.revision:
            return False
        return parts.now() < quiet.until

    def quieten(
        self,
        snapshot: Snapshot,
        now: float,
        revision: int,
        pause: Waiting | None,
        plan: Plan | None = None,
    ) -> None:
        """
        Note that there is nothing to do until something changes, or time changes it.
        """
        memory, policy = self.parts.memory, self.parts.policy_at(now)
        eases = memory.held.eases_in(now)
        moment = next_moment(snapshot, policy, plan, eases)
        calm = memory.calm_for(now) or inf
        alone = memory.refused.eases_in(now)
        until = now + min(calm, alone, inf if moment is None else moment)
        self.quiet = Quiet(revision, until, pause)

    def left(self, *, is_binding: bool) -> float:
        """
        Give the seconds until there is something to do, where nothing changes before.
        """
        if self.quiet is None:
            return 2 * self.spent if is_binding else 0.0
        left = self.quiet.until - self.parts.now()
        return max(0.0, min(self.parts.pulse.interval, left))

    def wait(self, pause: float, running: Execution | None) -> None:
        """
        Wait for a change, and a moment longer, since one rarely comes alone.

        While binds are under way the next round leaves them the machine for a while.
        """
        changed, pulse = self.parts.source.changed, self.parts.pulse
        rest, self.rest = self.rest, 0.0
        if rest:
            self.stopped.wait(rest)
        if pause > 0:
            changed.wait(pause)
        changed.clear()
        if running is not None:
            running.join(max(pulse.settle, min(1.0, self.spent)))
        if pulse.settle:
            self._settle()

    def _settle(self) -> None:
        """
        Wait until no change follows another, at most for as long as a round takes.

        A gang that is seen in part would cost a whole round before the one that it is
        bound in.
        """
        parts = self.parts
        until = parts.clock() + min(1.0, self.spent)
        seen = -1
        while seen != (now := parts.source.revision):
            seen = now
            self.stopped.wait(parts.pulse.settle)
            if self.stopped.is_set() or parts.clock() >= until:
                return

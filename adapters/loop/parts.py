"""
What a loop is made of: its source, its sink, who leads, and when it looks.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from adapters.loop.interfaces import Planner, Reporter, Sink, Source, Turn
from adapters.loop.memory.gangs import Memory
from adapters.machine.clock import monotonic
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Waiting
from solver import NOBODY_LEAVES


class WatchedSource(Source, Protocol):
    """
    A source that tells when something may have changed.

    ``revision`` counts such changes; ``changed`` is set by each, and cleared by us.
    """

    @property
    def changed(self) -> threading.Event:
        """
        Give the event that changes set.
        """

    @property
    def revision(self) -> int:
        """
        Count the changes so far.
        """


class HoldingSink(Sink, Protocol):
    """
    A sink that the source knows of.
    """

    @property
    def is_lost(self) -> bool:
        """
        Tell whether somebody else has led since ``open``, which is called again then.
        """

    def open(self, now: float) -> None:
        """
        Begin to lead: recall what the last leader was about to do and remembered.
        """

    def hold(self, turn: Turn) -> None:
        """
        Let the source show a plan as if carried out, from now on.
        """

    def looked(self, snapshot: Snapshot, pause: Waiting | None) -> None:
        """
        Hear what there is now, and why nothing is begun: what is held may be over.
        """

    def due(self) -> Turn | None:
        """
        Give what an earlier round began and can be ended now; nothing where none can.
        """

    def remember(self) -> None:
        """
        Keep what is remembered, where it has changed.
        """


class Leadership(Protocol):
    """
    Who may write.
    """

    def is_held(self) -> bool:
        """
        Tell whether it is certain that nobody else leads.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """
    When a loop looks, in seconds.

    ``interval`` passes between looks at a quiet cluster, ``settle`` between a change
    and the round for it; begun gangs have ``shutdown`` to end.  Without ``events`` only
    the interval starts rounds.
    """

    interval: float = 10.0
    settle: float = 0.05
    shutdown: float = 20.0
    events: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """
    What a loop is made of.

    While ``pause`` gives a reason nothing is begun, and what is told of a round says
    so; without ``acts`` nothing ever is, and a round is told as it was planned.
    """

    source: WatchedSource
    planner: Planner
    sink: HoldingSink
    memory: Memory
    reporter: Reporter
    leadership: Leadership
    policy: Policy
    pulse: Pulse = Pulse()
    folder: Path | None = None
    clock: Callable[[], float] = monotonic
    now: Callable[[], float] = time.time
    pause: Callable[[], Waiting | None] = lambda: None
    acts: bool = True

    def policy_at(self, now: float) -> Policy:
        """
        Give the policy of a moment: in the first minutes of all nobody leaves.
        """
        if self.memory.calm_for(now) <= 0:
            return self.policy
        return self.policy.model_copy(update={"evict": NOBODY_LEAVES})

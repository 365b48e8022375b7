"""
What a round may use up: one limit for all that it does, and the time it has taken.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from models.policy import Limits

Clock = Callable[[], float]
Job = Callable[[], None]
Work = Literal[
    "starts",
    "search",
    "packing",
    "losses",
    "reservations",
    "stale",
    "lend",
    "next-round",
    "reasons",
]
"""
What a limit can cut short: starting gangs one by one, the search for better plans,
packing exactly what fits badly, the bound on what is lost, asking whether reservations
of lower bands should give way, what stale gangs leave, who leaves for a head, whether
starts last, and saying why gangs wait.
"""


class Lanes(Protocol):
    """
    What runs jobs at once; this package starts no thread of its own.
    """

    def lock(self) -> AbstractContextManager[object]:
        """
        Give a lock that its holder may take again.
        """

    def start(self, jobs: Sequence[Job]) -> None:
        """
        Start jobs and do not wait for them.
        """

    def wait(self, until: Callable[[], bool], meanwhile: Callable[[], bool]) -> None:
        """
        Ask again and again until the answer is yes.

        In between do a bit of ``meanwhile``; pause a little where that has none left.
        """


class Stopwatch:
    """
    Seconds per phase; without a clock every phase takes none.
    """

    def __init__(self, clock: Clock | None, lanes: Lanes | None = None) -> None:
        self.is_running = clock is not None
        self.clock = clock or (lambda: 0.0)
        self.lanes = lanes
        self.begun = self.last = self.clock()
        self.seconds: dict[str, float] = {}

    def lap(self, phase: str) -> float:
        """
        Book the time since the last lap under a phase, and give it.
        """
        before, self.last = self.last, self.clock()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + self.last - before
        return self.last - before

    def spent(self) -> float:
        """
        Give the seconds since the start.
        """
        return self.clock() - self.begun


@dataclass(slots=True)
class Budget:
    """
    What is left of a round's limit, in deterministic units or in seconds.

    All that may take longer than a pass over the input draws on it, from the first
    search to the last reason.  ``kept`` is what is left to those who come later;
    ``cut`` names what was left out or broken off for want of more.  ``chores`` are bits
    of work that some later phase needs done, for whoever has to wait.  Gangs start
    ``until`` then, whatever the limit.  Seconds are ``reserved`` for what greedy does,
    and ``after`` is what is kept for those who come after the strategy.  What was used
    came in so many ``charges``.
    """

    limits: Limits
    seed: int
    watch: Stopwatch
    chores: Iterator[None] = field(default_factory=lambda: iter(()))
    used: float = 0.0
    charges: int = 0
    kept: float = 0.0
    reserved: float = 0.0
    after: float = 0.0
    until: float | None = None
    cut: set[Work] = field(default_factory=set)

    @property
    def left(self) -> float:
        """
        Give what may still be used, besides what is kept for later.
        """
        if self.limits.seconds is not None:
            return self.limits.seconds - self.watch.spent() - self.kept - self.reserved
        return self.limits.deterministic - self.used - self.kept

    @property
    def race_lanes(self) -> Lanes | None:
        """
        Give what two manners may run on at once; none where they take turns.
        """
        if self.limits.seconds is None or self.limits.workers == 1:
            return None
        return self.watch.lanes

    def do_a_chore(self) -> bool:
        """
        Do a bit of what is needed later; tell whether there was any.
        """
        return next(self.chores, self) is not self

    @property
    def is_late(self) -> bool:
        """
        Tell whether a limit in seconds is reached, so that nothing more is begun.
        """
        return self.limits.seconds is not None and self.left <= 0

    @property
    def is_short(self) -> bool:
        """
        Tell whether fewer seconds are left than greedy took: then no model is begun.
        """
        took = self.watch.seconds.get("greedy", 0.0)
        return self.limits.seconds is not None and self.left < took

    @property
    def is_over(self) -> bool:
        """
        Tell whether no more gangs may start one by one, and some could in any case.

        What is kept for later steps and models is kept from models alone.
        """
        seconds, until = self.limits.seconds, self.until
        if seconds is None or until is None:
            return False
        return self.watch.spent() >= max(until, seconds - self.after)

    def for_greedy(self) -> "Budget":
        """
        Give what greedy had if it planned this round alone; the clock goes on.
        """
        return replace(self, used=0.0)

    def begin_strategy(self) -> None:
        """
        Begin to plan, with all that is left.
        """
        self.reserved, self.after = 0.0, self.kept

    def begin_starts(self, own: float) -> Callable[[], bool]:
        """
        Give what tells, and notes, that no more gangs start: the limit is reached.

        For so many seconds after it is first asked for it never is.
        """
        if self.until is None:
            self.until = self.watch.spent() + own

        def is_over() -> bool:
            if late := self.is_over:
                self.cut.add("starts")
            return late

        return is_over

    def charge(self, units: float) -> None:
        """
        Use up some of a deterministic limit; the clock counts by itself.
        """
        self.used += units
        self.charges += 1

    def keeping(self, part: float) -> AbstractContextManager[None]:
        """
        Keep a part of what is left for those who come later.
        """
        return self._keeping(part * self.left)

    def at_most(self, part: float) -> AbstractContextManager[None]:
        """
        Use no more than a part of a limit in seconds, however much of it is left.

        Somebody waits for the clock, and nobody for a deterministic limit.
        """
        seconds = self.limits.seconds
        return self._keeping(0.0 if seconds is None else self.left - part * seconds)

    @contextmanager
    def _keeping(self, more: float) -> Iterator[None]:
        before, self.kept = self.kept, self.kept + max(0.0, more)
        try:
            yield
        finally:
            self.kept = before

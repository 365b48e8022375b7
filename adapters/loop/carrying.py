"""
The plan that is carried out, and the one that waits behind it.
"""

from dataclasses import dataclass

from adapters.loop.execution import Execution, begin
from adapters.loop.interfaces import Turn
from adapters.loop.parts import Parts
from adapters.loop.telling import Teller


@dataclass(slots=True)
class Carrying:
    """
    One plan is carried out at a time; one waits at most.

    It is dropped where the one before it did not go as planned.
    """

    parts: Parts
    tell: Teller
    running: Execution | None = None
    next: Turn | None = None

    def begin(self, turn: Turn) -> None:
        """
        Begin to carry a plan out.
        """
        parts = self.parts
        self.running = begin(turn, parts.sink, parts.clock, self._wake)

    def begin_next(self, *, is_old: bool = False) -> None:
        """
        Begin with the plan that waits, once the one before it has ended.

        What it was made of may have changed since; of an old one too much may have.
        """
        if self.running is not None or self.next is None:
            return
        if is_old or self.parts.pause() is not None:
            self.drop("it waited for too long" if is_old else "Phalanx is paused")
            return
        parts, turn, self.next = self.parts, self.next, None
        parts.memory.planned(turn.snapshot, turn.plan, turn.began)
        parts.sink.hold(turn)
        self.begin(turn)

    @property
    def over(self) -> Execution | None:
        """
        Give the plan that is carried out, once nothing more comes of it.
        """
        running = self.running
        return running if running is not None and running.is_over else None

    def end(self, running: Execution) -> None:
        """
        Tell and remember what came of a plan, and make room for the next.
        """
        self.running = None
        if (done := running.done) is not None:
            self.tell(lambda to: to.carried_out(done))
            now = self.parts.now()
            self.parts.memory.carried_out(done.snapshot, done.receipts, now)
        if not running.went_well:
            self.drop("the plan before it did not go as planned")
        if running.error is not None:
            self.parts.memory.gangs.break_off()
            self.tell(lambda to: to.dropped(running.turn, "carrying it out broke"))

    def drop(self, why: str) -> None:
        """
        Forget the plan that waits, if one does.
        """
        dropped, self.next = self.next, None
        if dropped is not None:
            self.tell(lambda to: to.dropped(dropped, why))

    def _wake(self) -> None:
        """
        Hear that a plan is carried out, from the thread that did it.
        """
        self.parts.source.changed.set()

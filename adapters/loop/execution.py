"""
Plans carried out in a thread of their own, one at a time.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adapters.loop.interfaces import Sink, Turn
from models.receipt import Receipt

Clock = Callable[[], float]


@dataclass(slots=True)
class Execution:
    """
    A plan that is being carried out; ``done`` has its receipts once it is over.
    """

    turn: Turn
    done: Turn | None = None
    error: BaseException | None = None
    thread: threading.Thread | None = None

    @property
    def is_over(self) -> bool:
        """
        Tell whether nothing more comes.
        """
        return self.done is not None or self.error is not None

    @property
    def went_well(self) -> bool:
        """
        Tell whether everything was done, or is begun.
        """
        receipts: Sequence[Receipt] = () if self.done is None else self.done.receipts
        return self.error is None and all(
            r.result in {"done", "held"} for r in receipts
        )

    @property
    def came_to_nothing(self) -> bool:
        """
        Tell whether none of what was to be done was tried.
        """
        receipts: Sequence[Receipt] = () if self.done is None else self.done.receipts
        tried = [r.result for r in receipts if r.operation.op != "Reserve"]
        return bool(tried) and set(tried) == {"skipped"}

    def join(self, seconds: float) -> bool:
        """
        Wait for the end, and tell whether it came.
        """
        if self.thread is not None:
            self.thread.join(seconds)
        return self.is_over


def begin(turn: Turn, sink: Sink, clock: Clock, over: Callable[[], None]) -> Execution:
    """
    Begin to carry a plan out; ``over`` is called from the thread that did.
    """
    execution = Execution(turn)

    def run() -> None:
        start = clock()
        try:
            receipts = sink.execute(turn.plan)
        except BaseException as error:  # noqa: BLE001 - raised again by the loop's
            execution.error = error
        else:
            seconds = {**turn.seconds, "execute": clock() - start}
            execution.done = replace(turn, receipts=receipts, seconds=seconds)
        over()

    execution.thread = threading.Thread(target=run, name="carry-out", daemon=True)
    execution.thread.start()
    return execution
